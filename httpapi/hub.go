package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// hubBatch is how many journal records are read in one go.
const hubBatch = 256

// hub reads the journal once for all streams and puts what it finds into their inboxes. It holds no transaction while
// it does, and no stream can hold it up.
type hub struct {
	journal Journal
	clock   clock.Clock
	log     *slog.Logger

	mu     sync.Mutex
	subs   map[string]map[*subscriber]struct{} // by match; "": of all
	open   int                                 // how many they are
	cursor uint64                              // of the last record handed out
}

func newHub(j Journal, c clock.Clock, log *slog.Logger) *hub {
	return &hub{journal: j, clock: c, log: log, subs: map[string]map[*subscriber]struct{}{}}
}

// run hands out what is new until ctx ends. Its goroutine has joined the clock.
func (h *hub) run(ctx context.Context) {
	sig := clock.NewSignal()
	stop := h.journal.Watch(sig)
	defer stop()
	for {
		h.pump(ctx)
		if h.clock.Wait(ctx, time.Time{}, sig) != nil {
			return
		}
	}
}

// pump reads to the end of the journal.
func (h *hub) pump(ctx context.Context) {
	for ctx.Err() == nil {
		after, idle := h.position()
		if idle {
			return
		}
		records, err := h.journal.Journal(ctx, after, hubBatch)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			h.log.Error("journal not readable", "err", err)
			h.startOver()
			return
		case len(records) == 0:
			return
		case records[0].Seq > after+1:
			h.startOver() // trimmed before we came to it
			return
		}
		h.handOut(records)
	}
}

// position is where to read on. With nobody to read for it moves to the end: a stream that opens later begins with a
// snapshot that is at least as new.
func (h *hub) position() (after uint64, idle bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == 0 {
		h.cursor = h.journal.Seq()
		return h.cursor, true
	}
	return h.cursor, false
}

// startOver gives every stream a snapshot and goes on at the end of the journal.
func (h *hub) startOver() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cursor = h.journal.Seq()
	for _, of := range h.subs {
		for s := range of {
			s.lose()
		}
	}
}

// handOut puts what a batch of records means into the inboxes: all of it before a stream is woken, so that one commit
// is one write.
func (h *hub) handOut(records []store.Record) {
	var all []change
	of := map[string][]frame{}
	for i := range records {
		ch, ok, err := changeOf(&records[i])
		if err != nil {
			h.log.Error("journal record not understood", "err", err)
		}
		if ok {
			all = append(all, ch)
			of[ch.match] = append(of[ch.match], ch.frame)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cursor = records[len(records)-1].Seq
	for match, frames := range of {
		for s := range h.subs[match] {
			s.offer(frames...)
		}
	}
	if len(all) == 0 || len(h.subs[""]) == 0 {
		return
	}
	wide := make([]frame, 0, len(all))
	for i := range all {
		if all[i].frame.name != "" {
			wide = append(wide, all[i].wide())
		}
	}
	for s := range h.subs[""] {
		s.offer(wide...)
	}
}

// subscribe opens an inbox. What is committed after it returned will be in it; what was committed before is in the
// state that the caller reads next.
func (h *hub) subscribe(match string, wake bool) (sub *subscriber, leave func()) {
	sub = newSubscriber(match, wake)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == 0 {
		h.cursor = h.journal.Seq() // whatever came while nobody listened
	}
	if h.subs[match] == nil {
		h.subs[match] = map[*subscriber]struct{}{}
	}
	h.subs[match][sub] = struct{}{}
	h.open++
	return sub, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs[match], sub)
		if len(h.subs[match]) == 0 {
			delete(h.subs, match)
		}
		h.open--
	}
}

// count is the number of open streams.
func (h *hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// hurry bounds what is being written at shutdown: a reader that does not read now is not waited for.
func (h *hub) hurry(until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, of := range h.subs {
		for s := range of {
			if out := s.out.Load(); out != nil {
				_ = out.conn.SetWriteDeadline(until)
			}
		}
	}
}
