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

// saveWithin bounds the write that saves the set.
const saveWithin = 10 * time.Second

// unlimited is more than the poller can use: a feed in this process has no plan.
const unlimited = 1_000_000

// replaySet is the set of recorded matches that a node plays instead of its feed. It is stored, so that after a
// restart each replay is where it would be by then.
type replaySet struct {
	*replay.Set
	feed *sportmonks.Client

	wake  func()       // makes the poller poll at once; nil: there is none
	reads func() error // returns an error if this node does not read its set; nil: it always does
}

// newReplaySet returns an empty set, and a client that reads it as a feed.
func newReplaySet(c clock.Clock, log *slog.Logger) (*replaySet, error) {
	token := rand.Text()
	r := &replaySet{Set: replay.NewSet(c, token)}
	var err error
	r.feed, err = readInside(r.Set, sportmonks.Config{Token: token, Clock: c, Logger: log, CallsPerHour: unlimited})
	return r, err
}

// readInside returns the client for a feed in this process: the same as for the real feed, but without a network.
func readInside(feed http.Handler, c sportmonks.Config) (*sportmonks.Client, error) {
	c.BaseURL, c.Transport = "http://127.0.0.1/api/v2.0", replay.Transport(feed)
	return sportmonks.New(c)
}

func replaysKey() attr.Item { return attr.Item{"deck": attr.S("replays")} }

// open loads the replays of the previous run, and saves every change from now on.
func (r *replaySet) open(ctx context.Context, s *store.Store) error {
	var it attr.Item
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		it, err = tx.Get(tableReplays, replaysKey())
		return err
	})
	if err == nil && it != nil {
		err = r.Load([]byte(it["state"].Str()))
	}
	r.Keep = func(raw []byte) error { return r.storeSet(s, raw) }
	return err
}

func (r *replaySet) storeSet(s *store.Store, raw []byte) error {
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

// newPoller returns the poller of the feed. The set knows all matches of its feed, and wakes the poller at every
// change; for a nil set the feed is real.
func (r *replaySet) newPoller(c poll.Config) *poll.Poller {
	if r == nil {
		return poll.New(c)
	}
	c.Knows, c.Leases = r.Has, firstSlot{c.Leases}
	p := poll.New(c)
	r.wake = p.CheckNow
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

// firstSlot is the leases of nodes whose feeds are their own replay sets: no other node can read what one plays,
// so the matches cannot be spread. The holder of the first slot reads its set, and the others stand by.
type firstSlot struct{ poll.Leases }

// Hold implements poll.Leases.
func (l firstSlot) Hold(ctx context.Context, key string) (poll.Lease, error) {
	slot := key == tables.FeedLock || strings.HasPrefix(key, tables.FeedLock+"#")
	if slot && key != tables.FeedSlot(0) {
		return nil, nil //nolint:nilnil // nil: not available
	}
	return l.Leases.Hold(ctx, key)
}

// askHolder bounds the request for the node that reads the feed.
const askHolder = 2 * time.Second

// readsReplays returns nil if this node reads its replay set; otherwise fault.Conflict, which names the node to use.
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
