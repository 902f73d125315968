package simulation_test

import (
	"context"
	"time"
)

// feedWatch checks that the feeds of all nodes go on reading after healing. A loop that waits for an instant of a wall clock that was set
// back since stands still, and shows no other sign of it.
type feedWatch struct {
	s     *sim
	reads map[string]feedReads // by node and rule
}

// feedReads is the number of complete passes that a process has made by a rule, and since when it has not changed.
type feedReads struct {
	life   *simLife
	passes uint64
	since  time.Time
}

func newFeedWatch(s *sim) *feedWatch { return &feedWatch{s: s, reads: map[string]feedReads{}} }

// check finds feeds that have not read anything whole for too long.
func (w *feedWatch) check() {
	for _, n := range w.s.nodes {
		l := n.up()
		if l == nil {
			continue
		}
		st, err := l.rep.Status(context.Background())
		if err != nil || st.State == "stopped" { // it waits for a person
			continue
		}
		for i := range st.Feed {
			w.note(l, st.Feed[i].Rule, st.Feed[i].Passes)
		}
	}
}

func (w *feedWatch) note(l *simLife, rule string, passes uint64) {
	key := l.n.name + " " + rule
	was, known := w.reads[key]
	if !known || was.life != l || was.passes != passes {
		w.reads[key] = feedReads{life: l, passes: passes, since: time.Now()}
		return
	}
	if still := time.Since(was.since); still > standsStill {
		w.s.violate("%s: the feed has not read %s for %v, while nothing hindered it", l.n.name, rule, still)
	}
}
