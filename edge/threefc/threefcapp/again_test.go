package threefcapp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// No person is asked if a disconnected node repeats what was done at another node, or moves a player whom another node has placed in a
// different team.
func TestOnceMoreAtANodeThatIsCutOff(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(w *world, a, b *peer)
		made map[string]int
	}{
		"a goal is deleted and sent again, which is answered 409": {made: map[string]int{"goal": 1, "correct": 1, "refused": 1}, play: func(w *world, a, b *peer) {
			w.goal(a, step{Z: 1})
			w.Pass(10 * time.Second) // the goal arrives, without the row of its key
			w.cut(b, step{})
			w.remove(b, step{})
			w.repeat(b, step{})
		}},
		"a goal is sent again, and counts once": {made: map[string]int{"goal": 2}, play: func(w *world, a, b *peer) {
			w.goal(a, step{Z: 1})
			w.Pass(10 * time.Second) // the goal arrives, without the row of its key
			w.cut(b, step{})
			w.repeat(b, step{})
		}},
		"a goal that is deleted elsewhere is sent again and deleted": {made: map[string]int{"goal": 2, "correct": 2}, play: func(w *world, a, b *peer) {
			w.cut(b, step{})
			w.goal(a, step{Z: 1})
			w.remove(a, step{})
			w.Pass(time.Second)
			w.repeat(b, step{})
			w.remove(b, step{})
		}},
		"a player is put into two teams after each other": {made: map[string]int{"roster": 3}, play: func(w *world, a, b *peer) {
			w.cut(b, step{})
			w.assign(b, step{Y: 1, Z: 2})
			w.assign(b, step{Y: 1, Z: 0})
			w.assign(a, step{Y: 1, Z: 1})
			w.Pass(time.Second)
		}},
		"a player is put into two teams, the second as elsewhere": {made: map[string]int{"roster": 3}, play: func(w *world, a, b *peer) {
			w.cut(b, step{})
			w.assign(b, step{Y: 1, Z: 2})
			w.assign(a, step{Y: 1, Z: 1})
			w.Pass(time.Second)
			w.repeat(b, step{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{pair: newPair(t), count: map[string]int{}}
				w.begin()
				w.Pass(130 * time.Second)
				tt.play(w, w.nodes[0], w.nodes[1])
				w.Meet()
				w.judge()
				look(t, w)
				for kind, n := range tt.made {
					if w.count[kind] != n || w.count["refused"] != tt.made["refused"] || w.count["asked"] > 0 {
						t.Errorf("%v\n%s", w.count, strings.Join(w.log, "\n"))
					}
				}
			})
		})
	}
}
