package push

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/machine"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dayOne = time.Date(2019, 7, 14, 9, 30, 0, 0, time.UTC)

// rig is a coordinator in stepped time with the test's own sender. The test's goroutine plays the rest of the node: it
// writes what a poller would write, and lets time pass.
type rig struct {
	t     *testing.T
	ctx   context.Context
	clk   *clock.Stepped
	node  *machine.Clock // the coordinator's, whose wall clock may be wrong
	s     *store.Store
	out   *outbox
	coord *Coordinator
	kill  context.CancelFunc // of the coordinator
	stop  func() error
	n     int // events written

	patience time.Duration // of the coordinator; 0: ten minutes, more than any machine needs

	after int // failures in a row that hold pushes back; 0: as usual

	workers int // concurrent pushes; 0: as usual

	environments bool // the sender has two hosts
	collapse     bool // the states of a match have a collapse id

	channels Channels
	proofs   Proofs
	rights   Rights
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, ctx: t.Context(), clk: clock.NewStepped(dayOne)}
	r.node = machine.New(r.clk)
	r.out = &outbox{now: r.clk.Now}
	t.Cleanup(func() {
		if n := r.out.longest(); n > payload.MaxPush {
			t.Errorf("a payload of %d bytes, Apple accepts %d", n, payload.MaxPush)
		}
	})
	r.open(filepath.Join(t.TempDir(), "store.db"))
	t.Cleanup(r.clk.Join())
	return r
}

// open opens the node's store.
func (r *rig) open(path string) {
	r.t.Helper()
	r.s = storetest.OpenWith(r.t, path, store.Options{NoSync: true, Now: r.node.Wall}, tables.All()...)
	r.t.Cleanup(r.halt) // before the store is closed
}

// run starts a coordinator with a sender.
func (r *rig) run(s Sender) {
	r.t.Helper()
	c, err := New(Config{Store: r.s, Sender: s, Clock: r.node, Workers: r.workers, Environments: r.environments, Collapse: r.collapse, Channels: r.channels, Proofs: r.proofs, Rights: r.rights, Random: func() float64 { return 0.5 }})
	if err != nil {
		r.t.Fatal(err)
	}
	r.coord, c.patience = c, cmp.Or(r.patience, 10*time.Minute)
	c.circuit.after = cmp.Or(r.after, tripAfter)
	ctx, cancel := context.WithCancel(r.ctx)
	r.kill = cancel
	done := make(chan error, 1)
	leave := r.clk.Join()
	go func() {
		defer leave()
		done <- c.Run(ctx)
	}()
	r.stop = func() error {
		cancel()
		return <-done
	}
}

// halt ends the coordinator.
func (r *rig) halt() {
	if r.stop == nil {
		return
	}
	if err := r.stop(); err != nil {
		r.t.Errorf("Run: %v", err)
	}
	r.stop = nil
}

// pass lets time pass; what is due meanwhile happens.
func (r *rig) pass(d time.Duration) {
	r.t.Helper()
	if err := r.clk.Wait(r.ctx, r.clk.Now().Add(d), nil); err != nil {
		r.t.Fatal(err)
	}
}

// settle lets everything happen that is due now.
func (r *rig) settle() { r.pass(time.Millisecond) }

func (r *rig) do(f func(*store.Tx) error) {
	r.t.Helper()
	if err := r.s.Update(r.ctx, f); err != nil {
		r.t.Fatal(err)
	}
}

// fixture writes the fixture of a one-day match.
func (r *rig) fixture(id string) { r.fixtureOf(id, "ODI") }

// fixtureOf writes the fixture of a match of a type, on which the life of its follows depends.
func (r *rig) fixtureOf(id, kind string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		item, err := attr.Marshal(matches.Fixture{MatchID: id, Type: kind, StartTime: dayOne, LeagueCode: "CWC", Phase: cricket.PhaseLive})
		if err != nil {
			return err
		}
		_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: item})
		return err
	})
}

// active writes the match's row in active-matches.
func (r *rig) active(id, status string, phase cricket.Phase, finished time.Time) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		item, err := attr.Marshal(cricket.State{MatchID: id, Status: status, MatchPhase: phase, FinishedAt: finished})
		if err != nil {
			return err
		}
		_, err = tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: item})
		return err
	})
}

// live marks a match as in play.
func (r *rig) live(id string) { r.active(id, cricket.ActiveLive, cricket.PhaseLive, time.Time{}) }

// score writes a display and, unless alertText is empty, an event with that alert in the same transaction.
func (r *rig) score(id string, runs int, alertText string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error { return r.tick(tx, id, runs, alertText) })
}

// tick is score within a transaction.
func (r *rig) tick(tx *store.Tx, id string, runs int, alertText string) error {
	d := cricket.Display{
		MatchID: id, League: "World Cup", Phase: cricket.PhaseLive, Status: "1st Innings",
		Teams: []cricket.TeamScore{
			{ID: 42, Name: "New Zealand", Code: "NZ", Runs: runs, Overs: "1.0", Batting: true, Batted: true},
			{ID: 10, Name: "England", Code: "ENG", Overs: "0.0"},
		},
		Batters: []cricket.Batter{}, LastBalls: []cricket.BallMark{}, UpdatedAt: tx.Now(),
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = tx.Put(store.PutItem{Table: tables.Display, Item: attr.Item{
		"cacheKey": attr.S(tables.DisplayKey(id)), "state": attr.S(string(raw)),
	}})
	if err != nil || alertText == "" {
		return err
	}
	r.n++
	return putAlert(tx, id, cricket.Event{Key: fmt.Sprintf("w:1:%d", r.n), Type: cricket.EventWicket, Text: alertText})
}

// putAlert writes an event of a match with an alert.
func putAlert(tx *store.Tx, id string, e cricket.Event) error {
	e.At, e.Alert = tx.Now(), true
	item, err := attr.Marshal(e)
	if err != nil {
		return err
	}
	item["matchId"] = attr.S(id)
	_, err = tx.Put(store.PutItem{Table: tables.Events, Item: item})
	return err
}

// token derives a token from a name.
func token(name string) string {
	return (fmt.Sprintf("%x", name) + strings.Repeat("0", 64))[:64]
}

// follow registers a user's phone and makes the user follow a match.
func (r *rig) follow(id, user string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := phone.Devices{}.Register(tx, phone.Device{
			UserID: user, DeviceID: "d-" + user, Platform: "ios",
			DeviceToken: token("dev " + user), PushToStartToken: token("pts " + user),
		})
		if err != nil {
			return err
		}
		_, _, err = phone.Follows{}.Add(tx, id, user, 0)
		return err
	})
}

// activate registers the update token of a user's activity.
func (r *rig) activate(id, user, tok string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := phone.Activities{}.Register(tx, id, user, "d-"+user, token(tok), time.Time{})
		return err
	})
}

func (r *rig) session(id, user string) (s phone.Session) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) {
		s, err = phone.Activities{}.Get(tx, id, tables.SessionKey(user, "d-"+user))
		return err
	})
	return s
}

// ready starts a live match with one follower, whose activity is active and has the first score.
func (r *rig) ready(s Sender) {
	r.t.Helper()
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.follow("7", "ada")
	r.activate("7", "ada", "upd ada")
	r.run(s)
	r.pass(2 * time.Second)
}

// sent is a push that left.
type sent struct {
	apns.Push
	At    time.Time
	Event string
	Stamp int64
	Runs  int
	Alert string
	body  map[string]any
}

// outbox is a Sender that records pushes and accepts them, unless answer is set.
type outbox struct {
	mu     sync.Mutex
	all    []sent
	bytes  int // of the longest payload
	answer func(p sent) apns.Result
	now    func() time.Time
}

// Send implements Sender.
func (o *outbox) Send(_ context.Context, p apns.Push) apns.Result {
	s := sent{Push: p}
	var body struct {
		APS struct {
			Timestamp int64
			Event     string
			State     struct {
				Teams []struct{ Runs int }
			} `json:"content-state"`
			Alert *payload.Alert
		}
	}
	if err := json.Unmarshal(p.Payload, &body); err != nil {
		return apns.Result{Action: apns.Stop, Reason: "test: " + err.Error()}
	}
	_ = json.Unmarshal(p.Payload, &s.body)
	s.body, _ = s.body["aps"].(map[string]any)
	s.Stamp, s.Event = body.APS.Timestamp, body.APS.Event
	if len(body.APS.State.Teams) > 0 {
		s.Runs = body.APS.State.Teams[0].Runs
	}
	if body.APS.Alert != nil {
		s.Alert = body.APS.Alert.Body
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now != nil {
		s.At = o.now()
	}
	o.all, o.bytes = append(o.all, s), max(o.bytes, len(p.Payload))
	if o.answer != nil {
		return o.answer(s)
	}
	return apns.Result{Action: apns.Accepted, Status: 200, ID: p.ID}
}

func (o *outbox) longest() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes
}

// take returns the pushes since the last call.
func (o *outbox) take() []sent {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.all
	o.all = nil
	return out
}

// script sets the function that answers from now on; nil accepts every push.
func (o *outbox) script(f func(p sent) apns.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = f
}

// one returns the only push sent since the last take.
func (r *rig) one() sent {
	r.t.Helper()
	all := r.out.take()
	if len(all) != 1 {
		r.t.Fatalf("%d pushes, want one: %s", len(all), describe(all))
	}
	return all[0]
}

// none checks that nothing was sent since the last take.
func (r *rig) none(when string) {
	r.t.Helper()
	if all := r.out.take(); len(all) != 0 {
		r.t.Errorf("%s: %s", when, describe(all))
	}
}

func describe(all []sent) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "[%s p%d to %s runs %d alert %q]", s.Event, s.Priority, s.Token[:8], s.Runs, s.Alert)
	}
	return b.String()
}
