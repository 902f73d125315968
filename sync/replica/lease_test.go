package replica

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

func TestUnfill(t *testing.T) {
	tests := []struct {
		template, text string
		want           map[string]string // nil: it does not fit
	}{
		{"match:{id}", "match:7", map[string]string{"id": "7"}},
		{"match:{id}", "match:a:b", map[string]string{"id": "a:b"}},
		{"match:{id}", "match:", nil},
		{"match:{id}", "league:7", nil},
		{"{league}/{id}", "icc/7", map[string]string{"league": "icc", "id": "7"}},
		{"{league}/{id}!", "icc/7!", map[string]string{"league": "icc", "id": "7"}},
		{"{league}/{id}!", "icc/7", nil},
		{"{a}{b}", "xy", nil},
		{"all", "all", map[string]string{}},
		{"all", "none", nil},
	}
	for _, tt := range tests {
		got, ok := unfill(tt.template, tt.text)
		if ok != (tt.want != nil) || ok && !maps.Equal(got, tt.want) {
			t.Errorf("%q of %q: %v, %t", tt.text, tt.template, got, ok)
		}
	}
}

func TestLockedKey(t *testing.T) {
	str := store.KeyAttr{Name: "match", Type: store.KeyString}
	spec := store.TableSpec{Name: "t", Lock: "match:{match}", Key: store.KeySpec{Partition: str, Sort: store.KeyAttr{Name: "no", Type: store.KeyNumber}}}
	if key, ok := lockedKey(&spec, "match:7"); !ok || !attr.EqualItems(key, attr.Item{"match": attr.S("7")}) {
		t.Errorf("a partition: %v", key)
	}
	spec.Lock = "match:{match}/{no}"
	if key, ok := lockedKey(&spec, "match:7/3"); !ok || !attr.EqualItems(key, attr.Item{"match": attr.S("7"), "no": attr.Int(3)}) {
		t.Errorf("an item: %v", key)
	}
	if key, ok := lockedKey(&spec, "match:7/x"); ok {
		t.Errorf("no number: %v", key)
	}
	spec.Lock = "league:{league}"
	if key, ok := lockedKey(&spec, "league:icc"); ok {
		t.Errorf("no key is made of that: %v", key)
	}
}

func state(fence, score int64) attr.Item {
	return attr.Item{"match": attr.S("7"), "_f": attr.Int(fence), "score": attr.Int(score)}
}

// Schedule 22: what a deposed holder has queued does not come back after the lock was taken anew, and the work goes on from
// what the cloud has.
func TestTookLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		c.set(func() { c.fail = away })
		key := attr.Item{"match": attr.S("7")}
		n.put(t, "states", state(5, 1)) // a first image, written while cut off
		letPass(time.Minute)
		if err := n.TookLease(t.Context(), "match:7", 9); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("the cloud being away: %v", err)
		}
		c.foreign(t, "states", nil, state(8, 44))
		c.set(func() {
			c.fail = func(op, table string) error {
				if table == "states" && op != "get" { // the lanes are slower
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		letPass(time.Minute)
		if err := n.TookLease(t.Context(), "match:7", 9); err != nil {
			t.Fatal(err)
		}
		if got := n.row(t, "states", key); !attr.EqualItems(got, state(8, 44)) {
			t.Errorf("the work begins from %v", got)
		}
		records := n.conflicts(t)
		if len(records) != 1 || records[0].Kind != conflict.KindDeposed {
			t.Errorf("records %v", records)
		}
		if len(records) > 0 && !strings.HasPrefix(records[0].Text, "laid aside by this node") { // another is the cloud's refusal
			t.Errorf("the record says %q", records[0].Text)
		}
		c.set(func() { c.fail = nil })
		letPass(10 * time.Minute)
		if it, _ := c.item("states", key); !attr.EqualItems(it, state(8, 44)) {
			t.Errorf("the cloud has %v", it)
		}
		if got := n.waitingNow(t); got != 0 {
			t.Errorf("%d writes wait", got)
		}
	})
}

// A state that carries an earlier one on is laid aside with it, and told once.
func TestTookLeaseOfTwoStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := running(t, nil)
		letPass(time.Second)
		c.set(func() {
			c.fail = func(op, table string) error {
				if table == "states" && op != "get" {
					return &intent.Error{Class: intent.Throttled, Err: errors.New("slow down")}
				}
				return nil
			}
		})
		n.put(t, "states", state(5, 1))
		letPass(time.Second) // it was sent: nothing folds into it
		n.put(t, "states", state(5, 2))
		if got := n.waitingNow(t); got != 2 {
			t.Fatalf("%d writes wait", got)
		}
		c.foreign(t, "states", nil, state(8, 44))
		if err := n.TookLease(t.Context(), "match:7", 9); err != nil {
			t.Fatal(err)
		}
		told := map[uint64]int{}
		for _, c := range n.conflicts(t) {
			for _, e := range c.Entries() {
				told[e.Seq]++
			}
		}
		for seq, times := range told {
			if times != 1 {
				t.Errorf("%d is in %d records", seq, times)
			}
		}
		if len(told) != 2 {
			t.Errorf("told of %d writes", len(told))
		}
		if got := n.waitingNow(t); got != 0 {
			t.Errorf("%d writes wait", got)
		}
	})
}

// The match has ended and its row is gone: it stays gone.
func TestTookLeaseOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, n := opened(t, nil)
		c.foreign(t, "states", nil, state(5, 1))
		n.online(t)
		if err := n.TookLease(t.Context(), "match:7", 6); err != nil {
			t.Fatal(err)
		}
		key := attr.Item{"match": attr.S("7")}
		if n.row(t, "states", key) == nil {
			t.Fatal("the state was not read")
		}
		c.foreign(t, "states", key, nil)
		if err := n.TookLease(t.Context(), "match:7", 7); err != nil {
			t.Fatal(err)
		}
		if got := n.row(t, "states", key); got != nil {
			t.Errorf("the node still has %v", got)
		}
	})
}
