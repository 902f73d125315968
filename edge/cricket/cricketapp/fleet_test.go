package cricketapp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/replay"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// A fleet of whole nodes runs in one process. Matches and intervals are fleetSpeed times as fast as real ones; leases, which use
// real time, are correspondingly shorter. How soon something must happen is checked in virtual time, by the tests of edge/cricket/poll.
const (
	fleetSpeed = 30
	fleetTTL   = time.Second // half a minute of match time
)

const fleetSilence = 20 * time.Second * fleetSpeed

// fleet is a set of nodes that share a cloud, a feed and a push service with phones.
type fleet struct {
	t       *testing.T
	clock   *clock.Scaled
	cloud   *simcloud.Cloud
	net     *simcloud.Network
	replays *replay.Set
	box     *sandbox.Sandbox
	apns    string
	token   string

	apps    sync.WaitGroup // that have not registered their activity yet
	mu      sync.Mutex
	members map[string]*member
}

// member is a node of the fleet, with the directory of its store, which survives a crash.
type member struct {
	name  string
	dir   string
	store *store.Store
	link  *simcloud.Link
	node  *played
	stop  func() error
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		t: t, clock: clock.NewScaled(time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC), fleetSpeed), token: "t", members: map[string]*member{},
	}
	f.replays = replay.NewSet(f.clock, f.token)
	f.cloud = simcloud.New(simcloud.Options{Now: f.clock.Now})
	f.cloud.Create(schema().Tables...)
	f.cloud.Create(store.TableSpec{Name: "touchline-sync", Key: store.KeySpec{Partition: store.KeyAttr{Name: intent.SyncKey, Type: store.KeyString}}})
	f.net = simcloud.NewNetwork(f.cloud, simcloud.NewTimer(), 7)
	var err error
	if f.box, err = sandbox.New(sandbox.Config{Clock: f.clock, Seed: t.Name(), LogSize: 100_000}); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.box.Run(ctx) }()
	t.Cleanup(func() { // after the nodes
		f.apps.Wait()
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	f.apns = f.box.URL()
	f.clock.Join()
	return f
}

// start opens and runs a node: a new one, or one that ran before.
func (f *fleet) start(name string) *member {
	f.t.Helper()
	f.mu.Lock()
	m := f.members[name]
	f.mu.Unlock()
	if m == nil {
		m = &member{name: name, dir: f.t.TempDir()}
	}
	var err error
	m.store, err = store.Open(filepath.Join(m.dir, node.StoreFile), store.Options{Now: f.clock.Now, NoSync: true})
	if err != nil {
		f.t.Fatal(err)
	}
	feed, err := sportmonks.New(sportmonks.Config{
		BaseURL: "http://127.0.0.1/api/v2.0", Token: f.token, Clock: f.clock, Transport: replay.Transport(f.replays), CallsPerHour: unlimited,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	c := node.DefaultCloud()
	c.Region, c.LeaseTTL = "sim", fleetTTL
	m.link = f.net.Link(name, f.clock.Now, nil)
	log := slog.New(slog.NewTextHandler(testWriter{f.t, name}, &slog.HandlerOptions{Level: slog.LevelWarn}))
	m.node, err = openPlayed(f.t.Context(), "", node.Parts{
		Clock: f.clock, Speed: "30x", Log: log, Store: m.store, Cloud: &node.Cloud{Config: c, Name: "sim", Items: m.link, Locks: m.link.Locks},
	}, &Settings{Mount: "/cricket", Leagues: []string{poll.AllLeagues}}, Outside{Feed: withoutBalls{feed}, Sender: f.sender})
	if err != nil {
		f.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	done := make(chan error, 1)
	go func() { done <- m.node.Run(ctx, ln) }()
	m.stop = sync.OnceValue(func() error {
		cancel()
		err := <-done
		f.mu.Lock()
		delete(f.members, name)
		f.mu.Unlock()
		return err
	})
	f.mu.Lock()
	f.members[name] = m
	f.mu.Unlock()
	return m
}

// sender returns a client of the push service. All nodes have the same key.
func (f *fleet) sender(s *store.Store) (push.Sender, error) {
	account := f.box.Account()
	return apns.New(apns.Config{
		Host: f.apns, BundleID: account.BundleID, TeamID: account.TeamID, KeyID: account.KeyID, Key: account.Key, RootCAs: account.RootCAs,
		Tokens: push.Bearers(s), Fleet: true,
	})
}

// testWriter writes a node's warnings to the test's log.
type testWriter struct {
	t    *testing.T
	name string
}

func (w testWriter) Write(p []byte) (int, error) {
	if w.t.Context().Err() == nil {
		w.t.Logf("%s: %s", w.name, strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

// kill ends a node as a crash does: the cloud hears nothing from it at its end.
func (f *fleet) kill(m *member) {
	f.t.Helper()
	m.link.Kill()
	_ = m.stop()
	if err := m.store.Close(); err != nil {
		f.t.Error(err)
	}
}

// end ends all nodes.
func (f *fleet) end() {
	for _, m := range f.alive() {
		if err := m.stop(); err != nil {
			f.t.Errorf("%s: %v", m.name, err)
		}
		if err := m.store.Close(); err != nil {
			f.t.Error(err)
		}
	}
}

func (f *fleet) alive() (out []*member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *member) int { return strings.Compare(a.name, b.name) })
	return out
}

// until waits in real time until ok returns true.
func (f *fleet) until(what string, ok func() bool) {
	f.t.Helper()
	wait.Until(f.t, what, ok)
}

// play starts a recorded match on the feed, with some balls already bowled.
func (f *fleet) play(recording string, balls int) (matchID string) {
	f.t.Helper()
	p, err := f.replays.Start(replay.StartReplay{RecordingID: recording, Speed: 1})
	if err == nil {
		p, err = f.replays.Control(p.ID, replay.Control{Action: "seek", Position: balls})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return p.MatchID
}

// register is the app on a phone: it registers its activity with a node that is alive.
func (f *fleet) register(ctx context.Context, p sandbox.Phone, a sandbox.Activity) error {
	alive := f.alive()
	if len(alive) == 0 {
		return errors.New("no node is alive")
	}
	if err := alive[0].ensure(ctx, a.MatchID, p.UserID); err != nil {
		return err
	}
	return alive[0].store.Update(ctx, func(tx *store.Tx) error {
		_, err := phone.Activities{}.Register(tx, a.MatchID, p.UserID, p.DeviceID, a.UpdateToken, a.StartedAt)
		return err
	})
}

// follow makes a phone's user follow a match at any node that knows it. The app tries to register its activity until it
// succeeds, because the start push is not repeated.
func (f *fleet) follow(name, match string) {
	f.t.Helper()
	app := func(ctx context.Context, p sandbox.Phone, a sandbox.Activity) error {
		if f.register(ctx, p, a) == nil {
			return nil
		}
		f.apps.Go(func() {
			var last error
			registered := func() bool {
				last = f.register(f.t.Context(), p, a)
				return last == nil || f.t.Context().Err() != nil
			}
			if err := wait.Try(0, p.Name+" registers its activity", registered, func() any { return last }); err != nil {
				f.t.Error(err)
			}
		})
		return nil
	}
	p, err := f.box.AddPhone(sandbox.Phone{Name: name, UserID: "user-" + name, DeviceID: name}, app)
	if err != nil {
		f.t.Fatal(err)
	}
	f.until(name+" follows", func() bool {
		for _, m := range f.alive() {
			if err = m.ensure(f.t.Context(), match, p.UserID); err != nil {
				f.t.Fatal(err)
			}
			err = m.store.Update(f.t.Context(), func(tx *store.Tx) error {
				if _, _, err := (phone.Follows{}).Add(tx, match, p.UserID, 0); err != nil {
					return err
				}
				_, err := phone.Devices{}.Register(tx, phone.Device{
					UserID: p.UserID, DeviceToken: p.DeviceToken, DeviceID: p.DeviceID, Platform: "ios", PushToStartToken: p.PushToStartToken,
				})
				return err
			})
			if err == nil {
				return true
			}
		}
		return false
	})
}

// ensure reads the rows that a user's request needs from the cloud, as the routes do.
func (m *member) ensure(ctx context.Context, match, user string) error {
	for table, key := range map[string]attr.Item{
		tables.Fixtures: {"matchId": attr.S(match)}, tables.ActiveMatches: {"matchId": attr.S(match)},
		tables.Devices: {"userId": attr.S(user)}, tables.LiveActivities: {"matchId": attr.S(match)},
	} {
		if err := m.node.host.Sync.Ensure(ctx, table, key); err != nil {
			return err
		}
	}
	return nil
}

// row returns a match's row in the cloud.
func (f *fleet) row(match string) attr.Item {
	return f.cloud.Item(tables.ActiveMatches, attr.Item{"matchId": attr.S(match)})
}

// shares counts the matches that each node holds, by their rows in the cloud.
func (f *fleet) shares(matches []string) map[string]int {
	out := map[string]int{}
	for _, id := range matches {
		out[f.row(id)["instanceId"].Str()]++
	}
	return out
}

// ids returns the running members by the ids of their nodes.
func (f *fleet) ids() map[string]*member {
	out := map[string]*member{}
	for _, m := range f.alive() {
		out[m.store.Node()] = m
	}
	return out
}

// alerts counts the alerts sent to each phone, without those of starts.
func (f *fleet) alerts() map[string]map[string]int {
	out := map[string]map[string]int{}
	for _, r := range f.box.Records(0) {
		if r.Alert == nil || r.Event == "start" || r.Status != 200 {
			continue
		}
		if out[r.Phone] == nil {
			out[r.Phone] = map[string]int{}
		}
		out[r.Phone][r.Alert.Title+": "+r.Alert.Body]++
	}
	return out
}

// events returns the events of a match as the cloud has them.
func (f *fleet) events(match string) (out []cricket.Event) {
	f.t.Helper()
	for _, item := range f.cloud.Items(tables.Events) {
		var e cricket.Event
		if item["matchId"].Str() != match {
			continue
		}
		if err := attr.Unmarshal(item, &e); err != nil {
			f.t.Error(err)
		}
		out = append(out, e)
	}
	return out
}

// history checks the writes of a match's row: fences never fall, each fence belongs to one node, and no gap is too long.
func (f *fleet) history(match string, longest time.Duration) {
	f.t.Helper()
	var fence int64
	var node string
	var last time.Time
	for _, e := range f.cloud.Log(0) {
		if e.Table != tables.ActiveMatches || e.Key["matchId"].Str() != match || e.New == nil {
			continue
		}
		now, _ := e.New["_f"].Int()
		by := e.New["instanceId"].Str()
		switch {
		case now < fence:
			f.t.Errorf("match %s: fence %d after %d", match, now, fence)
		case now == fence && by != node:
			f.t.Errorf("match %s: %s and %s wrote under fence %d", match, node, by, fence)
		}
		if gap := e.At.Sub(last); !last.IsZero() && gap > longest && e.Old["status"].Str() != cricket.ActiveEnded {
			f.t.Errorf("match %s was silent for %s, until %s by %s", match, gap, e.At.Format("15:04:05"), by)
		}
		fence, node, last = now, by, e.At
	}
}

// display returns what a node shows of a match, without the update time.
func (f *fleet) display(m *member, match string) string {
	f.t.Helper()
	var state string
	err := m.store.View(f.t.Context(), func(tx *store.Tx) error {
		item, err := tx.Get(tables.Display, attr.Item{"cacheKey": attr.S(tables.DisplayKey(match))})
		state, _, _ = strings.Cut(item["state"].Str(), `,"updatedAt":`)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return state
}

// Three nodes share four matches. One dies in play and comes back; others take its matches over in time. Every event exists once,
// no phone gets an alert twice, and in the end all nodes show the same.
func TestFleetOfThree(t *testing.T) { testFleet(t, 3) }

func testFleet(t *testing.T, nodes int) {
	f := newFleet(t)
	defer f.end()
	for i := range nodes {
		f.start(fmt.Sprintf("node%d", i))
	}
	var matches []string
	for _, rec := range []struct {
		id    string
		balls int // already bowled; some two dozen are left
	}{{"1192877", 201}, {"1208093", 220}, {"1195619", 220}, {"1226827", 226}} {
		matches = append(matches, f.play(rec.id, rec.balls))
	}
	for i, id := range matches {
		f.follow(fmt.Sprintf("phone%d", i), id)
	}
	f.until("the matches are shared", func() bool {
		shares := f.shares(matches)
		if len(shares) != nodes || shares[""] != 0 {
			return false
		}
		for _, n := range shares {
			if n > (len(matches)+nodes-1)/nodes {
				return false
			}
		}
		return true
	})
	f.until("every phone shows its match", func() bool {
		n := 0
		for _, s := range f.cloud.Items(tables.LiveActivities) {
			if s["status"].Str() == string(phone.SessionActive) {
				n++
			}
		}
		return n == len(matches)
	})
	victim := f.ids()[f.row(matches[0])["instanceId"].Str()]
	dead := victim.store.Node()
	f.kill(victim)
	f.until("its matches are taken over", func() bool { return f.shares(matches)[dead] == 0 })
	f.start(victim.name)
	f.until("the matches have results", func() bool {
		return !slices.ContainsFunc(matches, func(id string) bool { return f.row(id)["finishedAt"].IsZero() })
	})
	var differs string
	f.until("all nodes show the same", func() bool {
		was := differs
		if differs = f.sameDisplays(matches); differs != was && differs != "" {
			t.Log(differs)
		}
		return differs == ""
	})
	f.check(matches)
}

// sameDisplays returns what differs between the nodes; empty: nothing.
func (f *fleet) sameDisplays(matches []string) string {
	for _, id := range matches {
		all := f.alive()
		for _, m := range all[1:] {
			if a, b := f.display(all[0], id), f.display(m, id); a != b || a == "" {
				return fmt.Sprintf("match %s\n%s: %s\n%s: %s", id, all[0].name, a, m.name, b)
			}
		}
	}
	return ""
}

// check compares the alerts of the phones with the events in the cloud.
func (f *fleet) check(matches []string) {
	f.t.Helper()
	alerts := f.alerts()
	for i, id := range matches {
		phone := fmt.Sprintf("phone%d", i)
		for text, n := range alerts[phone] {
			if n != 1 {
				f.t.Errorf("%s got %q %d times", phone, text, n)
			}
		}
		results, lost, heard := 0, 0, map[string]bool{}
		for text := range alerts[phone] {
			_, body, _ := strings.Cut(text, ": ")
			heard[body] = true
		}
		for _, e := range f.events(id) {
			if e.Key == "result" {
				results++
			}
			body, known := heardOf(heard, e.Text)
			switch {
			case known:
				delete(heard, body)
				if !e.Alert {
					f.t.Errorf("%s got an alert for an event without one: %+v", phone, e)
				}
			case e.Alert:
				lost++ // with the node that had claimed it, or before the phone followed
				f.t.Logf("%s did not get %q of %s", phone, e.Text, e.At.Format("15:04:05"))
			}
		}
		if results != 1 || len(heard) > 0 || lost > 1 {
			f.t.Errorf("match %s has %d results; %s missed %d alerts and got some of no event: %v", id, results, phone, lost, heard)
		}
		f.history(id, fleetSilence)
	}
}

// heardOf returns the alert body of a text. The body is cut if the text is too long for an alert.
func heardOf(heard map[string]bool, text string) (body string, known bool) {
	for body := range heard {
		if sameStart(text, body) {
			return body, true
		}
	}
	return "", false
}
