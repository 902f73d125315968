package nodes

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/store/attr"
)

// ClockIsSet has the clock of node b set, by hours and either way, while both nodes of an application read and send: each goes on reading what
// the other writes and sending what it took, as soon as ever. begin prepares the application. It returns a
// function that writes a row at a node, of those that nodes read by themselves, and returns its name.
func ClockIsSet(t *testing.T, o Options, table string, begin func(w *Apart) (write func(at string) (row string))) {
	t.Helper()
	tests := []struct {
		name        string
		start, then time.Duration // how far the clock of node b is ahead, at the start and after 75 s
	}{
		{"six hours ahead, set right", 6 * time.Hour, 0},
		{"six hours behind, set right", -6 * time.Hour, 0},
		{"right, set back", 0, -10 * time.Minute},
		{"right, set back by an hour", 0, -time.Hour},
		{"right, set back by hours", 0, -6 * time.Hour},
		{"right, set ahead", 0, 6 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(12 * time.Hour) // noon, so that it is the same day by all clocks
				o := o
				o.Wrong = map[string]time.Duration{"b": tt.start}
				parts := o.Parts
				o.Parts = func(p *node.Parts) {
					if parts != nil {
						parts(p)
					}
					p.Jumps = nil // a node that notices a jump connects anew, which hides loops that stand still
				}
				w := NewApart(t, o, table)
				write := begin(w)
				w.Settle()
				write("a")
				w.Pass(5 * time.Second)
				w.SetClock("b", tt.then)
				w.readAndSend(write)
			})
		})
	}
}

// readAndSend requires each node and the cloud to have within a minute what a node takes, also if node b was cut off meanwhile.
func (w *Apart) readAndSend(write func(at string) (row string)) {
	w.T.Helper()
	writes := func(at string) (arrives func(when string)) {
		row := write(at)
		written := w.Rows(at, w.Table)[row]
		return func(when string) {
			w.T.Helper()
			for _, to := range []string{"a", "b", ""} {
				if is := w.Rows(to, w.Table)[row]; written == nil || !attr.EqualItems(is, written) {
					w.T.Errorf("%s: %s of node %s has not come to %q: %v there, %v written", when, row, at, to, is, written)
				}
			}
		}
	}
	for i := range 6 {
		ofA, ofB := writes("a"), writes("b")
		w.Pass(time.Minute)
		when := fmt.Sprintf("a minute after round %d", i+1)
		ofA(when)
		ofB(when)
	}
	w.SetFault("cut", "b")
	ofB := writes("b")
	w.Pass(time.Minute)
	w.SetFault("heal", "b")
	w.Pass(2 * time.Minute)
	ofB("after the cut")
	if asked := w.Asked(); asked != nil {
		w.T.Errorf("a person was asked: %v", asked)
	}
}
