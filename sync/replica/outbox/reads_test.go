package outbox

import (
	"fmt"
	"testing"
)

// A read is overtaken by a base that is set after it began, and by no other.
func TestReadings(t *testing.T) {
	r := NewReads()
	r.Touch("x")
	a := r.Start()
	if a.Overtaken("x") {
		t.Error("a base set before the read began overtakes it")
	}
	r.Touch("y")
	b := r.Start()
	if !a.Overtaken("y") || a.Overtaken("x") || b.Overtaken("y") {
		t.Error("the wrong reads are overtaken")
	}
	for i := range 3 * MaxSets {
		r.Touch(fmt.Sprint(i))
	}
	if !a.Overtaken("y") || !a.Overtaken("x") || len(r.Set) > MaxSets || len(r.Sets) > MaxSets {
		t.Errorf("%d of many bases are remembered, or a forgotten one counts as not set", len(r.Set))
	}
	if c := r.Start(); c.Overtaken("x") || c.Overtaken(fmt.Sprint(3*MaxSets-1)) {
		t.Error("with many bases, one set before the read began overtakes it")
	} else {
		c.End()
	}
	a.End()
	b.End()
	if len(r.Set) != 0 || len(r.Open) != 0 {
		t.Errorf("something is kept without open reads: %v %v", r.Set, r.Open)
	}
}
