package push

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/store"
)

// withPhones is a rig whose sender is the real client, over HTTP/2 and TLS, in front of the sandbox.
type withPhones struct {
	*rig
	box    *sandbox.Sandbox
	client *apns.Client
	phones []sandbox.Phone
	mute   atomic.Bool // the apps do not report their tokens
}

func newWithPhones(t *testing.T, phones int) *withPhones {
	t.Helper()
	r := &withPhones{rig: newRig(t)}
	r.after = 1000
	var err error
	if r.box, err = sandbox.New(sandbox.Config{Clock: r.clk, Seed: "test", LogSize: 200_000}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.box.Run(ctx) }()
	t.Cleanup(func() {
		r.halt()
		r.client.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("sandbox: %v", err)
		}
	})
	acc := r.box.Account()
	r.client, err = apns.New(apns.Config{
		Host: r.box.URL(), BundleID: acc.BundleID, TeamID: acc.TeamID, KeyID: acc.KeyID, Key: acc.Key, RootCAs: acc.RootCAs,
		Tokens: Bearers(r.s),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range phones {
		user := fmt.Sprintf("u%d", i)
		ph, err := r.box.AddPhone(sandbox.Phone{Name: user, UserID: user, DeviceID: "d-" + user}, r.app)
		if err != nil {
			t.Fatal(err)
		}
		r.phones = append(r.phones, ph)
	}
	return r
}

// app is the app on the phones: it registers its update token with the node.
func (r *withPhones) app(ctx context.Context, p sandbox.Phone, a sandbox.Activity) error {
	if r.mute.Load() {
		return nil
	}
	return r.s.Update(ctx, func(tx *store.Tx) error {
		_, err := phone.Activities{}.Register(tx, a.MatchID, p.UserID, p.DeviceID, a.UpdateToken, a.StartedAt)
		return err
	})
}

// followAll registers all phones with their tokens and makes their users follow a match.
func (r *withPhones) followAll(id string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		for _, p := range r.phones {
			_, err := phone.Devices{}.Register(tx, phone.Device{
				UserID: p.UserID, DeviceID: p.DeviceID, DeviceToken: p.DeviceToken, PushToStartToken: p.PushToStartToken,
				Platform: "ios", OSVersion: p.System,
			})
			if err != nil {
				return err
			}
			if _, _, err := (phone.Follows{}).Add(tx, id, p.UserID, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// shows checks what every phone shows, on one card.
func (r *withPhones) shows(when string, runs int, ended bool) {
	r.t.Helper()
	r.showsOn(1, when, runs, ended)
}

// showsOn checks how many cards every phone has, and what the newest shows.
func (r *withPhones) showsOn(cards int, when string, runs int, ended bool) {
	r.t.Helper()
	for _, v := range r.box.Phones() {
		if len(v.Activities) != cards {
			r.t.Errorf("%s: %s shows %d activities (%s)", when, v.Name, len(v.Activities), v.IgnoredWhy)
			continue
		}
		var s struct{ Teams []struct{ Runs int } }
		a := v.Activities[0]
		if err := json.Unmarshal(a.State, &s); err != nil || s.Teams[0].Runs != runs || a.Ended != ended {
			r.t.Errorf("%s: %s shows %d runs, ended %v; want %d, %v", when, v.Name, s.Teams[0].Runs, a.Ended, runs, ended)
		}
	}
}

// TestEndToEnd follows a match from the first start to the end, through the real client, on simulated phones.
func TestEndToEnd(t *testing.T) {
	r := newWithPhones(t, 5)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.followAll("7")
	r.run(r.client)
	r.pass(2 * time.Second)
	r.shows("after the start", 1, false)
	for i := range 30 {
		text := ""
		if i%5 == 0 {
			text = fmt.Sprintf("wicket %d", i)
		}
		r.score("7", 2+i, text)
		r.pass(38 * time.Second)
	}
	r.shows("in play", 31, false)
	if err := r.box.Rotate(t.Context(), "d-u0", "7"); err != nil {
		t.Fatal(err)
	}
	r.box.Unregister(r.session("7", "u1").UpdateToken) // the app was deleted and came back
	r.score("7", 40, "")
	r.pass(time.Minute)
	r.score("7", 41, "")
	r.pass(2 * time.Second)
	r.shows("after a rotation and a dead token", 41, false)
	r.active("7", cricket.ActiveLive, cricket.PhaseCompleted, r.clk.Now())
	r.score("7", 42, "NZ win")
	r.pass(16 * time.Minute)
	r.shows("after the end", 42, true)
	r.halt()
	for _, v := range r.box.Phones() {
		alerts := map[string]int{}
		for _, a := range v.Alerts {
			alerts[a.Body]++
		}
		for body, n := range alerts {
			if n > 1 && body != "The match is live." {
				t.Errorf("%s: %q shown %d times", v.Name, body, n)
			}
		}
		if len(alerts) != 8 || alerts["NZ win"] != 1 {
			t.Errorf("%s: alerts %v", v.Name, alerts)
		}
		if v.Ignored != 0 {
			t.Errorf("%s ignored %d of %d: %s", v.Name, v.Ignored, v.Received, v.IgnoredWhy)
		}
	}
	counts := r.box.Counts()
	if counts["410 Unregistered"] != 1 || len(counts) != 2 {
		t.Errorf("answers %v", counts)
	}
	v, err := r.coord.View(t.Context(), "7")
	if err != nil || v.Pushes.Accepted != counts["200"] || v.Pushes.Refused != 1 {
		t.Errorf("counted %+v, answered %v, %v", v.Pushes, counts, err)
	}
	if n := r.box.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// TestTestMatch plays three days of a Test. Activities are renewed before eight hours and ended at stumps.
func TestTestMatch(t *testing.T) {
	r := newWithPhones(t, 2)
	r.fixtureOf("7", "Test/5day")
	r.followAll("7")
	r.run(r.client)
	runs := 0
	for range 3 {
		r.live("7")
		for range 8 * 12 { // eight hours and a bit
			runs++
			r.score("7", runs, "")
			r.pass(5*time.Minute + time.Second)
		}
		r.shows("in the evening", runs, false)
		r.active("7", cricket.ActiveLive, cricket.PhaseStumps, time.Time{})
		r.pass(restAfter + 5*time.Second)
		r.shows("at stumps", runs, true)
		r.pass(15 * time.Hour)
	}
	for _, v := range r.box.Phones() {
		if v.Ignored != 0 {
			t.Errorf("%s ignored %d of %d: %s", v.Name, v.Ignored, v.Received, v.IgnoredWhy)
		}
	}
	if counts := r.box.Counts(); len(counts) != 1 {
		t.Errorf("answers %v", counts)
	}
}

// TestFaults makes Apple answer with every kind of error. At the end every phone shows the last state, on one card, and no
// alert was shown twice. A 410 is not among the answers, because it would be true only of a card that is gone.
func TestFaults(t *testing.T) {
	r := newWithPhones(t, 4)
	r.fixture("7")
	r.live("7")
	r.score("7", 0, "")
	r.followAll("7")
	replies := []sandbox.Reply{
		{Status: 503, Reason: "ServiceUnavailable", RetryAfter: "2"}, {Status: 500, Body: "<html>"}, {Lost: true}, {Reset: true},
		{Status: 429, Reason: "TooManyRequests"}, {GoAway: true}, {Status: 400, Reason: "IdleTimeout"},
		{Status: 413, Reason: "PayloadTooLarge"}, {Status: 503, Reason: "Shutdown"},
	}
	for i := range 200 {
		if i%3 == 0 {
			r.box.Script("", i+3, replies[i/3%len(replies)])
		}
	}
	r.run(r.client)
	for i := range 60 {
		text := ""
		if i%10 == 0 {
			text = fmt.Sprintf("wicket %d", i)
		}
		r.score("7", i+1, text)
		r.pass(30 * time.Second)
	}
	r.box.ClearScripts()
	r.pass(2 * time.Minute)
	r.shows("after the faults", 60, false)
	for _, v := range r.box.Phones() {
		seen := map[string]int{}
		for _, a := range v.Alerts {
			if seen[a.Body]++; seen[a.Body] > 1 && a.Title == "Wicket" {
				t.Errorf("%s: %q twice", v.Name, a.Body)
			}
		}
	}
}

// TestBearers keeps the provider token over restarts of the node.
func TestBearers(t *testing.T) {
	r := newRig(t)
	b := Bearers(r.s)
	if _, ok, err := b.Load(t.Context(), "k"); ok || err != nil {
		t.Errorf("found %v, %v", ok, err)
	}
	want := apns.Bearer{Token: "x.y.z", IssuedAt: time.Unix(1e9, 0).UTC(), Key: "k"}
	if err := b.Save(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	refused := apns.Bearer{IssuedAt: time.Unix(2e9, 0).UTC(), Key: "other", Refused: true}
	if err := b.Save(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := b.Load(t.Context(), "other"); !ok || err != nil || got != refused {
		t.Errorf("for another key: %+v, %v, %v", got, ok, err)
	}
	if got, ok, err := b.Load(t.Context(), "k"); !ok || err != nil || got != want {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
}
