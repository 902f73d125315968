package replica_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

// A write that was folded into one whose commit has failed, and is on disk all the same, is not lost: the account knows
// both.
func TestAccountOfAFailedCommit(t *testing.T) {
	for name, there := range map[string]bool{"the commit is there": true, "the commit is lost": false} {
		t.Run(name, func(t *testing.T) {
			s := &sim{}
			s.book = newBook(s)
			set := act{node: "n1", seq: 7, table: "items", key: pk("i3"), op: store.OpUpdate, what: "set", id: "n1.1"}
			later := set
			later.seq, later.id, later.maybe = 8, "n1.2", true
			s.book.acts = []*act{&set, &later}
			if there {
				s.book.effects["n1 8"] = []effectAt{{n: 1, at: time.Unix(1, 0), item: "items i3"}}
			}
			s.book.account(nil)
			if s.broken() == there {
				t.Errorf("violated: %v", s.failed)
			}
		})
	}
}
