package httpapi

import (
	"context"
	"sync"

	"github.com/touchline/touchline/httpapi/sse"
)

// snapshots are what streams begin with: made once for all that begin while nothing is committed.
type snapshots struct {
	s   *Server
	app *mounted
	kept[snapshotEntry]
}

type snapshotEntry struct {
	mu    sync.Mutex // held while it is made: the others wait for the one that does
	made  bool
	seq   uint64
	frame sse.Frame // all of them as one
	some  bool      // there is something to tell
}

// get returns the whole state of a topic, or for "" that of everything, and the sequence of the journal that it holds at least.
// some is false where there is nothing to tell.
func (n *snapshots) get(ctx context.Context, topic string) (all sse.Frame, some bool, seq uint64, err error) {
	e := n.entry(topic)
	e.mu.Lock()
	defer e.mu.Unlock()
	seq = n.s.cfg.Store.Seq() // before reading: what is newer comes once more, which does no harm
	if e.made && e.seq == seq {
		return e.frame, e.some, seq, nil
	}
	var frames []sse.Frame
	if n.app.Snapshot != nil {
		if frames, err = n.app.Snapshot(ctx, topic); err != nil {
			return sse.Frame{}, false, 0, err
		}
	}
	e.made, e.seq = true, seq
	e.frame, e.some = sse.Join(frames, seq)
	return e.frame, e.some, seq, nil
}
