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

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

const (
	fetchWithin  = 5 * time.Second
	refreshAfter = time.Hour           // older keys are fetched again in the background
	verifyAfter  = 6 * time.Hour       // for keys that are older, a request waits for that: the issuer may have withdrawn one
	askEvery     = 5 * time.Minute     // longest pause between fetches, which limits what unknown kids cost the issuer
	retryAfter   = 10 * time.Second    // pause after a fetch that failed or brought nothing new, doubled up to askEvery
	grace        = 30 * 24 * time.Hour // how long keys stay valid if they cannot be fetched again
)

// fetched holds the keys of an issuer that publishes them. It fetches them when first needed, when they are old, and when a token names
// an unknown key; by one request at a time, and rarely.
type fetched struct {
	issuer string
	url    string // of the keys; empty: taken from the discovery document
	cfg    Config
	log    *slog.Logger
	life   context.Context //nolint:containedctx // lifetime of fetches, which outlive the request that started them
	end    context.CancelFunc
	work   sync.WaitGroup
	rounds atomic.Uint64

	mu      sync.Mutex
	loaded  bool // read from the store
	set     read
	asking  chan struct{} // closed when the current fetch ends; nil: none runs
	askedAt time.Time
	failed  int // consecutive failed fetches
	same    int // consecutive fetches that brought the same keys
}

// read is what an issuer published, and the parsed form of it.
type read struct {
	KeySet
	keys map[string]any
	said *discovery // nil: not requested
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
func (f *fetched) key(ctx context.Context, kid string, issued time.Time) (any, error) {
	return waitFetched(ctx, func(ask bool) (any, <-chan struct{}, error) { return f.find(ctx, kid, issued, ask) })
}

// again implements keyring.
func (f *fetched) again(ctx context.Context) bool {
	was := f.round()
	_, _ = waitFetched(ctx, func(ask bool) (none struct{}, wait <-chan struct{}, err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if ask {
			wait = f.ask(f.cfg.Clock.Now())
		}
		return none, wait, nil
	})
	return f.round() != was
}

// waitFetched calls find, and again after the fetch that it started or joined.
func waitFetched[T any](ctx context.Context, find func(ask bool) (T, <-chan struct{}, error)) (T, error) {
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

// endpoints returns the issuer's latest discovery document.
func (f *fetched) endpoints(ctx context.Context) (*discovery, error) {
	return waitFetched(ctx, func(ask bool) (*discovery, <-chan struct{}, error) {
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

// find looks for a key in memory. If a fetch may help it starts or joins one: wait is closed when that ends.
func (f *fetched) find(ctx context.Context, kid string, issued time.Time, ask bool) (key any, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.load(ctx); err != nil {
		return nil, nil, err
	}
	now := f.cfg.Clock.Now()
	age := f.cfg.Clock.Wall().Sub(f.set.FetchedAt)
	usable := f.set.keys != nil && age < grace
	if k := f.set.keys[kid]; k != nil && usable {
		if ask && (age > refreshAfter || age < 0) {
			if wait := f.ask(now); age > verifyAfter && f.failed == 0 {
				return k, wait, nil
			}
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
	case ask && issued.Add(Leeway).After(f.set.FetchedAt): // it was too soon to ask, and the key may be newer than what is known
		return nil, nil, fault.New(fault.Unavailable, "new_key", "The token's key (kid) is newer than the keys known here: try again in some seconds.")
	default:
		return nil, nil, unauthorizedError("The token's key (kid) is not its issuer's.")
	}
}

// load reads the stored keys, once.
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
	f.set, f.askedAt = kept, clock.NowAt(f.cfg.Clock, set.FetchedAt)
	return nil
}

// read parses what the issuer published, now or earlier. Unusable content is an error.
func (f *fetched) read(set KeySet) (r read, err error) {
	r = read{KeySet: set, said: f.readDiscovery(set.Discovery)}
	if f.url == "" && r.said == nil {
		return r, errors.New("discovery: the issuer names no endpoints, or some without TLS")
	}
	r.keys, err = parseKeys(set.Body)
	return r, err
}

// ask starts a fetch unless it is too soon. It returns a channel to wait for; nil: no fetch is running.
func (f *fetched) ask(now time.Time) <-chan struct{} {
	if f.asking != nil {
		return f.asking
	}
	vain := max(f.failed, f.same, 1)
	pause := min(askEvery, retryAfter<<min(vain-1, 10))
	// If askedAt is in the future, the clock was set back: this must not prevent a fetch.
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

// refresh fetches and installs the keys. If that fails nothing changes.
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
	f.same++
	if string(set.Body) != string(f.set.Body) {
		f.same = 0
		f.rounds.Add(1)
		f.log.Info("keys fetched", "keys", len(set.keys))
	}
	f.set = set
}

// fetch asks the issuer. The answer "not modified" renews the known keys.
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
		known.FetchedAt = f.cfg.Clock.Wall()
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
	return f.read(KeySet{Issuer: f.issuer, Body: body, Discovery: known.Discovery, ETag: etag, FetchedAt: f.cfg.Clock.Wall()})
}
