package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
)

// Bounds of a replay: behind them a snapshot is cheaper.
const (
	maxReplayed = 20_000 // journal records looked at
	replayBatch = 256
)

// errDrain ends streams at shutdown.
var errDrain = errors.New("the server is shutting down")

// streamMatch sends what happens in a match as server-sent events: display, card (one innings) and event, with the
// journal's sequence as id. A client that names the last id it saw is sent what it missed; one that names none, or
// one that is too long ago, is sent a snapshot: all events, all innings and the display, of which the last has the id.
// Events carry their key: one that is there already replaces itself.
func (s *Server) streamMatch(c *gin.Context) error {
	id, err := matchID(c)
	if err != nil {
		return err
	}
	last, err := lastEventID(c)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Cricket.Match(c.Request.Context(), id); err != nil {
		return err
	}
	watch := &eventsWatch{s: s, match: id}
	if err := watch.look(c.Request.Context()); err != nil {
		return err
	}
	return s.streamJournal(c, "match", watch, last)
}

// streamAll sends what happens in all matches: the same events as streamMatch, in an envelope that names the match. Its
// snapshot has the displays of the matches that are on.
func (s *Server) streamAll(c *gin.Context) error {
	last, err := lastEventID(c)
	if err != nil {
		return err
	}
	return s.streamJournal(c, "all", &eventsWatch{s: s}, last)
}

func (s *Server) streamJournal(c *gin.Context, kind string, watch *eventsWatch, last *uint64) error {
	leave, err := s.enterStream(c, kind)
	if err != nil {
		return err
	}
	sub, unsubscribe := s.hub.subscribe(watch.match, false)
	m := &matchStream{s: s, id: watch.match, sub: sub, watch: watch, expires: streamsUntil(c)}
	run := func(ctx context.Context, out *sse) error {
		m.out = out
		return m.run(ctx, last)
	}
	return s.serveStream(c, &stream{kind: kind, sub: sub, run: run}, func() { unsubscribe(); leave() })
}

// streamsUntil is when a stream that opens now ends with its caller's token; zero: never.
func streamsUntil(c *gin.Context) time.Time {
	if who, ok := identityOf(c); ok && !who.Expires.IsZero() {
		return who.Expires.Add(auth.Leeway)
	}
	return time.Time{}
}

// streamContext ends with the request or when the server begins to shut down.
func (s *Server) streamContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.draining, func() { cancel(context.Cause(s.draining)) })
	return ctx, func() { stop(); cancel(nil) }
}

// ended says why a stream is over. A shutdown tells the client when to come again, at a moment of its own, so that not
// all of them come at once; a client that went is nothing to report.
func ended(ctx context.Context, err error, out *sse) error {
	select {
	case <-ctx.Done():
		err = nil
		if errors.Is(context.Cause(ctx), errDrain) {
			out.within = time.Second
			_ = out.goodbye(time.Second + rand.N(4*time.Second)) // if it cannot be told, it has its old value
		}
	default:
	}
	return err
}

// lastEventID reads where a client left off. EventSource sends the header by itself; the parameter is for clients
// that keep the id over a restart. A header that is not one of our ids is somebody else's: a snapshot answers it.
func lastEventID(c *gin.Context) (*uint64, error) {
	text := c.GetHeader("Last-Event-ID")
	if text == "" {
		param := c.Query("lastEventId")
		if param == "" {
			return nil, nil
		}
		n, err := strconv.ParseUint(param, 10, 64)
		if err != nil {
			return nil, &invalidError{[]detail{{"lastEventId", "must be an id issued by this stream"}}}
		}
		return &n, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, nil //nolint:nilerr // not ours: as good as none
	}
	return &n, nil
}

// matchStream is one client's stream of one match, or of all.
type matchStream struct {
	s       *Server
	id      string // "": all
	sub     *subscriber
	out     *sse
	sent    uint64    // everything up to here is with the client
	expires time.Time // of the client's token; zero: never
	watch   *eventsWatch
}

func (m *matchStream) run(ctx context.Context, last *uint64) error {
	if err := m.out.open(); err != nil {
		return err
	}
	if err := m.begin(ctx, last); err != nil {
		return err
	}
	for {
		due := m.s.wall.Now().Add(m.s.cfg.Heartbeat)
		if !m.expires.IsZero() && m.expires.Before(due) {
			due = m.expires
		}
		if err := m.s.wall.Wait(ctx, due, m.sub.sig); err != nil {
			return err
		}
		switch {
		case m.out.gone.Load():
			return errGone
		case !m.expires.IsZero() && !m.s.wall.Now().Before(m.expires):
			return nil // to come again it needs a new token
		}
		if err := m.watch.look(ctx); err != nil {
			return err
		}
		frames, lost := m.sub.take()
		var err error
		switch {
		case lost:
			m.s.metrics.snapshots.Inc()
			err = m.snapshot(ctx)
		case len(frames) > 0:
			err = m.forward(frames)
		default:
			err = m.out.beat()
		}
		if err != nil {
			return err
		}
	}
}

// begin brings the client up to date.
func (m *matchStream) begin(ctx context.Context, last *uint64) error {
	j := m.s.cfg.Journal
	if last == nil || *last > j.Seq() || *last+1 < j.FirstSeq() {
		return m.snapshot(ctx)
	}
	frames, upTo, ok, err := m.missed(ctx, *last)
	if err != nil {
		return err
	}
	if !ok {
		return m.snapshot(ctx)
	}
	m.sent = *last
	if err := m.forward(frames); err != nil {
		return err
	}
	m.sent = max(m.sent, upTo)
	return nil
}

// missed collects what the journal has for this client. The inbox that bounds a slow client bounds this as well.
func (m *matchStream) missed(ctx context.Context, after uint64) (frames []frame, upTo uint64, ok bool, err error) {
	end := m.s.cfg.Journal.Seq()
	if end-after > maxReplayed {
		return nil, 0, false, nil
	}
	box := newSubscriber(m.id, false)
	for after < end {
		records, err := m.s.cfg.Journal.Journal(ctx, after, replayBatch)
		if err != nil {
			return nil, 0, false, err
		}
		if len(records) == 0 {
			break
		}
		if records[0].Seq != after+1 {
			return nil, 0, false, nil // trimmed meanwhile
		}
		for i := range records {
			ch, ok, err := changeOf(&records[i])
			if err != nil {
				return nil, 0, false, err
			}
			switch {
			case !ok:
			case m.id == "" && ch.frame.name != "":
				box.offer(ch.wide())
			case ch.match == m.id:
				box.offer(ch.frame)
			}
		}
		after = records[len(records)-1].Seq
	}
	frames, lost := box.take()
	return frames, after, !lost, nil
}

// forward sends frames that are new to the client.
func (m *matchStream) forward(frames []frame) error {
	fresh := frames[:0]
	for _, f := range frames {
		if f.seq > m.sent {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := m.out.send(fresh...); err != nil {
		return err
	}
	m.sent = fresh[len(fresh)-1].seq
	return nil
}

// snapshot sends the whole state.
func (m *matchStream) snapshot(ctx context.Context) error {
	w, seq, err := m.s.snapshots.get(ctx, m.id)
	if err != nil {
		return err
	}
	if w != nil {
		if err := m.out.wires(w); err != nil {
			return err
		}
	}
	m.sent = max(m.sent, seq)
	return nil
}
