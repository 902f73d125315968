package cricketapp

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// saveWithin bounds the write that keeps the set.
const saveWithin = 10 * time.Second

// unlimited is more than the poller can ask for: a feed in this process has no plan.
const unlimited = 1_000_000

// replaySet is the recorded matches that a node plays in the place of its feed. It is kept in the node's store, so that a
// restart finds each replay as far as it would be by then.
type replaySet struct {
	*replay.Set
	feed *sportmonks.Client

	wake  func()       // has whoever reads the feed poll at once; nil: nobody does
	reads func() error // refuses a start at a node that does not read its set; nil: it does
}

// newReplaySet creates an empty set, and the client that reads it as if it were the feed.
func newReplaySet(c clock.Clock, log *slog.Logger) (*replaySet, error) {
	token := rand.Text()
	r := &replaySet{Set: replay.NewSet(c, token)}
	var err error
	r.feed, err = readInside(r.Set, sportmonks.Config{Token: token, Clock: c, Logger: log, CallsPerHour: unlimited})
	return r, err
}

// readInside creates the client of a feed in this process. It is the one that reads the real feed, but for the wire.
func readInside(feed http.Handler, c sportmonks.Config) (*sportmonks.Client, error) {
	c.BaseURL, c.Transport = "http://127.0.0.1/api/v2.0", replay.Transport(feed)
	return sportmonks.New(c)
}

func replaysKey() attr.Item { return attr.Item{"deck": attr.S("replays")} }

// open loads what was played when the node ended, and keeps every change from now on.
func (r *replaySet) open(ctx context.Context, s *store.Store) error {
	var it attr.Item
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		it, err = tx.Get(tableReplays, replaysKey())
		return err
	})
	if err == nil && it != nil {
		err = r.Load([]byte(it["state"].Str()))
	}
	r.Keep = func(raw []byte) error { return r.keep(s, raw) }
	return err
}

func (r *replaySet) keep(s *store.Store, raw []byte) error {
	if r.wake != nil {
		defer r.wake()
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveWithin)
	defer cancel()
	return s.Update(ctx, func(tx *store.Tx) error {
		it := replaysKey()
		it["state"] = attr.S(string(raw))
		_, err := tx.Put(store.PutItem{Table: tableReplays, NoOld: true, Item: it})
		return err
	})
}

// polled creates the poller that reads the feed. The set is all that its feed has, and every change of it wakes the poller;
// without a set (nil) the feed is a real one.
func (r *replaySet) polled(c poll.Config) *poll.Poller {
	if r == nil {
		return poll.New(c)
	}
	c.Knows, c.Leases = r.Has, firstSlot{c.Leases}
	p := poll.New(c)
	r.wake = p.Wake
	return p
}

// Start plays a recording.
func (r *replaySet) Start(ask replay.StartReplay) (replay.Playing, error) {
	if r.reads != nil {
		if err := r.reads(); err != nil {
			return replay.Playing{}, err
		}
	}
	return r.Set.Start(ask)
}

// firstSlot are the leases of nodes whose feeds are replay sets of their own: what one plays, no other can read, so that
// the matches cannot be spread. The holder of the first poller slot reads its set, and the others stand by.
type firstSlot struct{ poll.Leases }

// Hold implements poll.Leases.
func (l firstSlot) Hold(ctx context.Context, key string) (poll.Lease, error) {
	slot := key == tables.FeedLock || strings.HasPrefix(key, tables.FeedLock+"#")
	if slot && key != tables.FeedSlot(0) {
		return nil, nil //nolint:nilnil // it is not to be had, which nil says
	}
	return l.Leases.Hold(ctx, key)
}

// askHolder bounds the question who reads the feed.
const askHolder = 2 * time.Second

// readsReplays is nil if this node reads its replay set; else it is fault.Conflict, which says where to go.
func (a *application) readsReplays() error {
	if a.host.Sync == nil || a.poller == nil {
		return nil
	}
	if st := a.poller.Status(); st.Leading || st.Observing {
		return nil
	}
	ctx, cancel := context.WithTimeout(a.host.Work, askHolder)
	defer cancel()
	holder, err := a.host.Leases.Holder(ctx, tables.FeedSlot(0))
	if err != nil || holder == "" || holder == a.host.Node {
		return fault.New(fault.Conflict, "not_reading", "This node does not read its feed yet. Try again in a moment.")
	}
	return fault.New(fault.Conflict, "read_elsewhere", "This node does not read the feed now: start the match at node %s.", holder)
}
