package httpapi

import (
	"context"
	"sync"

	"github.com/touchline/touchline/httpapi/sse"
)

// snapshots caches the frames that streams begin with, until something is committed.
type snapshots struct {
	s   *Server
	app *mounted
	kept[snapshotEntry]
}

type snapshotEntry struct {
	mu    sync.Mutex // held while building it: others wait for the result
	made  bool
	seq   uint64
	frame sse.Frame // all frames joined
	some  bool      // the snapshot is not empty
}

// get returns the whole state of a topic ("": of everything), and a journal sequence up to which it is complete. some is false if it is
// empty.
func (n *snapshots) get(ctx context.Context, topic string) (all sse.Frame, some bool, seq uint64, err error) {
	e := n.entry(topic)
	e.mu.Lock()
	defer e.mu.Unlock()
	seq = n.s.cfg.Store.Seq() // before reading: newer records are sent again, which is harmless
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
