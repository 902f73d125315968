package web

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// fake is a cricket service in memory, with the rows of its streams in a store.
type fake struct {
	t        testing.TB
	store    *store.Store
	mu       sync.Mutex
	fixtures map[string]matches.Fixture
	displays map[string]cricket.Display
	cards    map[string]cricket.Card
	events   map[string][]cricket.Event
	fail     error
	panicOn  string // match whose card panics
}

func newFake(t testing.TB, s *store.Store) *fake {
	return &fake{
		t: t, store: s, fixtures: map[string]matches.Fixture{}, displays: map[string]cricket.Display{},
		cards: map[string]cricket.Card{}, events: map[string][]cricket.Event{},
	}
}

// commit makes a change together with a row, and returns the sequence number of the row's journal record.
func (f *fake) commit(table string, row attr.Item, change func()) (seq uint64) {
	f.t.Helper()
	storetest.Update(f.t, f.store, func(tx *store.Tx) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		change()
		_, err := tx.Put(store.PutItem{Table: table, Item: row})
		seq = tx.Seq()
		return err
	})
	return seq
}

// add adds a scene's match, without a journal record.
func (f *fake) add(in *page.Input) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := in.Fixture.MatchID
	f.fixtures[id], f.displays[id], f.cards[id], f.events[id] = in.Fixture, in.Display, in.Card, in.Events
}

func (f *fake) Matches(_ context.Context, q matches.MatchFilter) ([]matches.Fixture, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if q.Cursor != "" {
		return nil, "", fault.New(fault.Invalid, "bad_cursor", "cursor was not issued by this node")
	}
	out := []matches.Fixture{}
	for _, fx := range f.fixtures {
		if q.Status == "live" && fx.Phase != cricket.PhaseLive {
			continue
		}
		out = append(out, fx)
	}
	slices.SortFunc(out, func(a, b matches.Fixture) int { return cmp.Compare(a.MatchID, b.MatchID) })
	if q.Limit > 0 && len(out) > q.Limit {
		return out[:q.Limit], "more", f.fail
	}
	return out, "", f.fail
}

func (f *fake) Live(ctx context.Context) ([]matches.Fixture, error) {
	out, _, err := f.Matches(ctx, matches.MatchFilter{Status: "live"})
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

func (f *fake) Match(_ context.Context, id string) (matches.Fixture, error) {
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

func (f *fake) putDisplay(d cricket.Display) uint64 {
	return f.commit(tables.Display, cacheRow(tables.DisplayKey(d.MatchID), d), func() { f.displays[d.MatchID] = d })
}

func (f *fake) putCard(id string, in cricket.CardInnings) uint64 {
	return f.commit(tables.Display, cacheRow(tables.CardKey(id, in.No), in), func() {})
}

func (f *fake) putEvent(t testing.TB, id string, e cricket.Event) uint64 {
	t.Helper()
	item, err := attr.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	item["matchId"], item["eventKey"] = attr.S(id), attr.S(e.Key)
	return f.commit(tables.Events, item, func() { f.events[id] = append(f.events[id], e) })
}

func cacheRow(key string, v any) attr.Item {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return attr.Item{"cacheKey": attr.S(key), "state": attr.S(string(raw))}
}

// theScenes returns the scenes of the gallery, read once.
var theScenes = sync.OnceValues(page.Scenes)

// scene returns a copy of a scene of the gallery. Its slices and maps are shared and must not be changed.
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

// setup is the configuration of a server with cricket.
type setup struct {
	httpapi.Config
	App Config
}

// config returns the setup of a node with one match, in the last over of the 2019 final.
func config(t testing.TB) (*setup, *fake, *page.Input) {
	t.Helper()
	return configIn(t, storetest.Open(t, tables.All()...))
}

// configIn is config with the test's own store.
func configIn(t testing.TB, s *store.Store) (*setup, *fake, *page.Input) {
	t.Helper()
	in, f := scene(t, "chase"), newFake(t, s)
	f.add(in)
	return &setup{
		Config: httpapi.Config{
			Store: s, Clock: clock.Real(), Version: "test", Auth: web.ByName{Silent: auth.Identity{Subject: "u0"}},
			Node: func() operator.NodeStatus { return in.Node.NodeStatus },
		},
		App: Config{
			Service: f, Phones: func() []sandbox.PhoneView { return in.Phones },
			Feed: func() *Feed {
				st := in.Node.Feed.Status
				st.ReadAt, st.LastUnchanged = in.Node.Feed.LastAt, true
				st.Matches = []poll.Held{{MatchID: finalID, Fence: in.Node.Lease.Fence, Deadline: in.Node.Lease.Deadline}}
				return &Feed{Status: st}
			},
			Push: func() *Pushes { return &Pushes{Counts: in.Node.Pushes.Counts} },
		},
	}, f, in
}

func newServer(t testing.TB, cfg *setup) *httpapi.Server {
	t.Helper()
	cfg.App.Version, cfg.App.Store = cfg.Version, cfg.Store
	app, err := New(cfg.App)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Apps = []httpapi.App{app}
	s, err := httpapi.New(cfg.Config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs a server on its own port until stop or the end of the test.
func start(t testing.TB, cfg *setup) (address string, stop func() error) {
	t.Helper()
	return web.Run(t, newServer(t, cfg))
}

const (
	jsonType = "application/json; charset=utf-8"
	htmlType = "text/html; charset=utf-8"

	headerSeq = "Touchline-Seq"
)

func seqID(seq uint64) string { return strconv.FormatUint(seq, 10) }
