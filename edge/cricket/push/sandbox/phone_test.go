package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

func TestPushToStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	if a := r.began[0]; a.MatchID != "7" || token == "" || !a.StartedAt.Equal(start) {
		t.Errorf("activity %+v", a)
	}
	v := r.view()
	if len(v.Activities) != 1 || v.Activities[0].Compact != (Compact{"NZ 3/0", "0.2 ov"}) {
		t.Errorf("view %+v", v.Activities)
	}
	if len(v.Alerts) != 1 || v.Alerts[0].Body != "It has begun" || v.UrgentLastHour != 1 {
		t.Errorf("alerts %+v, urgent %d", v.Alerts, v.UrgentLastHour)
	}
	// A second start is a second card, and the first continues.
	second := r.begin()
	if v := r.view(); len(v.Activities) != 2 || second == token {
		t.Errorf("after a second start: %+v", v.Activities)
	}
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	r.Unregister(token)
	if v := r.view(); len(v.Activities) != 1 {
		t.Errorf("the card of a dead token stays: %+v", v.Activities)
	}
}

// TestIgnored sends what Apple accepts and a phone does not show.
func TestIgnored(t *testing.T) {
	t.Parallel()
	state := func(old, replacement string) func(string) string {
		return func(body string) string {
			changed := strings.Replace(body, old, replacement, 1)
			if changed == body {
				panic("nothing replaced: " + old)
			}
			return changed
		}
	}
	for _, tc := range []struct {
		name   string
		start  bool
		change func(string) string
		why    string
	}{
		{"not JSON", false, func(string) string { return "score!" }, "not JSON"},
		{"no aps", false, func(string) string { return "{}" }, "no aps"},
		{"start without alert", true, state(`"alert"`, `"alrt"`), "start without alert"},
		{"start of another type", true, state("MatchAttributes", "Other"), "attributes-type"},
		{"start without attributes", true, state(`"attributes":`, `"attribute":`), "start without attributes"},
		{"attributes lack the match", true, state(`"matchId":"7",`, ``), "matchId is missing"},
		{"update to a start token", true, state(`"start"`, `"update"`), "not a start"},
		{"start to an update token", false, state(`"update"`, `"start"`), "neither update nor end"},
		{"no state", false, state(`"content-state"`, `"content"`), "no content-state"},
		{"a property is missing", false, state(`"phase":"live",`, ``), "phase is missing"},
		{"a property is unknown", false, state(`"phase"`, `"extra":1,"phase"`), `unknown field "extra"`},
		{"a property is null", false, state(`"live"`, `null`), "phase is missing"},
		{"nested property is missing", false, state(`"code":"NZ",`, ``), "teams[0].code is missing"},
		{"a name in another case", false, state(`"phase"`, `"Phase"`), "phase is missing"},
		{"an element is null", false, state(`"lastBalls":["1"`, `"lastBalls":[null`), "lastBalls[0] is missing"},
		{"a string for a number", false, state(`"runs":3`, `"runs":"3"`), "cannot unmarshal string into Go struct field ContentTeam.teams.runs"},
		{"a fraction for an integer", false, state(`"runs":3`, `"runs":3.5`), "cannot unmarshal number 3.5 into Go struct field ContentTeam.teams.runs"},
		{"an RFC 3339 date", false, state(`585822600.5`, `"2019-07-14T09:30:00Z"`), "invalid syntax"},
		{"no timestamp", false, state(`"timestamp"`, `"time"`), "timestamp is missing"},
		{"milliseconds", false, state(fmt.Sprint(start.Unix()+1), fmt.Sprint(start.UnixMilli()+1000)), "timestamp is not in seconds"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, Config{})
			token, body := r.phone.PushToStartToken, startBody(r.clk.Now())
			if !tc.start {
				token = r.begin()
				body = updateBody(r.clk.Now(), "update", "")
			}
			before := len(r.began)
			r.accepted(r.newPush(token, tc.change(body)))
			v := r.view()
			if v.Ignored != 1 || !strings.Contains(v.IgnoredWhy, tc.why) {
				t.Errorf("ignored %d because %q, want %q", v.Ignored, v.IgnoredWhy, tc.why)
			}
			if len(r.began) != before {
				t.Error("an activity began")
			}
			recs := r.Records(0)
			if shown := recs[len(recs)-1].Shown; !strings.Contains(shown, tc.why) {
				t.Errorf("the record says %q", shown)
			}
		})
	}
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	newer := strings.Replace(updateBody(r.clk.Now(), "update", ""), `"runs":3`, `"runs":7`, 1)
	r.accepted(r.newPush(token, newer))
	r.pass(time.Second)
	r.accepted(r.newPush(token, updateBody(start, "update", ""))) // as if it had been held up on the way
	v := r.view()
	if got := v.Activities[0].Compact.Leading; got != "NZ 7/0" || v.Ignored != 1 {
		t.Errorf("shows %s, ignored %d", got, v.Ignored)
	}
	r.pass(time.Second)
	same := strings.Replace(newer, `"runs":7`, `"runs":8`, 1) // same timestamp: shown
	r.accepted(r.newPush(token, same))
	if got := r.view().Activities[0].Compact.Leading; got != "NZ 8/0" {
		t.Errorf("shows %s", got)
	}
}

func TestUrgentBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin() // takes one
	for range urgentPerHour + 3 {
		r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
		r.pass(time.Minute)
	}
	if v := r.view(); v.UrgentLastHour != urgentPerHour || v.Ignored != 4 {
		t.Errorf("urgent %d, ignored %d (%s)", v.UrgentLastHour, v.Ignored, v.IgnoredWhy)
	}
	p := r.newPush(token, updateBody(r.clk.Now(), "update", ""))
	p.header.Set("Apns-Priority", "5")
	r.accepted(p)
	if v := r.view(); v.Ignored != 4 {
		t.Error("a normal push was metered")
	}
	r.pass(time.Hour)
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if v := r.view(); v.Ignored != 4 || v.UrgentLastHour != 1 {
		t.Errorf("after an hour: urgent %d, ignored %d", v.UrgentLastHour, v.Ignored)
	}
}

func TestStaleEndAndDismissal(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", fmt.Sprintf(`,"stale-date":%d`, r.clk.Now().Unix()+60))))
	if r.view().Activities[0].Stale {
		t.Error("stale too soon")
	}
	r.pass(time.Minute)
	if !r.view().Activities[0].Stale {
		t.Error("not stale after its date")
	}
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "end", fmt.Sprintf(`,"dismissal-date":%d`, r.clk.Now().Unix()+900))))
	if v := r.view(); !v.Activities[0].Ended || v.Activities[0].Stale {
		t.Errorf("after the end: %+v", v.Activities[0])
	}
	r.pass(time.Second)
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if v := r.view(); v.IgnoredWhy != "the activity has ended" {
		t.Errorf("after the end an update was %q", v.IgnoredWhy)
	}
	r.pass(15 * time.Minute)
	if v := r.view(); len(v.Activities) != 0 {
		t.Error("still on the lock screen after its dismissal")
	}
	if a := r.do(r.newPush(token, updateBody(r.clk.Now(), "update", ""))); a.reason != "ExpiredToken" {
		t.Errorf("push to a dismissed activity: %+v", a)
	}
}

func TestLifeOfEightHours(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	token := r.begin()
	r.pass(activityLife)
	if a := r.do(r.newPush(token, updateBody(r.clk.Now(), "update", ""))); a.status != 410 || a.reason != "ExpiredToken" {
		t.Errorf("after eight hours: %+v", a)
	}
	if v := r.view(); len(v.Activities) != 1 || !v.Activities[0].Ended {
		t.Errorf("after eight hours: %+v", v.Activities)
	}
	r.pass(lockScreenLife)
	if v := r.view(); len(v.Activities) != 0 {
		t.Error("on the lock screen after twelve hours")
	}
}

func TestRotateAndDismiss(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	old := r.begin()
	if err := r.Rotate(t.Context(), "d1", "7"); err != nil {
		t.Fatal(err)
	}
	token := r.began[1].UpdateToken
	if a := r.do(r.newPush(old, updateBody(r.clk.Now(), "update", ""))); a.reason != "ExpiredToken" {
		t.Errorf("push to the old token: %+v", a)
	}
	r.accepted(r.newPush(token, updateBody(r.clk.Now(), "update", "")))
	if err := r.Dismiss(t.Context(), "d1", "7"); err != nil {
		t.Fatal(err)
	}
	if v := r.view(); len(v.Activities) != 0 {
		t.Error("dismissed and still there")
	}
	if err := r.Dismiss(t.Context(), "d1", "7"); err == nil {
		t.Error("dismissed twice")
	}
}

func TestAlertToTheApp(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	p := r.newPush(r.phone.DeviceToken, `{"aps":{"alert":{"title":"Hello","body":"you","sound":"default"}}}`)
	p.header.Set("Apns-Topic", r.cfg.BundleID)
	p.header.Set("Apns-Push-Type", "alert")
	p.header.Set("Apns-Collapse-Id", "x")
	r.accepted(p)
	if v := r.view(); len(v.Alerts) != 1 || v.Alerts[0].Title != "Hello" {
		t.Errorf("alerts %+v", v.Alerts)
	}
	if _, err := json.Marshal(r.Phones()); err != nil {
		t.Error(err)
	}
}

func TestAppFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	ph, err := r.AddPhone(Phone{Name: "Bob", DeviceID: "d2"}, func(context.Context, Phone, Activity) error {
		return errors.New("no network")
	})
	if err != nil {
		t.Fatal(err)
	}
	r.accepted(r.newPush(ph.PushToStartToken, startBody(r.clk.Now())))
	recs := r.Records(0)
	if !strings.Contains(recs[0].Shown, "could not register") {
		t.Errorf("record %+v", recs[0])
	}
	if _, err := r.AddPhone(Phone{}, nil); err == nil {
		t.Error("a phone without a name")
	}
}

// TestLimits covers what else the system does on its own.
func TestLimits(t *testing.T) {
	t.Parallel()
	t.Run("four hours on the lock screen", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, Config{})
		token := r.begin()
		far := fmt.Sprintf(`,"dismissal-date":%d`, r.clk.Now().Add(24*time.Hour).Unix())
		r.accepted(r.newPush(token, updateBody(r.clk.Now(), "end", far)))
		r.pass(lockScreenLife - time.Second)
		if len(r.view().Activities) != 1 {
			t.Error("gone before four hours")
		}
		r.pass(time.Second)
		if len(r.view().Activities) != 0 {
			t.Error("there after four hours")
		}
	})
	t.Run("five activities", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, Config{})
		for i := range maxActivities + 1 {
			body := strings.Replace(startBody(r.clk.Now()), `"matchId":"7"`, fmt.Sprintf(`"matchId":"%d"`, i), 1)
			r.accepted(r.newPush(r.phone.PushToStartToken, body))
			r.pass(time.Second)
		}
		if v := r.view(); len(v.Activities) != maxActivities || v.Ignored != 1 {
			t.Errorf("%d activities, %d ignored", len(v.Activities), v.Ignored)
		}
	})
	t.Run("expired", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, Config{})
		p := r.newPush(r.begin(), updateBody(r.clk.Now(), "update", ""))
		p.header.Set("Apns-Expiration", fmt.Sprint(r.clk.Now().Unix()-1))
		r.accepted(p)
		if v := r.view(); v.Ignored != 1 || v.IgnoredWhy != "expired before it arrived" {
			t.Errorf("ignored %d: %s", v.Ignored, v.IgnoredWhy)
		}
	})
}

// FuzzPayload decodes anything: it is refused or understood, and nothing panics.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(startBody(start)))
	f.Add([]byte(updateBody(start, "update", `,"stale-date":1`)))
	f.Add([]byte(`{"aps":{"timestamp":1e3,"content-state":{"teams":[null]}}}`))
	f.Add([]byte(updateBody(start, "update", `,"content-state":{"lastBalls":[],"LastBalls":["1"]}`)))
	f.Add([]byte(`{"aps":null}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := decodePayload(body)
		if err != nil {
			return
		}
		if p.wantStart(false) == nil && matchOf(p.Attributes) == "" && !strings.Contains(string(p.Attributes), `""`) {
			t.Error("a start without a match")
		}
		_ = p.wantUpdate(false)
		_, _ = p.stateTime(start)
		_ = compactOf(p.ContentState)
	})
}

// Phones do not show what Apple has accepted: a start on a system before 17.2 has no token to go to, more than ten starts in a short time are
// dropped, and so is any start on a phone that drops them. An app that was killed reports no token, and one may report an old one.
func TestPhonesThatShowNoCard(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	add := func(p Phone) (Phone, *[]string) {
		t.Helper()
		var reported []string
		p.DeviceID = p.Name
		p, err := r.AddPhone(p, func(_ context.Context, _ Phone, a Activity) error {
			reported = append(reported, a.UpdateToken)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return p, &reported
	}
	for system, want := range map[string]bool{"17.1": false, "16.7": false, "17.2": true, "18.0": true, "": true} {
		if p, _ := add(Phone{Name: "system " + system, System: system}); (p.PushToStartToken != "") != want {
			t.Errorf("iOS %q: push-to-start token %q", system, p.PushToStartToken)
		}
	}
	send := func(p Phone, starts int) PhoneView {
		t.Helper()
		for range starts {
			r.accepted(r.newPush(p.PushToStartToken, startBody(r.clk.Now())))
			r.pass(time.Second)
		}
		for _, v := range r.Phones() {
			if v.Name == p.Name {
				return v
			}
		}
		t.Fatal("no view")
		return PhoneView{}
	}
	blind, tokens := add(Phone{Name: "blind", NeverShows: true})
	if v := send(blind, 1); len(v.Activities) != 0 || v.Ignored != 1 || len(*tokens) != 0 {
		t.Errorf("a phone that drops starts: %+v, %q", v, *tokens)
	}
	killed, tokens := add(Phone{Name: "killed"})
	r.Kill("killed")
	if v := send(killed, 1); len(v.Activities) != 1 || len(*tokens) != 0 {
		t.Errorf("a killed app: %d cards, reported %q", len(v.Activities), *tokens)
	}
	old, tokens := add(Phone{Name: "old", OldToken: true})
	send(old, 2)
	if len(*tokens) != 2 {
		t.Fatalf("reported %q", *tokens)
	}
	if a := r.do(r.newPush((*tokens)[0], updateBody(r.clk.Now(), "update", ""))); a.status != 410 {
		t.Errorf("the old token: %+v", a)
	}
	r.accepted(r.newPush((*tokens)[1], updateBody(r.clk.Now(), "update", "")))
	hasty, tokens := add(Phone{Name: "hasty"})
	for range startsAtOnce {
		send(hasty, 1)
		r.Unregister((*tokens)[len(*tokens)-1]) // its card leaves the screen
	}
	if v := send(hasty, 1); v.Ignored != 1 || !strings.Contains(v.IgnoredWhy, "too many starts") {
		t.Errorf("eleven starts: %+v", v)
	}
	r.pass(startsWithin)
	if v := send(hasty, 1); v.Ignored != 1 {
		t.Errorf("a start later: %+v", v)
	}
}
