package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	fetchWithin  = 5 * time.Second
	refreshAfter = 6 * time.Hour       // keys this old are fetched again by the way
	askEvery     = 5 * time.Minute     // at most, after an answer: an unknown kid costs the issuer no more
	retryAfter   = 10 * time.Second    // at first, after a failure; doubled up to askEvery
	grace        = 30 * 24 * time.Hour // how long keys count that could not be fetched again
)

// fetched are the keys of an issuer that publishes them. They are fetched when they are first needed, again when they
// are old or a token names one that they lack, by one request at a time and seldom.
type fetched struct {
	issuer string
	url    string // of the keys; empty: the issuer's discovery document says
	cfg    Config
	log    *slog.Logger
	life   context.Context //nolint:containedctx // of the fetches, which outlive the request that wanted them
	end    context.CancelFunc
	work   sync.WaitGroup
	rounds atomic.Uint64

	mu      sync.Mutex
	loaded  bool // the store was asked
	set     read
	asking  chan struct{} // closed when the fetch under way is over; nil: none is
	askedAt time.Time
	failed  int // fetches in a row
}

// read is what an issuer has said, and what that says.
type read struct {
	KeySet
	keys map[string]any
	said *discovery // nil: it was not asked
}

func newFetched(issuer string, discover bool, c Config) *fetched {
	f := &fetched{issuer: issuer, cfg: c, log: c.Logger.With("issuer", issuer)}
	if !discover {
		f.url = strings.TrimSuffix(issuer, "/") + "/.well-known/jwks.json"
	}
	f.life, f.end = context.WithCancel(context.Background())
	return f
}

func (f *fetched) round() uint64 { return f.rounds.Load() }

func (f *fetched) close() {
	f.mu.Lock()
	f.end()
	f.mu.Unlock()
	f.work.Wait()
}

// key implements keyring.
func (f *fetched) key(ctx context.Context, kid string) (any, error) {
	return waited(ctx, func(ask bool) (any, <-chan struct{}, error) { return f.find(ctx, kid, ask) })
}

// waited looks for something, and once more after the fetch that may bring it.
func waited[T any](ctx context.Context, find func(ask bool) (T, <-chan struct{}, error)) (T, error) {
	found, wait, err := find(true)
	if wait == nil {
		return found, err
	}
	select {
	case <-wait:
	case <-ctx.Done():
		return found, context.Cause(ctx)
	}
	found, _, err = find(false)
	return found, err
}

// endpoints returns where the issuer signs people in, as it has said last.
func (f *fetched) endpoints(ctx context.Context) (*discovery, error) {
	return waited(ctx, func(ask bool) (*discovery, <-chan struct{}, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := f.load(ctx); err != nil || f.set.said != nil {
			return f.set.said, nil, err
		}
		if ask {
			if wait := f.ask(f.cfg.Clock.Now()); wait != nil {
				return nil, wait, nil
			}
		}
		return nil, nil, fault.New(fault.Unavailable, "issuer_unreachable",
			"Nobody can sign in there now: the issuer cannot be reached. Without the internet an admin can show you a code.")
	})
}

// find looks for a key in what is here. Where a fetch might help it is begun, or joined: wait is closed at its end.
func (f *fetched) find(ctx context.Context, kid string, ask bool) (key any, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.load(ctx); err != nil {
		return nil, nil, err
	}
	now := f.cfg.Clock.Now()
	age := now.Sub(f.set.FetchedAt)
	usable := f.set.keys != nil && age < grace
	if k := f.set.keys[kid]; k != nil && usable {
		if ask && (age > refreshAfter || age < 0) {
			f.ask(now) // nobody waits for it
		}
		return k, nil, nil
	}
	if ask {
		if wait := f.ask(now); wait != nil {
			return nil, wait, nil
		}
	}
	switch {
	case !usable:
		return nil, nil, fault.New(fault.Unavailable, "no_keys", "Tokens cannot be checked now: the issuer's keys cannot be fetched.")
	case f.failed > 0:
		return nil, nil, fault.New(fault.Unavailable, "no_keys",
			"The token's key (kid) is not known here, and its issuer cannot be asked now.")
	default:
		return nil, nil, unauthorized("The token's key (kid) is not its issuer's.")
	}
}

// load reads the keys that were kept, once.
func (f *fetched) load(ctx context.Context) error {
	if f.loaded || f.cfg.Keys == nil {
		return nil
	}
	set, err := f.cfg.Keys.LoadKeys(ctx, f.issuer)
	if err != nil {
		return err
	}
	f.loaded = true
	if set.Body == nil {
		return nil
	}
	kept, err := f.read(set)
	if err != nil {
		f.log.Warn("stored keys cannot be read", "err", err)
		return nil
	}
	f.set, f.askedAt = kept, set.FetchedAt
	return nil
}

// read reads what the issuer has said, now or before. What cannot be used is an error.
func (f *fetched) read(set KeySet) (r read, err error) {
	r = read{KeySet: set, said: f.readDiscovery(set.Discovery)}
	if f.url == "" && r.said == nil {
		return r, errors.New("discovery: the issuer names no endpoints, or some without TLS")
	}
	r.keys, err = parseKeys(set.Body)
	return r, err
}

// ask begins a fetch unless it is too soon, and returns what to wait for; nil: no fetch is under way.
func (f *fetched) ask(now time.Time) <-chan struct{} {
	if f.asking != nil {
		return f.asking
	}
	pause := askEvery
	if f.failed > 0 {
		pause = min(askEvery, retryAfter<<min(f.failed-1, 10))
	}
	// An answer from the future is a clock that was set back: it must not keep us from asking.
	if since := now.Sub(f.askedAt); since >= 0 && since < pause || f.life.Err() != nil {
		return nil
	}
	f.askedAt = now
	done := make(chan struct{})
	f.asking = done
	known := f.set.KeySet
	f.work.Go(func() {
		defer close(done)
		f.refresh(known)
	})
	return done
}

// refresh fetches the keys and takes them over. Keys that cannot be fetched or read change nothing.
func (f *fetched) refresh(known KeySet) {
	set, err := f.fetch(f.life, known)
	if err == nil && f.cfg.Keys != nil {
		if err := f.cfg.Keys.SaveKeys(f.life, set.KeySet); err != nil && f.life.Err() == nil {
			f.log.Warn("keys could not be stored", "err", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asking = nil
	if err != nil {
		f.failed++
		if f.life.Err() == nil {
			f.log.Warn("keys cannot be fetched", "err", err, "last", f.set.FetchedAt)
		}
		return
	}
	f.failed = 0
	if string(set.Body) != string(f.set.Body) {
		f.rounds.Add(1)
		f.log.Info("keys fetched", "keys", len(set.keys))
	}
	f.set = set
}

// fetch asks the issuer. An answer that nothing has changed renews what is known.
func (f *fetched) fetch(ctx context.Context, known KeySet) (read, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	url := f.url
	if url == "" {
		said, raw, err := f.discover(ctx)
		if err != nil {
			return read{}, err
		}
		url, known.Discovery = said.JWKSURL, raw
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return read{}, fmt.Errorf("keys: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if known.ETag != "" {
		req.Header.Set("If-None-Match", known.ETag)
	}
	resp, err := f.cfg.Client.Do(req)
	if err != nil {
		return read{}, fmt.Errorf("keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified && known.Body != nil {
		known.FetchedAt = f.cfg.Clock.Now()
		return f.read(known)
	}
	if resp.StatusCode != http.StatusOK {
		return read{}, fmt.Errorf("keys: the issuer answers %d", resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return read{}, fmt.Errorf("keys: %w", err)
	}
	etag := resp.Header.Get("ETag")
	if len(etag) > 256 {
		etag = ""
	}
	return f.read(KeySet{Issuer: f.issuer, Body: body, Discovery: known.Discovery, ETag: etag, FetchedAt: f.cfg.Clock.Now()})
}
