package cricketapp

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// saveWithin bounds the write that keeps the deck.
const saveWithin = 10 * time.Second

// deck is the recorded matches that a node plays in the place of its feed. What is on it is kept in the node's store, so
// that a restart finds it as far as it would be by then.
type deck struct {
	*replay.Deck
	feed *sportmonks.Client

	changed func() // has whoever reads the feed look at once; nil: nobody does

	mu    sync.Mutex // of a change with its write
	store *store.Store
}

// newDeck makes an empty deck, and the client that reads it as if it were the feed.
func newDeck(c clock.Clock, log *slog.Logger) (*deck, error) {
	token := rand.Text()
	d := &deck{Deck: replay.NewDeck(c, token)}
	var err error
	d.feed, err = sportmonks.New(sportmonks.Config{
		BaseURL: "http://127.0.0.1/api/v2.0", Token: token, Clock: c, Logger: log,
		Transport: replay.Transport(d.Deck), CallsPerHour: unlimited,
	})
	return d, err
}

// unlimited is more than the poller can ask for: a feed in this process has no plan.
const unlimited = 1_000_000

func deckKey() attr.Item { return attr.Item{"deck": attr.S("replays")} }

// open puts on the deck what was on it when the node ended.
func (d *deck) open(ctx context.Context, s *store.Store) error {
	d.store = s
	var it attr.Item
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		it, err = tx.Get(tableReplays, deckKey())
		return err
	})
	if err != nil || it == nil {
		return err
	}
	return d.Load([]byte(it["state"].Str()))
}

// change makes a change, keeps it and has it seen.
func change[T any](d *deck, do func() (T, error)) (T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out, err := do()
	if err != nil {
		return out, err
	}
	raw, err := d.Save()
	if err != nil {
		return out, err
	}
	if d.changed != nil {
		defer d.changed()
	}
	ctx, cancel := context.WithTimeout(context.Background(), saveWithin)
	defer cancel()
	return out, d.store.Update(ctx, func(tx *store.Tx) error {
		it := deckKey()
		it["state"] = attr.S(string(raw))
		_, err := tx.Put(store.PutItem{Table: tableReplays, NoOld: true, Item: it})
		return err
	})
}

// polled makes the poller that reads the feed. What is on the deck is all that its feed has, and the poller hears of every
// change of it; without a deck (nil) the feed is a real one.
func (d *deck) polled(c poll.Config) *poll.Poller {
	if d == nil {
		return poll.New(c)
	}
	c.Knows, c.Leases = d.Has, oneSeat{c.Leases}
	p := poll.New(c)
	d.changed = p.Wake
	return p
}

// deckRoutes is a deck as the routes for admins know it.
type deckRoutes struct {
	*deck

	reads func() error // refuses a start at a node that does not read its deck; nil: it does
}

// Start plays a recording.
func (d deckRoutes) Start(r replay.StartReplay) (replay.Playing, error) {
	if d.reads != nil {
		if err := d.reads(); err != nil {
			return replay.Playing{}, err
		}
	}
	return change(d.deck, func() (replay.Playing, error) { return d.deck.Start(r) })
}

// Control changes a replay.
func (d deckRoutes) Control(id string, c replay.Control) (replay.Playing, error) {
	return change(d.deck, func() (replay.Playing, error) { return d.deck.Control(id, c) })
}

// Remove ends one.
func (d deckRoutes) Remove(id string) error {
	_, err := change(d.deck, func() (struct{}, error) { return struct{}{}, d.deck.Remove(id) })
	return err
}
