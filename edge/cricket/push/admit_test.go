package push

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// atOnce makes matches begin in one instant that a user follows, of which the first was scheduled last.
func (r *rig) atOnce(user string, n int) {
	r.t.Helper()
	for i := range n {
		id := fmt.Sprint(100 + i)
		r.fixture(id)
		r.do(func(tx *store.Tx) error {
			item, err := attr.Marshal(matches.Fixture{MatchID: id, StartTime: dayOne.Add(time.Duration(n-i) * time.Minute), Phase: cricket.PhaseLive})
			if err != nil {
				return err
			}
			_, err = tx.Put(store.PutItem{Table: tables.Fixtures, Item: item})
			return err
		})
		r.follow(id, user)
	}
	r.run(r.out)
	r.settle()
	r.out.take()
	r.do(func(tx *store.Tx) error {
		for i := range n {
			id := fmt.Sprint(100 + i)
			if err := r.tick(tx, id, 1, ""); err != nil {
				return err
			}
			item, err := attr.Marshal(cricket.State{MatchID: id, Status: cricket.ActiveLive, MatchPhase: cricket.PhaseLive})
			if err != nil {
				return err
			}
			if _, err := tx.Put(store.PutItem{Table: tables.ActiveMatches, Item: item}); err != nil {
				return err
			}
		}
		return nil
	})
}

// started lists the matches of starts, in order.
func started(all []sent) (ids []string) {
	for _, p := range all {
		if p.Event == "start" {
			attributes, _ := p.body["attributes"].(map[string]any)
			ids = append(ids, fmt.Sprint(attributes["matchId"]))
		}
	}
	return ids
}

// Of twelve matches that begin together a phone gets five cards, one a second, the earliest first. The others are told in the ordinary way,
// and their rows say why. When a card has ended, the next match has one.
func TestTwelveMatchesAtOnce(t *testing.T) {
	r := newRig(t)
	r.atOnce("ada", 12)
	r.pass(20 * time.Second)
	all := r.out.take()
	if got := fmt.Sprint(started(all)); got != "[111 110 109 108 107]" {
		t.Errorf("started %s", got)
	}
	for i := 1; i < len(all); i++ {
		if gap := all[i].At.Sub(all[i-1].At); gap < spacing {
			t.Errorf("%s between two pushes to one token", gap)
		}
	}
	for i := range 5 {
		r.activate(fmt.Sprint(107+i), "ada", fmt.Sprint("upd ", i))
	}
	if s := r.session("106", "ada"); s.NoCard != phone.NoCardLimit {
		t.Errorf("the sixth match: %+v", s)
	}
	r.announce("106", cricket.Event{Key: "w:1:1", Type: cricket.EventWicket, Text: "wicket of the sixth"})
	r.pass(2 * time.Second)
	told := to(r.out.take(), "dev ada")
	if len(told) != 1 || told[0].Alert != "wicket of the sixth" || !strings.Contains(string(told[0].Payload), `"noCard":"limit"`) {
		t.Errorf("ordinary alerts: %s", describe(told))
	}
	r.do(func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, "111", "ada") })
	r.pass(surplusEvery + 10*time.Second)
	if got := fmt.Sprint(started(r.out.take())); got != "[106]" {
		t.Errorf("started after a card ended: %s", got)
	}
}

// Starts go in the order of the matches' start, and at one time the marquee league's first.
func TestOrderOfStarts(t *testing.T) {
	at := func(id string, minutes int, marquee bool) *job {
		return &job{kind: start, match: &match{id: id, startsAt: dayOne.Add(time.Duration(minutes) * time.Minute), marquee: marquee}, session: &session{}}
	}
	jobs := []*job{at("1", 5, true), at("2", 0, false), at("3", 0, true), at("4", 0, false)}
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.compareImportance(b) })
	order := ""
	for _, j := range jobs {
		order += j.match.id
	}
	if order != "3241" {
		t.Errorf("the order is %s", order)
	}
}

// Wickets of several matches in one instant reach a phone without cards one a second, none lost.
func TestOrdinaryAlertsAreSpaced(t *testing.T) {
	r := newRig(t)
	for i := range 4 {
		id := fmt.Sprint(100 + i)
		r.fixture(id)
		r.live(id)
		r.score(id, 1, "")
		r.cardless(id, "bea")
	}
	r.run(r.out)
	r.settle()
	r.do(func(tx *store.Tx) error {
		for i := range 4 {
			if err := r.tick(tx, fmt.Sprint(100+i), 2, fmt.Sprint("wicket ", i)); err != nil {
				return err
			}
		}
		return nil
	})
	r.pass(10 * time.Second)
	all := r.out.take()
	if len(all) != 4 {
		t.Fatalf("%s", describe(all))
	}
	for i := 1; i < len(all); i++ {
		if gap := all[i].At.Sub(all[i-1].At); gap < spacing {
			t.Errorf("%s between two pushes to one token", gap)
		}
	}
}

// Too many pushes at once say nothing about a token: the start is tried again until it is accepted, and costs the budget nothing.
func TestStartThatComesTooSoon(t *testing.T) {
	r := newRig(t)
	r.out.script(func(sent) apns.Result {
		return apns.Result{Action: apns.Later, Status: 429, Reason: "TooManyRequests"}
	})
	r.waits("7", "ada")
	r.pass(5 * time.Minute)
	if n := r.starts(); n < 4 {
		t.Errorf("%d more tries in five minutes", n)
	}
	if s := r.session("7", "ada"); s.StartTries != 0 {
		t.Errorf("row %+v", s)
	}
	r.out.script(nil)
	r.pass(longestRetry + time.Second)
	if n := r.starts(); n != 1 {
		t.Errorf("%d starts once Apple accepts", n)
	}
	r.activate("7", "ada", "upd ada")
	urgent := r.urgentOfAnHour()
	if urgent != urgentHourly-1 { // one for the start that was accepted
		t.Errorf("%d urgent alerts after the refusals", urgent)
	}
}

// Cards of several matches, ordinary alerts and admins' notices share a device's urgent pushes of an hour. A user's quiet hours are about the
// latter two: a card has the system's focus.
func TestOneBudgetForAll(t *testing.T) {
	r := newRig(t) // 9:30 UTC
	r.ready(r.out)
	r.fixture("8")
	r.live("8")
	r.score("8", 1, "")
	r.do(func(tx *store.Tx) error {
		_, _, err := phone.Follows{}.Add(tx, "8", "ada", 0)
		return err
	})
	r.pass(tokenWait + time.Minute) // the card of match 8 does not come
	r.out.take()
	urgent := map[string]int{}
	note := func(all []sent) {
		for _, p := range all {
			if p.Priority == apns.PriorityUrgent {
				urgent[string(p.Type)]++
			}
		}
	}
	notice := func() {
		t.Helper()
		var devices []phone.Device
		r.do(func(tx *store.Tx) (err error) {
			devices, err = phone.Devices{}.OfUser(tx, "ada")
			return err
		})
		if _, err := r.coord.Notify(t.Context(), Notice{Devices: devices, Title: "Hello", Body: "you"}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range urgentHourly / 2 {
		for _, id := range []string{"7", "8"} {
			r.announce(id, cricket.Event{Key: fmt.Sprintf("w:1:%d", n), Type: cricket.EventWicket, Text: "wicket"})
			r.pass(2 * time.Second)
		}
		if n == 2 {
			notice()
		}
	}
	note(r.out.take())
	if cards, others := urgent[string(apns.TypeLiveActivity)], urgent[string(apns.TypeAlert)]; cards+others != urgentHourly-1 || cards < 5 || others < 5 {
		t.Errorf("urgent pushes of an hour with a start: %v", urgent) // the start of match 8 was the first
	}
	r.prefer("ada", phone.Preference{QuietFrom: "09:00", QuietTo: "13:00", TimeZone: "UTC"})
	r.pass(time.Hour + time.Minute)
	r.out.take()
	clear(urgent)
	for _, id := range []string{"7", "8"} {
		r.announce(id, cricket.Event{Key: "w:2:1", Type: cricket.EventWicket, Text: "wicket"})
		r.pass(2 * time.Second)
	}
	notice()
	note(r.out.take())
	if urgent[string(apns.TypeLiveActivity)] != 1 || urgent[string(apns.TypeAlert)] != 0 {
		t.Errorf("urgent pushes in quiet hours: %v", urgent)
	}
}
