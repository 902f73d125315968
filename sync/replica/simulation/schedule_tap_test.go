package simulation_test

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// tap is a remote.Cloud through which a schedule controls a node's requests.
type tap struct {
	remote.Cloud

	mu      sync.Mutex
	away    bool   // nothing passes in either direction
	deaf    bool   // writes have no effect and no answer; reads pass
	shut    string // a table to which writes are lost
	lose    int    // number of next writes whose answers are lost
	cut     bool   // nothing passes after the first of them that is applied
	hold    int    // number of next writes that are held and arrive late
	held    []func()
	reads   []func() // reads whose answers are held
	slow    bool     // the next read's answer is held
	between func(c *intent.Call)
	behind  func() // called between a write and its answer
	tokens  []string
}

var errNoAnswer = errors.New("no answer")

func lost() error { return &intent.Error{Class: intent.Unknown, Err: errNoAnswer} }

// with changes how requests are treated.
func (t *tap) with(f func(t *tap)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(t)
}

func (t *tap) offline() { t.with(func(t *tap) { t.away = true }) }

func (t *tap) online() {
	t.with(func(t *tap) {
		if t.cut {
			t.cut, t.lose = false, 0
		}
		t.away, t.deaf = false, false
	})
}

// loseAnswers loses the answers of the next writes; they are applied.
func (t *tap) loseAnswers(n int) { t.with(func(t *tap) { t.lose = n }) }

// cutOff applies the next write and cuts the connection before it is answered.
func (t *tap) cutOff() { t.with(func(t *tap) { t.lose, t.cut = math.MaxInt, true }) }

// holdWrites holds the next writes until arrive is called, without answering them.
func (t *tap) holdWrites(n int) { t.with(func(t *tap) { t.hold = n }) }

// arrive delivers the held writes.
func (t *tap) arrive() {
	var held []func()
	t.with(func(t *tap) { held, t.held = t.held, nil })
	for _, f := range held {
		f()
	}
}

// around treats one write as the schedule requires.
func (t *tap) around(calls []intent.Call, do func(context.Context) error) func(context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := len(calls) > 0 && calls[0].Table != simSync
	switch {
	case t.away:
		return func(context.Context) error {
			return &intent.Error{Class: intent.Offline, Err: errors.New("no route")}
		}
	case t.deaf && mine, len(calls) > 0 && t.shut == calls[0].Table:
		return func(context.Context) error { return lost() }
	case t.hold > 0 && mine:
		t.hold--
		t.held = append(t.held, func() { _ = do(context.Background()) })
		return func(context.Context) error { return lost() }
	case t.lose > 0 && mine:
		t.lose--
		return func(ctx context.Context) error {
			err := do(ctx)
			t.with(func(t *tap) { t.away = t.away || t.cut && err == nil })
			return lost()
		}
	}
	if t.behind != nil && mine {
		behind := t.behind
		return func(ctx context.Context) error {
			defer behind()
			return do(ctx)
		}
	}
	if t.between != nil && len(calls) == 1 && mine {
		between := t.between
		return func(ctx context.Context) error {
			between(&calls[0])
			return do(ctx)
		}
	}
	return do
}

// Write implements remote.Cloud.
func (t *tap) Write(ctx context.Context, c intent.Call) (it attr.Item, err error) {
	do := t.around([]intent.Call{c}, func(ctx context.Context) (err error) {
		it, err = t.Cloud.Write(ctx, c)
		return err
	})
	if err := do(ctx); err != nil {
		return nil, err
	}
	return it, nil
}

// Transact implements remote.Cloud.
func (t *tap) Transact(ctx context.Context, calls []intent.Call, token string) error {
	t.with(func(t *tap) { t.tokens = append(t.tokens, token) })
	return t.around(calls, func(ctx context.Context) error { return t.Cloud.Transact(ctx, calls, token) })(ctx)
}

// Get implements remote.Cloud.
func (t *tap) Get(ctx context.Context, table string, key attr.Item) (attr.Item, error) {
	if err := t.reached(); err != nil {
		return nil, err
	}
	return t.Cloud.Get(ctx, table, key)
}

// Read implements remote.Cloud.
func (t *tap) Read(ctx context.Context, r remote.Reading) (remote.Page, error) {
	if err := t.reached(); err != nil {
		return remote.Page{}, err
	}
	page, err := t.Cloud.Read(ctx, r)
	var wait chan struct{}
	t.with(func(t *tap) {
		if t.slow && r.Table == "items" {
			t.slow = false
			wait = make(chan struct{})
			t.reads = append(t.reads, func() { close(wait) })
		}
	})
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return remote.Page{}, lost()
		}
	}
	return page, err
}

// Table implements remote.Cloud.
func (t *tap) Table(ctx context.Context, name string) (remote.TableState, error) {
	if err := t.reached(); err != nil {
		return remote.TableState{}, err
	}
	return t.Cloud.Table(ctx, name)
}

// Transactions implements remote.Cloud.
func (t *tap) Transactions(ctx context.Context) (bool, error) {
	if err := t.reached(); err != nil {
		return false, err
	}
	return t.Cloud.Transactions(ctx)
}

func (t *tap) reached() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away {
		return &intent.Error{Class: intent.Offline, Err: errors.New("no route")}
	}
	return nil
}
