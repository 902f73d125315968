package push

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// BenchmarkFanout takes one new score to 10,000 phones of one match, with answers after 50 ms: from the commit of the
// display until Apple has accepted the last push. The goal is one poll interval.
func BenchmarkFanout(b *testing.B) {
	const phones = 10_000
	f := newFanout(b, phones)
	b.ResetTimer()
	for i := range b.N {
		f.score(b, i+1)
		f.wait(b, (i+2)*phones)
		b.StopTimer()
		if err := clock.Sleep(b.Context(), clock.Real(), spacing); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(phones*float64(b.N)/b.Elapsed().Seconds(), "pushes/s")
}

type fanout struct {
	s     *store.Store
	coord *Coordinator
}

// newFanout starts the activities of all phones.
func newFanout(b *testing.B, phones int) *fanout {
	b.Helper()
	wall := clock.Real()
	f := &fanout{s: storetest.OpenWith(b, filepath.Join(b.TempDir(), "store.db"), store.Options{}, cricket.Tables()...)}
	box, err := sandbox.New(sandbox.Config{Clock: wall, Delay: 50 * time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- box.Run(ctx) }()
	url, err := box.URL(ctx)
	if err != nil {
		b.Fatal(err)
	}
	acc := box.Account()
	client, err := apns.New(apns.Config{
		Host: url, BundleID: acc.BundleID, TeamID: acc.TeamID, KeyID: acc.KeyID, Key: acc.Key, RootCAs: acc.RootCAs,
	})
	if err != nil {
		b.Fatal(err)
	}
	f.audience(b, box, phones)
	f.score(b, 0)
	if f.coord, err = New(Config{Store: f.s, Sender: client, Clock: wall}); err != nil {
		b.Fatal(err)
	}
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
	f.wait(b, phones)
	return f
}

// audience has every user follow the match, and every app hand in its update token.
func (f *fanout) audience(b *testing.B, box *sandbox.Sandbox, phones int) {
	b.Helper()
	app := func(ctx context.Context, p sandbox.Phone, a sandbox.Activity) error {
		return f.s.Update(ctx, func(tx *store.Tx) error {
			_, err := cricket.Activities{}.Register(tx, a.MatchID, p.UserID, p.DeviceID, a.UpdateToken, a.StartedAt)
			return err
		})
	}
	err := f.s.Update(b.Context(), func(tx *store.Tx) error {
		for table, row := range map[string]any{
			cricket.TableFixtures: cricket.Fixture{
				MatchID: "7", StartTime: tx.Now(), LeagueCode: "CWC", Phase: cricket.PhaseLive,
			},
			cricket.TableActiveMatches: cricket.State{
				MatchID: "7", Status: cricket.ActiveLive, MatchPhase: cricket.PhaseLive,
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
		for i := range phones {
			user := fmt.Sprintf("u%05d", i)
			p, err := box.AddPhone(sandbox.Phone{Name: user, UserID: user, DeviceID: "d" + user}, app)
			if err != nil {
				return err
			}
			if _, err := (cricket.Devices{}).Register(tx, cricket.Device{
				UserID: user, DeviceID: p.DeviceID, DeviceToken: p.DeviceToken, PushToStartToken: p.PushToStartToken, Platform: "ios",
			}); err != nil {
				return err
			}
			if _, _, err := (cricket.Follows{}).Add(tx, "7", user, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// score commits a display.
func (f *fanout) score(b *testing.B, runs int) {
	b.Helper()
	r := &rig{ctx: b.Context(), s: f.s}
	if err := f.s.Update(b.Context(), func(tx *store.Tx) error { return r.tick(tx, "7", runs, "") }); err != nil {
		b.Fatal(err)
	}
}

// wait waits until so many pushes have been accepted.
func (f *fanout) wait(b *testing.B, accepted int) {
	b.Helper()
	for {
		v, err := f.coord.View(b.Context(), "7")
		if err != nil {
			b.Fatal(err)
		}
		if v.Pushes.Accepted >= accepted {
			return
		}
		if err := clock.Sleep(b.Context(), clock.Real(), 5*time.Millisecond); err != nil {
			b.Fatal(err)
		}
	}
}
