package push

import (
	"testing"
	"time"
)

// A clock that is set delays no push, neither a changed score nor the refresh of a card that would otherwise fade.
func TestClockIsSet(t *testing.T) {
	for _, set := range []time.Duration{-6 * time.Hour, -10 * time.Minute, 10 * time.Minute} {
		t.Run(set.String(), func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			r.score("7", 50, "")
			r.pass(time.Minute)
			r.out.take()
			r.node.Set(set)
			r.score("7", 51, "")
			r.pass(spacing)
			if p := r.one(); p.Runs != 51 || p.Event != "update" {
				t.Errorf("after the clock was set: %+v", p)
			}
			r.pass(refreshAfter + time.Second)
			if p := r.one(); p.Runs != 51 || p.Event != "update" {
				t.Errorf("a quarter of an hour later: %+v", p)
			}
		})
	}
}
