package push

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/store"
)

// announce writes an event with an alert.
func (r *rig) announce(id string, e cricket.Event) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		return putAlert(tx, id, e)
	})
}

// urgentOfAnHour announces as many wickets of match 7 as an hour has urgent pushes, and returns how many alerts were urgent.
func (r *rig) urgentOfAnHour() (urgent int) {
	r.t.Helper()
	for n := range urgentHourly {
		r.announce("7", cricket.Event{Key: fmt.Sprintf("w:1:%d", n), Type: cricket.EventWicket, Text: "wicket"})
		r.pass(2 * time.Second)
		for _, p := range r.out.take() {
			if p.Alert != "" && p.Priority == apns.PriorityUrgent {
				urgent++
			}
		}
	}
	return urgent
}

// cardless registers a phone without a push-to-start token, whose user follows a match: Live Activities are off.
func (r *rig) cardless(id, user string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		d := phone.Device{UserID: user, DeviceID: "d-" + user, Platform: "ios", DeviceToken: token("dev " + user)}
		if _, err := (phone.Devices{}).Register(tx, d); err != nil {
			return err
		}
		_, _, err := phone.Follows{}.Add(tx, id, user, 0)
		return err
	})
}

func (r *rig) prefer(user string, p phone.Preference) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error { return phone.Devices{}.SetPreference(tx, user, p) })
}

// to lists what was sent to a token since the last take.
func to(all []sent, name string) (out []sent) {
	for _, p := range all {
		if p.Token == token(name) {
			out = append(out, p)
		}
	}
	return out
}

// bodies lists the texts of alerts.
func bodies(all []sent) (out []string) {
	for _, p := range all {
		out = append(out, p.Alert)
	}
	return out
}

// News before the first ball reaches followers, although no match is in play and no phone has a card.
func TestNewsBeforeTheFirstBall(t *testing.T) {
	for kind, text := range map[cricket.EventType]string{
		cricket.EventDelayed: "Start delayed", cricket.EventPostponed: "Match postponed", cricket.EventCancelled: "Match cancelled",
		cricket.EventAbandoned: "Match abandoned", cricket.EventNoResult: "No result",
	} {
		r := newRig(t)
		r.fixture("7")
		r.follow("7", "ada")
		r.active("7", cricket.ActiveIdle, cricket.PhasePrematch, time.Time{})
		r.run(r.out)
		r.settle()
		r.announce("7", cricket.Event{Key: string(kind), Type: kind, Text: text})
		r.pass(time.Minute)
		p := r.one()
		if p.Token != token("dev ada") || p.Type != apns.TypeAlert || p.Alert != text || p.Priority != apns.PriorityUrgent {
			t.Errorf("%+v", p)
		}
		if p.body["thread-id"] != "match-7" || p.body["interruption-level"] != "active" || p.body["sound"] != "default" || len(p.CollapseID) != 40 {
			t.Errorf("%v, collapse id %q", p.body, p.CollapseID)
		}
	}
}

// A phone without Live Activities is told at once, and its user's choice decides of what. A phone with a card hears everything there, and
// nothing twice.
func TestChoiceOfAlerts(t *testing.T) {
	news := []cricket.Event{
		{Key: "w:1:1", Type: cricket.EventWicket, Text: "wicket"},
		{Key: "m50:1:9", Type: cricket.EventFifty, Text: "fifty"},
		{Key: "corr:w:1:1", Type: cricket.EventCorrection, Text: "Correction: no wicket"},
		{Key: "result", Type: cricket.EventResult, Text: "won"},
	}
	for choice, want := range map[phone.AlertChoice][]string{
		"":                  {"wicket", "Correction: no wicket", "won"},
		phone.AlertsOff:     nil,
		phone.AlertsResults: {"won"},
		phone.AlertsWickets: {"wicket", "Correction: no wicket", "won"},
		phone.AlertsAll:     {"wicket", "fifty", "Correction: no wicket", "won"},
	} {
		t.Run(string(choice), func(t *testing.T) {
			r := newRig(t)
			r.ready(r.out)
			r.cardless("7", "bea")
			if choice != "" {
				r.prefer("bea", phone.Preference{Alerts: choice})
			}
			r.settle()
			r.out.take()
			var all []sent
			for _, e := range news {
				r.announce("7", e)
				r.pass(3 * time.Second)
				all = append(all, r.out.take()...)
			}
			r.pass(time.Hour / 2)
			all = append(all, r.out.take()...)
			got := to(all, "dev bea")
			if fmt.Sprint(bodies(got)) != fmt.Sprint(want) {
				t.Errorf("without a card: %q, want %q", bodies(got), want)
			}
			ids := map[string]string{}
			for _, p := range got {
				ids[p.Alert] = p.CollapseID
			}
			if len(got) > 2 && (ids["wicket"] != ids["Correction: no wicket"] || ids["wicket"] == ids["won"]) {
				t.Errorf("collapse ids %v", ids)
			}
			if n := len(to(all, "dev ada")); n != 0 {
				t.Errorf("the phone with a card got %d ordinary alerts", n)
			}
			told := 0
			for _, p := range to(all, "upd ada") {
				if p.Alert != "" {
					told++
				}
			}
			if told != len(news) {
				t.Errorf("the card got %d alerts of %d", told, len(news))
			}
		})
	}
}

// An alert waits for the card of a start that Apple has just accepted, and is told on it; after two minutes there is no card. Then the phone
// is told in the ordinary way, which is counted, and the row says why.
func TestCardThatDoesNotCome(t *testing.T) {
	for name, comes := range map[string]bool{"it comes": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.waits("7", "ada")
			r.pass(10 * time.Second)
			r.announce("7", cricket.Event{Key: "w:1:1", Type: cricket.EventWicket, Text: "first"})
			r.pass(20 * time.Second)
			r.none("while the card may come")
			if comes {
				r.activate("7", "ada", "upd ada")
			}
			r.pass(2 * time.Minute)
			r.announce("7", cricket.Event{Key: "w:1:2", Type: cricket.EventWicket, Text: "second"})
			r.pass(5 * time.Second)
			where, missing := "dev ada", 1
			if comes {
				where, missing = "upd ada", 0
			}
			var told []string
			for _, p := range r.out.take() {
				if p.Alert != "" {
					told = append(told, p.Alert)
					if p.Token != token(where) {
						t.Errorf("%q to %q", p.Alert, p.Token)
					}
				}
			}
			if fmt.Sprint(told) != "[first second]" {
				t.Errorf("told %q", told)
			}
			v, err := r.coord.View(t.Context(), "7")
			if err != nil || v.Missing != missing {
				t.Errorf("%d cards missing, %v", v.Missing, err)
			}
			if got := testutil.ToFloat64(r.coord.metrics.missing); got != float64(missing) {
				t.Errorf("the metric says %v", got)
			}
			if s := r.session("7", "ada"); s.NoCard == phone.NoCardMissing == comes {
				t.Errorf("row %+v", s)
			}
		})
	}
}

// A phone whose iOS is older than 17.2 is started no card, even if its app has registered a token for that. It is told in the ordinary way, at once.
func TestOlderSystem(t *testing.T) {
	r := newRig(t)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.do(func(tx *store.Tx) error {
		d := phone.Device{UserID: "ada", DeviceID: "d-ada", Platform: "ios", OSVersion: "17.1", DeviceToken: token("dev ada"), PushToStartToken: token("pts ada")}
		if _, err := (phone.Devices{}).Register(tx, d); err != nil {
			return err
		}
		_, _, err := phone.Follows{}.Add(tx, "7", "ada", 0)
		return err
	})
	r.run(r.out)
	r.pass(time.Minute)
	r.none("before the alert")
	r.announce("7", cricket.Event{Key: "w:1:1", Type: cricket.EventWicket, Text: "wicket"})
	r.pass(2 * time.Second)
	if p := r.one(); p.Token != token("dev ada") || p.Alert != "wicket" {
		t.Errorf("%+v", p)
	}
}

// A fresh push-to-start token starts the card again at once if the last one did not come; the same token does not.
func TestFreshTokenStartsAgain(t *testing.T) {
	r := newRig(t)
	r.waits("7", "ada")
	r.pass(tokenWait + time.Second)
	r.follow("7", "ada") // the same token
	r.pass(time.Hour)
	r.none("with the same token")
	r.do(func(tx *store.Tx) error {
		_, err := phone.Devices{}.SetPushToStart(tx, "ada", token("dev ada"), token("pts new"))
		return err
	})
	r.pass(time.Second)
	if p := r.one(); p.Event != "start" || p.Token != token("pts new") {
		t.Errorf("%+v", p)
	}
	if v, _ := r.coord.View(t.Context(), "7"); v.Missing != 0 {
		t.Errorf("%d cards missing", v.Missing)
	}
	r.pass(tokenWait)
	if v, _ := r.coord.View(t.Context(), "7"); v.Missing != 1 {
		t.Errorf("%d cards missing after the second start", v.Missing)
	}
}

// In the user's night, and over the hour's budget, an ordinary alert joins the list in silence.
func TestSilentAlerts(t *testing.T) {
	r := newRig(t) // 9:30 UTC
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.cardless("7", "bea")
	r.prefer("bea", phone.Preference{QuietFrom: "21:00", QuietTo: "06:00", TimeZone: "Pacific/Auckland"}) // 21:30 there
	r.run(r.out)
	r.settle()
	tell := func(n int) sent {
		t.Helper()
		r.announce("7", cricket.Event{Key: fmt.Sprintf("w:1:%d", n), Type: cricket.EventWicket, Text: "wicket"})
		r.pass(2 * time.Second)
		return r.one()
	}
	silent := func(p sent) bool {
		return p.Priority == apns.PriorityNormal && p.body["interruption-level"] == "passive" && p.body["sound"] == nil
	}
	if p := tell(0); !silent(p) {
		t.Errorf("at night: %+v", p)
	}
	r.prefer("bea", phone.Preference{})
	for n := range urgentHourly {
		if p := tell(n + 1); silent(p) {
			t.Errorf("alert %d of the hour is silent", n+1)
		}
	}
	if p := tell(urgentHourly + 1); !silent(p) {
		t.Errorf("over the budget: %+v", p)
	}
}

// A dead device token is forgotten, one that Apple rejects is left alone until the device registers again, and an answer that
// never came is no second alert.
func TestOrdinaryAlertRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		res   apns.Result
		first int // pushes of the first alert
		then  int // of the second
	}{
		"gone":     {apns.Result{Action: apns.Gone, Status: 410, Reason: "Unregistered", Gone: dayOne.AddDate(1, 0, 0)}, 1, 0},
		"rejected": {apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}, 1, 0},
		"lost":     {apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.fixture("7")
			r.live("7")
			r.score("7", 1, "")
			r.cardless("7", "bea")
			r.run(r.out)
			r.settle()
			r.out.script(func(sent) apns.Result { return tc.res })
			for i, want := range []int{tc.first, tc.then} {
				r.announce("7", cricket.Event{Key: fmt.Sprintf("w:1:%d", i), Type: cricket.EventWicket, Text: "wicket"})
				r.pass(5 * time.Minute)
				if n := len(r.out.take()); n != want {
					t.Errorf("alert %d was pushed %d times, want %d", i, n, want)
				}
			}
			r.out.script(nil)
			r.cardless("7", "bea")
			r.pass(time.Second)
			r.announce("7", cricket.Event{Key: "w:1:9", Type: cricket.EventWicket, Text: "wicket"})
			r.pass(2 * time.Second)
			if n := len(r.out.take()); n != 1 {
				t.Errorf("%d pushes after the device registered again", n)
			}
		})
	}
}

// Tokens of apps in development go to the other host, those of cards too, and of an end after its user has left.
func TestEnvironments(t *testing.T) {
	r := newRig(t)
	r.environments = true
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.run(r.out)
	r.settle()
	for user, environment := range map[string]string{"dev": phone.EnvironmentDevelopment, "pro": phone.EnvironmentProduction} {
		r.do(func(tx *store.Tx) error {
			_, err := phone.Devices{}.Register(tx, phone.Device{
				UserID: user, DeviceID: "d-" + user, Platform: "ios", Environment: environment,
				DeviceToken: token("dev " + user), PushToStartToken: token("pts " + user),
			})
			if err != nil {
				return err
			}
			_, _, err = phone.Follows{}.Add(tx, "7", user, 0)
			return err
		})
		r.pass(time.Second)
		r.activate("7", user, "upd "+user)
		r.pass(2 * time.Second)
	}
	r.score("7", 2, "wicket")
	r.pass(3 * time.Second)
	r.unfollow("7", "dev")
	r.unfollow("7", "pro")
	r.pass(3 * time.Second)
	events := map[string]int{}
	for _, p := range r.out.take() {
		if p.Token == token("pts dev") || p.Token == token("upd dev") {
			events[p.Event]++
			if !p.Development {
				t.Errorf("to the wrong host: %+v", p)
			}
		} else if p.Development {
			t.Errorf("to the development host: %+v", p)
		}
	}
	if events["start"] != 1 || events["update"] == 0 || events["end"] != 1 {
		t.Errorf("pushes %v", events)
	}
}

// Without frequent updates a phone shows fewer urgent pushes, so it gets fewer.
func TestFrequentUpdatesRefused(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.do(func(tx *store.Tx) error {
		no := false
		_, err := phone.Devices{}.Register(tx, phone.Device{
			UserID: "ada", DeviceID: "d-ada", Platform: "ios", DeviceToken: token("dev ada"), FrequentUpdates: &no,
		})
		return err
	})
	r.out.take()
	urgent := r.urgentOfAnHour()
	if urgent != scantHourly {
		t.Errorf("%d urgent alerts, want %d", urgent, scantHourly)
	}
}
