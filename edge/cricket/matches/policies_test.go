package matches_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// sentry is a replicator that checks that cricket's writes follow the policies of its tables.
type sentry struct {
	t     *testing.T
	fence int64 // of every write that carries one
	seen  map[string]int

	alerts []string // keys of the events with an alert, in the order in which they were claimed

	event uint64 // sequence number of the last event in the transaction
	state uint64
	txn   uint64
}

// Compile implements store.Replicator.
func (s *sentry) Compile(_ *store.Tx, writes []store.Write) error {
	for i := range writes {
		w := &writes[i]
		s.seen[w.Spec.Name+" "+w.Op.String()]++
		if w.Txn != s.txn {
			s.txn, s.event, s.state = w.Txn, 0, 0
		}
		s.look(w)
	}
	return nil
}

func (s *sentry) look(w *store.Write) {
	switch w.Spec.Policy {
	case store.PolicyState:
		if w.Op == store.OpUpdate {
			s.t.Errorf("%s is updated with %q, but a state must be put whole", w.Spec.Name, w.Request.Update)
		}
	case store.PolicyNewest:
		words := " " + strings.ToUpper(w.Request.Update) + " "
		if strings.Contains(words, " ADD ") || strings.Contains(words, " DELETE ") || strings.Contains(words, "LIST_APPEND") {
			s.t.Errorf("%s: the update %q does not suit PolicyNewest", w.Spec.Name, w.Request.Update)
		}
	default:
	}
	if w.Spec.Lock != "" && len(w.New) > 0 {
		fence, has, err := w.New.Get("_f")
		if n, _ := fence.Int(); !has || err != nil || n != s.fence {
			s.t.Errorf("%s %v: fence %d, want %d", w.Spec.Name, w.Key, n, s.fence)
		}
		if lock := w.Spec.Lock; strings.ReplaceAll(lock, "{matchId}", "7") != tables.MatchLock("7") {
			s.t.Errorf("%s has the lock %q, but the poller takes %q", w.Spec.Name, lock, tables.MatchLock("7"))
		}
	}
	if w.Spec.Policy == store.PolicyState && !strings.Contains(w.Request.Condition, "#f") && w.Request.Condition != "attribute_not_exists(matchId)" {
		s.t.Errorf("%s %v with the condition %q: a state must check the fence", w.Spec.Name, w.Op, w.Request.Condition)
	}
	switch w.Spec.Name {
	case tables.Events:
		s.event = max(s.event, w.Seq)
		if s.state != 0 {
			s.t.Errorf("the event %v is written after its state", w.Key)
		}
		if alert, _, _ := w.New.Get("alert"); alert.Bool() && w.Op == store.OpPut {
			s.claims(w)
		}
	case tables.ActiveMatches:
		s.state = w.Seq
	}
}

// claims checks that a claim is sent ahead of everything but the previous claim.
func (s *sentry) claims(w *store.Write) {
	var want []store.ItemRef
	if n := len(s.alerts); n > 0 {
		want = []store.ItemRef{{Table: tables.Events, Key: eventRowKey("7", s.alerts[n-1])}}
	}
	if !w.Sending.Ahead || !reflect.DeepEqual(w.Sending.After, want) {
		s.t.Errorf("the claim %v is sent %+v, want ahead, and after %v", w.Key, w.Sending, want)
	}
	s.alerts = append(s.alerts, w.Key["eventKey"].Str())
}

// Expire implements store.Replicator.
func (s *sentry) Expire(*store.Tx, *store.TableSpec, attr.Item) (bool, error) { return true, nil }

// stage is a service on a store with a script's clock.
type stage struct {
	*script
	store   *store.Store
	service *matches.Service
	sentry  *sentry
	by      matches.Owner
}

func newStage(t *testing.T, o cricket.Options) *stage {
	t.Helper()
	s := &stage{script: newScript(t, 20), by: matches.Owner{Node: "a", Fence: 5}}
	s.sentry = &sentry{t: t, fence: 5, seen: map[string]int{}}
	s.store = storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true, Now: func() time.Time { return s.now }}, tables.All()...)
	s.store.Replicate(s.sentry)
	s.service = matches.NewService(s.store, o)
	return s
}

// tick applies the current snapshot several times, until held events are confirmed.
func (s *stage) tick() {
	s.t.Helper()
	for range 4 {
		snap := s.snap
		snap.ReadAt = s.now
		if _, err := s.service.Tick(s.t.Context(), &snap, s.by); err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(2500 * time.Millisecond)
	}
}

func (s *stage) do(f func(tx *store.Tx) error) {
	s.t.Helper()
	if err := s.store.Update(s.t.Context(), f); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) row(table string, key attr.Item) (item attr.Item) {
	s.t.Helper()
	s.do(func(tx *store.Tx) (err error) {
		item, err = tx.Get(table, key)
		return err
	})
	return item
}

// All writes of a match suit the policies of its tables: states are put whole and under the fence, events are written before
// the state that knows them, and tables in which the newest write wins get no update that depends on the old value.
func TestWritesSuitTheirPolicies(t *testing.T) {
	s := newStage(t, cricket.Options{Shared: true})
	ctx := t.Context()
	if _, done, err := s.service.Register(ctx, "7", s.by); err != nil || !done {
		t.Fatal(done, err)
	}
	s.tick()
	s.innings(teamA)
	for mark := range strings.FieldsSeq(". 4 W 1 6 6 W . . W 1 1") {
		s.ball(mark)
		s.tick()
	}
	s.do(func(tx *store.Tx) error {
		if _, err := (phone.Devices{}).Register(tx, phone.Device{UserID: "u", DeviceID: "d", Platform: "ios", DeviceToken: strings.Repeat("ab", 32)}); err != nil {
			return err
		}
		if _, _, err := (phone.Follows{}).Add(tx, "7", "u", 0); err != nil {
			return err
		}
		read := reference.NewReadings()
		if err := read.TeamRows.SettleIn(tx, read.SetTeams(reference.TeamRecord{TeamID: "1", Name: "x"})); err != nil {
			return err
		}
		f, ok := matches.NewCachedFixture(&cricket.Snapshot{MatchID: "7", Raw: []byte(`{"id":7}`), StartsAt: s.now, Status: "1st Innings"}, tx.Now())
		if !ok {
			t.Error("no row for the cache")
		}
		return matches.FixtureCache{}.Put(tx, &f, s.by)
	})
	s.now = s.now.Add(time.Minute)
	if err := s.service.Touch(ctx, "7", s.by); err != nil {
		t.Fatal(err)
	}
	if got := s.row(tables.ActiveMatches, tables.MatchKey("7"))["lastTickAt"].Str(); !strings.HasPrefix(got, s.now.Format("2006-01-02T15:04")) {
		t.Errorf("touched at %s", got)
	}
	if err := s.service.CleanUp(ctx, "7", s.by); err != nil {
		t.Fatal(err)
	}
	if len(s.sentry.alerts) < 2 {
		t.Errorf("only %v were claimed", s.sentry.alerts)
	}
	for _, want := range []string{
		tables.ActiveMatches + " PutItem", tables.Events + " PutItem", tables.Fixtures + " UpdateItem", tables.FixtureCache + " PutItem", tables.Devices + " UpdateItem",
		tables.Teams + " PutItem", tables.Follows + " DeleteItem", tables.LiveActivities + " UpdateItem",
	} {
		if s.sentry.seen[want] == 0 {
			t.Errorf("no %s was seen: %v", want, s.sentry.seen)
		}
	}
}

// A holder whose match has passed to another node writes nothing of it: neither a tick, a touch or the end, nor a fixture that
// the next holder has ticked.
func TestDeposedWritesNothing(t *testing.T) {
	s := newStage(t, cricket.Options{})
	s.innings(teamA)
	s.ball("4")
	s.tick()
	s.do(func(tx *store.Tx) error { // as when the change feed brings the next holder's write
		row, err := tx.Get(tables.ActiveMatches, tables.MatchKey("7"))
		if err != nil {
			return err
		}
		row["_f"] = attr.Int(9)
		_, err = tx.Adopt(tables.ActiveMatches, tables.MatchKey("7"), row)
		return err
	})
	snap := s.snap
	for what, write := range map[string]func() error{
		"tick":  func() error { _, err := s.service.Tick(t.Context(), &snap, s.by); return err },
		"touch": func() error { return s.service.Touch(t.Context(), "7", s.by) },
		"end":   func() error { return s.service.CleanUp(t.Context(), "7", s.by) },
	} {
		fenced, ok := errors.AsType[*matches.FencedOffError](write())
		if !ok || fenced.Fence != 9 {
			t.Errorf("%s: %v", what, fenced)
		}
	}
	// The fixture's own fence holds even if the state of the next holder has not arrived yet.
	s.do(func(tx *store.Tx) error {
		row, err := tx.Get(tables.ActiveMatches, tables.MatchKey("7"))
		if err != nil {
			return err
		}
		row["_f"] = attr.Int(5)
		if _, err = tx.Adopt(tables.ActiveMatches, tables.MatchKey("7"), row); err != nil {
			return err
		}
		fixture, err := tx.Get(tables.Fixtures, tables.MatchKey("7"))
		if err != nil {
			return err
		}
		fixture["tickFence"] = attr.Int(9)
		_, err = tx.Adopt(tables.Fixtures, tables.MatchKey("7"), fixture)
		return err
	})
	s.ball("6")
	snap = s.snap
	_, err := s.service.Tick(t.Context(), &snap, s.by)
	if fenced, ok := errors.AsType[*matches.FencedOffError](err); !ok || fenced.Fence != 9 {
		t.Errorf("tick on a fixture of the next holder: %v", err)
	}
}

// Attributes that a newer version keeps in a match's row stay in it.
func TestUnknownAttributesStay(t *testing.T) {
	s := newStage(t, cricket.Options{})
	s.innings(teamA)
	s.tick()
	s.do(func(tx *store.Tx) error {
		row, err := tx.Get(tables.ActiveMatches, tables.MatchKey("7"))
		if err != nil {
			return err
		}
		row["fromTheFuture"] = attr.S("x")
		_, err = tx.Adopt(tables.ActiveMatches, tables.MatchKey("7"), row)
		return err
	})
	s.ball("W")
	s.tick()
	row := s.row(tables.ActiveMatches, tables.MatchKey("7"))
	if row["fromTheFuture"].Str() != "x" || row["previousScore"].IsZero() {
		t.Errorf("%v", row)
	}
	if _, has := row["shown"]; has {
		t.Error("a service without Shared writes its display into the row")
	}
}

// An observer's snapshot changes this node's display, and nothing that other nodes read.
func TestObserve(t *testing.T) {
	s := newStage(t, cricket.Options{})
	s.innings(teamA)
	s.ball("4")
	s.tick()
	before := s.store.Seq()
	st, _, err := s.service.State(t.Context(), "7")
	for range 3 {
		if err != nil {
			t.Fatal(err)
		}
		s.ball("6")
		snap := s.snap
		snap.ReadAt = s.now
		st, err = s.service.Observe(t.Context(), st, &snap)
		s.now = s.now.Add(5 * time.Second)
	}
	d, err := s.service.Display(t.Context(), "7")
	if err != nil || d.Teams[0].Runs != 22 {
		t.Errorf("shown: %+v, %v", d.Teams, err)
	}
	records, err := s.store.Journal(t.Context(), before, 1000)
	if err != nil || len(records) == 0 {
		t.Fatal(len(records), err)
	}
	for i := range records {
		if records[i].Table != tables.Display {
			t.Errorf("%s %v was written", records[i].Table, records[i].Key)
		}
	}
}
