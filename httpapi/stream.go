package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/bind"
	"github.com/touchline/touchline/httpapi/sse"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// Limits of a replay: beyond them a snapshot is cheaper.
const (
	maxReplayed = 20_000 // journal records read
	replayBatch = 256
)

// errDrain ends streams at shutdown.
var errDrain = errors.New("the server is shutting down")

// Stream sends a topic's changes as server-sent events, with the journal's sequence as id. The empty topic covers the whole
// application. A client that sends the last id it saw receives what it missed. Without an id, or with one that is too old, it receives
// a snapshot, whose last frame has the id. kind is a metrics label.
func Stream(c *gin.Context, kind, topic string) error { return StreamOf(c, kind, topic, nil) }

// StreamOf is Stream for a reader who receives only some of a topic's frames: those whose sse.Frame.Of is in the list that concerns
// returns. concerns is called again before each send, so that a frame may announce a change of the list. Snapshots cover the whole
// topic.
func StreamOf(c *gin.Context, kind, topic string, concerns func(tx *store.Tx) ([]string, error)) error {
	s, m := serverOf(c), appOf(c)
	last, err := lastEventID(c)
	if err != nil {
		return err
	}
	watch := &watch{s: s, app: m, topic: topic, client: bucketFor(c)}
	if err := watch.checkTurn(c.Request.Context()); err != nil {
		return err
	}
	leave, err := s.enterStream(c, kind)
	if err != nil {
		return err
	}
	sub, unsubscribe := s.events.Subscribe(sse.Topic{App: m.Name, Name: topic}, false)
	t := &topicStream{s: s, app: m, topic: topic, sub: sub, watch: watch, expires: streamsUntil(c), concerns: concerns, ticks: c.Query("tick") != ""}
	gone := func() { unsubscribe(); leave() }
	if err := t.narrow(c.Request.Context(), sub); err != nil {
		gone()
		return err
	}
	run := func(ctx context.Context, out *sse.Conn) error {
		t.out = out
		return t.run(ctx, last)
	}
	return s.serveStream(c, &stream{sub: sub, run: run}, gone)
}

// announcedBy returns what a record changes in each application. An error in one does not affect the others.
func (s *Server) announcedBy(r *store.Record) (all []sse.Announced) {
	for _, m := range s.apps {
		ch, ok, err := m.changeOf(r)
		if err != nil {
			s.log.Error("journal record not understood", "app", m.Name, "seq", r.Seq, "err", err)
			continue
		}
		if ok {
			all = append(all, sse.Announced{App: m.Name, Change: ch})
		}
	}
	return all
}

// changeOf calls the application's Topics. A panic there must not end other applications' streams.
func (m *mounted) changeOf(r *store.Record) (ch sse.Change, ok bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if m.Topics == nil {
		return sse.Change{}, false, nil
	}
	ch, ok, err = m.Topics(r)
	if all := ch.All; all != nil {
		ch.All = func() (f sse.Frame) { // called by the broadcaster
			defer func() {
				if v := recover(); v != nil {
					m.views.s.log.Error("journal record not understood", "app", m.Name, "seq", r.Seq, "err", v)
				}
			}()
			return all()
		}
	}
	return ch, ok, err
}

// ensureAgain is how often an open stream repeats Ensure for its topic.
const ensureAgain = time.Minute

// watch repeats Ensure for the topic of an open stream.
type watch struct {
	s     *Server
	app   *mounted
	topic string
	again time.Time

	client string // bucket of the reader
}

// checkTurn is called at each turn of the stream. A nil watch does nothing.
func (w *watch) checkTurn(ctx context.Context) error {
	if w == nil {
		return nil
	}
	if now := w.s.wall.Now(); !now.Before(w.again) {
		w.again = now.Add(ensureAgain)
		return w.app.ensure(w.s.asks.Begin(ctx, w.client), w.topic)
	}
	return nil
}

// streamsUntil returns when a stream must end because its caller's token expires; zero: never.
func streamsUntil(c *gin.Context) time.Time {
	if who, ok := Identity(c); ok && !who.Expires.IsZero() {
		return who.Expires.Add(auth.Leeway)
	}
	return time.Time{}
}

// streamContext returns a context that ends with the request or at shutdown.
func (s *Server) streamContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.draining, func() { cancel(context.Cause(s.draining)) })
	return ctx, func() { stop(); cancel(nil) }
}

// streamEnd returns the error with which a stream ended. At shutdown it tells the client to reconnect after a random delay, so that clients
// do not return all at once. A client that left is not an error.
func streamEnd(ctx context.Context, err error, out *sse.Conn) error {
	select {
	case <-ctx.Done():
		err = nil
		if errors.Is(context.Cause(ctx), errDrain) {
			out.Hurry(time.Second)
			_ = out.Goodbye(time.Second + rand.N(4*time.Second)) // if this fails, the client keeps its previous delay
		}
	default:
	}
	return err
}

// lastEventID returns the last id that the client saw. EventSource sends the header by itself; the parameter is for clients that keep
// the id across restarts. A header that is not one of our ids counts as none.
func lastEventID(c *gin.Context) (*uint64, error) {
	text := c.GetHeader("Last-Event-ID")
	if text == "" {
		param := c.Query("lastEventId")
		if param == "" {
			return nil, nil
		}
		n, err := strconv.ParseUint(param, 10, 64)
		if err != nil {
			return nil, bind.Invalid("lastEventId", "must be an id issued by this stream")
		}
		return &n, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, nil //nolint:nilerr // not one of our ids
	}
	return &n, nil
}

// topicStream is one client's stream of one topic, or of the whole application.
type topicStream struct {
	s       *Server
	app     *mounted
	topic   string // "": the whole application
	sub     *sse.Subscriber
	out     *sse.Conn
	sent    uint64    // the client has everything up to this sequence
	expires time.Time // of the client's token; zero: never
	watch   *watch
	ticks   bool // a page reads it: silence is broken by an event, because scripts do not see comments

	concerns func(tx *store.Tx) ([]string, error) // nil: the whole topic does
}

// narrow restricts an inbox to the frames that concern the reader.
func (t *topicStream) narrow(ctx context.Context, box *sse.Subscriber) error {
	if t.concerns == nil {
		return nil
	}
	return t.s.cfg.Store.View(ctx, func(tx *store.Tx) error {
		of, err := t.concerns(tx)
		box.RestrictTo(of)
		return err
	})
}

func (t *topicStream) run(ctx context.Context, last *uint64) error {
	if err := t.out.Open(); err != nil {
		return err
	}
	if err := t.begin(ctx, last); err != nil {
		return err
	}
	for {
		due := t.s.wall.Now().Add(t.silence())
		if expires := clock.NowAt(t.s.wall, t.expires); !t.expires.IsZero() && expires.Before(due) {
			due = expires
		}
		if err := t.s.wall.Wait(ctx, due, t.sub.Sig); err != nil {
			return err
		}
		switch {
		case t.out.IsGone():
			return errGone
		case !t.expires.IsZero() && !t.s.wall.Wall().Before(t.expires):
			return nil // it needs a new token to reconnect
		}
		if err := t.watch.checkTurn(ctx); err != nil {
			return err
		}
		frames, lost := t.sub.TakeFrames()
		err := t.narrow(ctx, t.sub) // before sending, so that a client that rereads the state on a frame misses nothing that was dropped
		switch {
		case err != nil:
		case lost:
			t.s.metrics.snapshots.Inc()
			err = t.snapshot(ctx)
		case len(frames) > 0:
			err = t.forward(frames)
		default:
			err = t.beat()
		}
		if err != nil {
			return err
		}
	}
}

// silence returns how long the stream may be silent.
func (t *topicStream) silence() time.Duration {
	if t.ticks {
		return pageBeat
	}
	return t.s.cfg.Heartbeat
}

func (t *topicStream) beat() error {
	if t.ticks {
		return t.out.Tick()
	}
	return t.out.Beat()
}

// begin brings the client up to date.
func (t *topicStream) begin(ctx context.Context, last *uint64) error {
	s := t.s.cfg.Store
	if last == nil || *last > s.Seq() || *last+1 < s.FirstSeq() {
		return t.snapshot(ctx)
	}
	frames, upTo, ok, err := t.missedFrames(ctx, *last)
	if err != nil {
		return err
	}
	if !ok {
		return t.snapshot(ctx)
	}
	t.sent = *last
	if err := t.forward(frames); err != nil {
		return err
	}
	t.sent = max(t.sent, upTo)
	return nil
}

// missedFrames collects frames from the journal that the client has not seen. ok is false if there are too many, or the records are gone. It
// uses an inbox, so the limits of slow clients apply.
func (t *topicStream) missedFrames(ctx context.Context, after uint64) (frames []sse.Frame, upTo uint64, ok bool, err error) {
	end := t.s.cfg.Store.Seq()
	if end-after > maxReplayed {
		return nil, 0, false, nil
	}
	box := sse.NewSubscriber(false)
	if err := t.narrow(ctx, box); err != nil {
		return nil, 0, false, err
	}
	for after < end {
		records, err := t.s.cfg.Store.Journal(ctx, after, replayBatch)
		if err != nil {
			return nil, 0, false, err
		}
		if len(records) == 0 || records[0].Seq != after+1 {
			return nil, 0, false, nil // trimmed in the meantime
		}
		for i := range records {
			ch, ok, err := t.app.changeOf(&records[i])
			if err != nil {
				return nil, 0, false, err
			}
			if !ok {
				continue
			}
			if f, ok := ch.FrameFor(t.topic); ok {
				box.Offer(f)
			}
		}
		after = records[len(records)-1].Seq
	}
	frames, lost := box.TakeFrames()
	return frames, after, !lost, nil
}

// forward sends the frames that the client does not have.
func (t *topicStream) forward(frames []sse.Frame) error {
	fresh := frames[:0]
	for _, f := range frames {
		if f.Seq > t.sent {
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := t.out.Send(fresh...); err != nil {
		return err
	}
	t.sent = fresh[len(fresh)-1].Seq
	return nil
}

// snapshot sends the whole state.
func (t *topicStream) snapshot(ctx context.Context) error {
	all, some, seq, err := t.app.snapshots.get(ctx, t.topic)
	if err != nil {
		return err
	}
	if !some { // frames in the inbox are not part of it
		return nil
	}
	if err := t.out.Send(all); err != nil {
		return err
	}
	t.sent = max(t.sent, seq)
	return nil
}
