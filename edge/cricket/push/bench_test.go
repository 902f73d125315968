package push

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/hang"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// BenchmarkFanout sends one new score of each match to its 10,000 phones, with answers after 50 ms. The time is from the
// commit of the displays until Apple has accepted the last push. The goal for one match is one poll interval, 2.5 s. With
// channels there is one push per match.
func BenchmarkFanout(b *testing.B) {
	for _, c := range []struct {
		matches  int
		channels bool
	}{{1, false}, {20, false}, {1, true}, {20, true}} {
		name := fmt.Sprintf("matches=%d", c.matches)
		if c.channels {
			name += ",channels"
		}
		b.Run(name, func(b *testing.B) { fanoutOf(b, c.matches, c.channels) })
	}
}

// phonesOfMatch returns the number of followers of each match; with -short it is small, to check that the benchmark works.
func phonesOfMatch() int {
	if testing.Short() {
		return 500
	}
	return 10_000
}

func fanoutOf(b *testing.B, matches int, channels bool) {
	f := newFanout(b, matches, channels)
	each := phonesOfMatch()
	if channels {
		each = 1
	}
	var worst time.Duration
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		before := f.accepted(b)
		if err := clock.Sleep(b.Context(), clock.Real(), spacing); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began := time.Now()
		f.score(b, i+1)
		f.wait(b, before+matches*each)
		worst = max(worst, time.Since(began))
	}
	b.StopTimer()
	b.ReportMetric(float64(matches*each)*float64(b.N)/b.Elapsed().Seconds(), "pushes/s")
	b.ReportMetric(worst.Seconds(), "worst-s")
	if !channels { // with channels the heap would include the memory of the simulated phones
		b.ReportMetric(f.perSession, "B/session")
	}
}

type fanout struct {
	s          *store.Store
	coord      *Coordinator
	ids        []string
	perSession float64 // bytes of heap that the coordinator holds for a session
}

// newFanout starts the activities of all phones.
func newFanout(b *testing.B, matches int, channels bool) *fanout {
	b.Helper()
	wall := clock.Real()
	f := &fanout{s: storetest.OpenWith(b, filepath.Join(b.TempDir(), "store.db"), store.Options{NoSync: true}, tables.All()...)}
	for m := range matches {
		f.ids = append(f.ids, fmt.Sprint(m+1))
	}
	box, err := sandbox.New(sandbox.Config{Clock: wall, Delay: 50 * time.Millisecond, LogSize: 1})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- box.Run(ctx) }()
	acc := box.Account()
	client, err := apns.New(apns.Config{
		Host: box.URL(), BundleID: acc.BundleID, TeamID: acc.TeamID, KeyID: acc.KeyID, Key: acc.Key, RootCAs: acc.RootCAs,
	})
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Store: f.s, Sender: client, Clock: wall}
	if channels {
		cfg.Channels = client
		id, res := client.CreateChannel(ctx)
		if res.Action != apns.Accepted {
			b.Fatalf("%+v", res)
		}
		client.DeleteChannel(ctx, id)
	}
	first := phonesOfMatch()
	if channels {
		first = 1 // a start waits only 5 s for the channel of its match, so the others follow once it exists
	}
	for _, id := range f.ids {
		f.do(b, func(tx *store.Tx) error { return f.match(tx, id) })
	}
	f.audience(b, box, channels, 0, first)
	f.score(b, 0)
	if f.coord, err = New(cfg); err != nil {
		b.Fatal(err)
	}
	before := heap()
	ran := make(chan error, 1)
	go func() { ran <- f.coord.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		for _, err := range []error{<-ran, <-served} {
			if err != nil {
				b.Error(err)
			}
		}
		client.Close()
	})
	if channels {
		f.until(b, "matches with a channel", matches, f.withChannel)
		f.audience(b, box, channels, first, phonesOfMatch())
	}
	f.wait(b, matches*phonesOfMatch())
	f.perSession = (heap() - before) / float64(matches*phonesOfMatch())
	return f
}

// heap returns the bytes of live objects.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// audience makes the users of each match from first up to last follow it. Without channels their phones already run the
// activity, and the app has registered its token; with channels the coordinator starts it.
func (f *fanout) audience(b *testing.B, box *sandbox.Sandbox, channels bool, first, last int) {
	b.Helper()
	for _, id := range f.ids {
		for users := range slices.Chunk(f.users(id)[first:last], rowsAtOnce) {
			f.do(b, func(tx *store.Tx) error {
				for _, user := range users {
					if err := f.follower(tx, box, id, user, channels); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// users returns the followers of a match.
func (f *fanout) users(id string) (all []string) {
	for i := range phonesOfMatch() {
		all = append(all, fmt.Sprintf("u%s-%05d", id, i))
	}
	return all
}

func (f *fanout) do(b *testing.B, change func(*store.Tx) error) {
	b.Helper()
	if err := f.s.Update(b.Context(), change); err != nil {
		b.Fatal(err)
	}
}

func (f *fanout) match(tx *store.Tx, id string) error {
	for table, row := range map[string]any{
		tables.Fixtures: matches.Fixture{MatchID: id, StartTime: tx.Now(), LeagueCode: "CWC", Phase: cricket.PhaseLive},
		tables.ActiveMatches: cricket.State{
			MatchID: id, Status: cricket.ActiveLive, MatchPhase: cricket.PhaseLive,
		},
	} {
		item, err := attr.Marshal(row)
		if err != nil {
			return err
		}
		if _, err := tx.Put(store.PutItem{Table: table, Item: item}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fanout) follower(tx *store.Tx, box *sandbox.Sandbox, id, user string, channels bool) error {
	p, err := box.AddPhone(sandbox.Phone{Name: user, UserID: user, DeviceID: "d" + user, System: "18.0"}, nil)
	if err != nil {
		return err
	}
	device := phone.Device{UserID: user, DeviceID: p.DeviceID, DeviceToken: p.DeviceToken, PushToStartToken: p.PushToStartToken, Platform: "ios"}
	if channels {
		device.OSVersion = "18.0"
	}
	if _, err := (phone.Devices{}).Register(tx, device); err != nil {
		return err
	}
	if _, _, err := (phone.Follows{}).Add(tx, id, user, 0); err != nil || channels {
		return err
	}
	running, err := box.StartActivity(p.DeviceID, id)
	if err != nil {
		return err
	}
	_, err = phone.Activities{}.Register(tx, id, user, p.DeviceID, running, tx.Now())
	return err
}

// accepted returns how many pushes have been accepted.
func (f *fanout) accepted(b *testing.B) (n int) {
	b.Helper()
	for _, v := range f.views(b) {
		n += v.Pushes.Accepted
	}
	return n
}

// withChannel returns how many matches have a channel.
func (f *fanout) withChannel(b *testing.B) (n int) {
	b.Helper()
	for _, v := range f.views(b) {
		if v.Channel {
			n++
		}
	}
	return n
}

func (f *fanout) views(b *testing.B) (all []MatchView) {
	b.Helper()
	for _, id := range f.ids {
		v, err := f.coord.View(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// score commits a display of every match.
func (f *fanout) score(b *testing.B, runs int) {
	b.Helper()
	r := &rig{ctx: b.Context(), s: f.s}
	for _, id := range f.ids {
		if err := f.s.Update(b.Context(), func(tx *store.Tx) error { return r.tick(tx, id, runs, "") }); err != nil {
			b.Fatal(err)
		}
	}
}

// wait waits until the given number of pushes has been accepted.
func (f *fanout) wait(b *testing.B, accepted int) {
	b.Helper()
	f.until(b, "pushes accepted", accepted, f.accepted)
}

// until waits until count returns at least want. It fails if the count has not grown for a minute.
func (f *fanout) until(b *testing.B, what string, want int, count func(*testing.B) int) {
	b.Helper()
	most, since := 0, time.Now()
	for {
		n := count(b)
		if n >= want {
			return
		}
		if n > most {
			most, since = n, time.Now()
		}
		if time.Since(since) > hang.Limit(time.Minute) {
			b.Fatalf("%d %s, want %d; the number has not grown for a minute", n, what, want)
		}
		if err := clock.Sleep(b.Context(), clock.Real(), 5*time.Millisecond); err != nil {
			b.Fatal(err)
		}
	}
}
