package simulation_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
)

const (
	simMatches = 2
	ballEvery  = 15 * time.Second // how often the source has an event
)

// follow is a match's poller: it tries to take the lock, and works as long as it has it.
func (l *simLife) follow(match string) {
	for l.sleep(4*time.Second) == nil {
		held, err := l.leases.Acquire(l.ctx, "match:"+match)
		if err != nil {
			continue
		}
		l.n.s.trace("%s took match:%s with fence %d", l.n.name, match, held.Fence())
		l.hold(match, held)
	}
}

// guarded returns the rows that the lock of a match guards.
func guarded(match string) []replica.Rows {
	return []replica.Rows{{Table: "matches", Key: pk(match)}, {Table: "events", Key: pk(match)}}
}

func (l *simLife) hold(match string, held *lease.Lease) {
	there := l.n.s.cloud.Item("matches", pk(match))
	l.turnsMu.Lock()
	l.held[match] = held
	l.turnsMu.Unlock()
	ctx, cancel := held.Context(l.ctx)
	defer cancel()
	for l.rep.TookLease(ctx, held.Key(), held.Fence(), guarded(match)) != nil {
		if l.sleep(time.Second) != nil || held.Check() != nil {
			return
		}
	}
	l.n.s.book.hasRead(l, match, there)
	for {
		if held.Check() != nil || ctx.Err() != nil {
			return
		}
		if !l.n.s.idle.Load() {
			l.n.s.book.worksUnder(l, "match:"+match, held.Fence())
			l.poll(match, held.Fence())
		}
		if l.sleep(3*time.Second) != nil {
			return
		}
		if l.n.s.once(60) {
			_ = held.Release(l.ctx)
			return
		}
	}
}

// ball returns the source's present event number, for all matches.
func (s *sim) ball() int64 {
	if s.lastBall > 0 {
		return s.lastBall
	}
	return int64(time.Since(s.began) / ballEvery)
}

// poll is one unit of work: events that the source has and the state lacks are written, and then the state.
func (l *simLife) poll(match string, fence int64) {
	s := l.n.s
	ball := s.ball()
	l.write("poll", func(w *writing) error {
		was, err := w.tx.Get("matches", pk(match))
		if err != nil {
			return err
		}
		upto, _ := was["upto"].Int()
		if upto >= ball {
			return nil
		}
		f := attr.Int(fence)
		for b := upto + 1; b <= ball; b++ {
			id := s.id(l.n.name)
			event := attr.Item{"pk": attr.S(match), "sk": attr.S(fmt.Sprintf("ball%06d", b)), "v": attr.S(id), "_f": f}
			there, err := w.tx.Get("events", keyIn(event))
			if err != nil {
				return err
			}
			if there != nil {
				continue
			}
			if err := w.put("events", event, id, "attribute_not_exists(pk)", nil); err != nil {
				return err
			}
		}
		id := s.id(l.n.name)
		state := attr.Item{"pk": attr.S(match), "upto": attr.Int(ball), "v": attr.S(id), "_f": f}
		if _, err := w.tx.Put(store.PutItem{
			Table: "matches", Item: state, Condition: "attribute_not_exists(#f) OR #f <= :f",
			Params: expr.Params{Names: map[string]string{"#f": "_f"}, Values: attr.Item{":f": f}},
		}); err != nil {
			return err
		}
		w.note("matches", pk(match), store.OpPut, id, 0, was)
		return nil
	})
}

// log sends the node's log to the trace.
func (s *sim) log(l *simLife) *slog.Logger { return slog.New(traceHandler{l: l}) }

type traceHandler struct{ l *simLife }

// Enabled implements slog.Handler.
func (traceHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements slog.Handler.
func (h traceHandler) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	if strings.HasPrefix(r.Message, "restore: a table of the cloud was restored") {
		h.l.n.s.book.notices(h.l.n.name)
	}
	if !h.l.dead.Load() {
		h.l.n.s.trace("%s log: %s", h.l.n.name, text)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h traceHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h traceHandler) WithGroup(string) slog.Handler { return h }
