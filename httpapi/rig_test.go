package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// fake is a cricket service with its journal, in memory.
type fake struct {
	mu       sync.Mutex
	fixtures map[string]cricket.Fixture
	displays map[string]cricket.Display
	cards    map[string]cricket.Card
	events   map[string][]cricket.Event
	records  []store.Record
	first    uint64
	last     uint64
	signals  map[*clock.Signal]struct{}
	fail     error
	panicOn  string // match whose card is a bug
	reads    int    // of the journal
}

func newFake() *fake {
	return &fake{
		fixtures: map[string]cricket.Fixture{}, displays: map[string]cricket.Display{}, cards: map[string]cricket.Card{},
		events: map[string][]cricket.Event{}, first: 1, signals: map[*clock.Signal]struct{}{},
	}
}

// add puts a scene's match there, as if it had always been.
func (f *fake) add(in *page.Input) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := in.Fixture.MatchID
	f.fixtures[id], f.displays[id], f.cards[id], f.events[id] = in.Fixture, in.Display, in.Card, in.Events
}

func (f *fake) Matches(_ context.Context, q cricket.MatchFilter) ([]cricket.Fixture, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Cursor != "" {
		return nil, "", fault.New(fault.Invalid, "bad_cursor", "cursor was not issued by this node")
	}
	out := []cricket.Fixture{}
	for _, fx := range f.fixtures {
		if q.Status == "live" && fx.Phase != cricket.PhaseLive {
			continue
		}
		out = append(out, fx)
	}
	slices.SortFunc(out, func(a, b cricket.Fixture) int { return cmp.Compare(a.MatchID, b.MatchID) })
	if q.Limit > 0 && len(out) > q.Limit {
		return out[:q.Limit], "more", f.fail
	}
	return out, "", f.fail
}

func (f *fake) Live(ctx context.Context) ([]cricket.Fixture, error) {
	out, _, err := f.Matches(ctx, cricket.MatchFilter{Status: "live"})
	return out, err
}

func get[T any](f *fake, m map[string]T, id string) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := m[id]
	if f.fail != nil {
		return v, f.fail
	}
	if id == "panic" {
		panic("a bug")
	}
	if !ok {
		return v, fault.New(fault.NotFound, "match_not_found", "there is no match %q here", id)
	}
	return v, nil
}

func (f *fake) Match(_ context.Context, id string) (cricket.Fixture, error) {
	return get(f, f.fixtures, id)
}
func (f *fake) Display(_ context.Context, id string) (cricket.Display, error) {
	return get(f, f.displays, id)
}
func (f *fake) Card(_ context.Context, id string) (cricket.Card, error) {
	f.mu.Lock()
	on := f.panicOn
	f.mu.Unlock()
	if on == id {
		panic("a bug")
	}
	return get(f, f.cards, id)
}
func (f *fake) Events(_ context.Context, id string) ([]cricket.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events[id]), f.fail
}

func (f *fake) Journal(_ context.Context, after uint64, limit int) ([]store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	var out []store.Record
	for _, r := range f.records {
		if r.Seq > after && r.Seq >= f.first && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fake) Seq() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

func (f *fake) FirstSeq() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}

func (f *fake) Watch(sig *clock.Signal) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals[sig] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.signals, sig)
	}
}

// trim forgets the journal up to a sequence.
func (f *fake) trim(upTo uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = upTo + 1
}

// commit journals records and wakes who watches.
func (f *fake) commit(change func(), records ...store.Record) uint64 {
	f.mu.Lock()
	change()
	for _, r := range records {
		f.last++
		r.Seq, r.Op = f.last, store.OpPut
		f.records = append(f.records, r)
	}
	last := f.last
	signals := slices.Collect(maps.Keys(f.signals))
	f.mu.Unlock()
	for _, sig := range signals {
		sig.Set()
	}
	return last
}

func (f *fake) putDisplay(d cricket.Display) uint64 {
	return f.commit(func() { f.displays[d.MatchID] = d }, cacheRecord(cricket.DisplayKey(d.MatchID), d))
}

func (f *fake) putCard(id string, in cricket.CardInnings) uint64 {
	return f.commit(func() {}, cacheRecord(cricket.CardKey(id, in.No), in))
}

func (f *fake) putEvent(t testing.TB, id string, e cricket.Event) uint64 {
	t.Helper()
	item, err := attr.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return f.commit(func() { f.events[id] = append(f.events[id], e) }, store.Record{
		Table: cricket.TableEvents, New: item,
		Key: attr.Item{"matchId": attr.S(id), "eventKey": attr.S(e.Key)},
	})
}

func cacheRecord(key string, v any) store.Record {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	item := attr.Item{"cacheKey": attr.S(key), "state": attr.S(string(raw))}
	return store.Record{Table: cricket.TableDisplay, Key: attr.Item{"cacheKey": attr.S(key)}, New: item}
}

// theScenes are the moments of the gallery, read once.
var theScenes = sync.OnceValues(page.Scenes)

// scene is a moment of the gallery: a copy, whose slices and maps nobody changes.
func scene(t testing.TB, name string) *page.Input {
	t.Helper()
	scenes, err := theScenes()
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenes {
		if scenes[i].Name == name {
			in := *scenes[i].Match
			return &in
		}
	}
	t.Fatalf("there is no scene %q", name)
	return nil
}

const finalID = "1144530"

// config is a node with one match, the last over of the 2019 final.
func config(t testing.TB) (Config, *fake, *page.Input) {
	t.Helper()
	in, f := scene(t, "chase"), newFake()
	f.add(in)
	return Config{
		Cricket: f, Journal: f, Clock: clock.Real(), Version: "test", Auth: byName{auth.Identity{Subject: "u0"}},
		Node:   func() NodeStatus { return in.Node },
		Phones: func() []PhoneView { return in.Phones },
	}, f, in
}

func newServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where Run does not, this waits for streams: a store that is closed next must have no reader
		s.drain()
		s.streams.Wait()
	})
	return s
}

// start runs a server on a port of its own until stop or the end of the test.
func start(t testing.TB, cfg Config) (address string, stop func() error) {
	t.Helper()
	s := newServer(t, cfg)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, ln) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(hang.Limit(time.Minute)):
			return errors.New("the server did not end")
		}
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), stop
}

// client is one that keeps no connections, so that none outlives its test.
func client(t testing.TB) *http.Client {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}
