package push

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// waits starts a live match with a follower who has been sent a start.
func (r *rig) waits(id, user string) {
	r.t.Helper()
	r.fixture(id)
	r.live(id)
	r.score(id, 1, "")
	r.run(r.out)
	r.settle()
	r.follow(id, user)
	r.settle()
	if p := r.one(); p.Event != "start" {
		r.t.Fatalf("%+v", p)
	}
}

// unfollow makes a user unfollow a match.
func (r *rig) unfollow(id, user string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error { return phone.Follows{}.Remove(tx, id, user) })
}

// starts counts the starts among the pushes since the last take.
func (r *rig) starts() (n int) {
	r.t.Helper()
	for _, p := range r.out.take() {
		if p.Event == "start" {
			n++
		}
	}
	return n
}

// TestStartThatAppleRefuses repeats a refused start: three tries half a minute apart, then one every half hour, and one at
// once when the device registers again. The first start that Apple accepts is the last.
func TestStartThatAppleRefuses(t *testing.T) {
	r := newRig(t)
	r.out.script(func(sent) apns.Result {
		return apns.Result{Action: apns.Suspend, Status: 400, Reason: "BadDeviceToken"}
	})
	r.waits("7", "ada")
	r.pass(startGap - time.Second)
	r.none("before half a minute")
	r.pass(startGap + 2*time.Second)
	if n := r.starts(); n != startTries-1 {
		t.Errorf("%d more tries within a minute", n)
	}
	r.pass(healEvery - 2*time.Minute)
	r.none("after three tries")
	r.pass(3 * time.Minute)
	if n := r.starts(); n != 1 {
		t.Errorf("%d tries half an hour later", n)
	}
	r.out.script(nil)
	r.follow("7", "ada") // its app was opened
	r.pass(cardLife / 2)
	if n := r.starts(); n != 1 {
		t.Errorf("%d tries after the device registered again", n)
	}
}

// TestStartThatNeverLeft does not count as a try: an hour without a connection to Apple costs no phone its activity.
func TestStartThatNeverLeft(t *testing.T) {
	for _, after := range []int{2, 1000} { // held back by the circuit, and tried again and again
		r := newRig(t)
		res := apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer}
		r.after = after
		r.out.script(func(sent) apns.Result { return res })
		r.waits("7", "ada")
		r.pass(time.Hour)
		if s := r.session("7", "ada"); s.StartTries != 0 {
			t.Errorf("%s: %+v", res.Reason, s)
		}
		r.out.take()
		r.out.script(nil)
		r.pass(longestRetry + time.Second)
		if n := r.starts(); n != 1 {
			t.Errorf("%s: %d starts once Apple is reachable", res.Reason, n)
		}
		r.pass(cardLife / 2)
		if n := r.starts(); n != 0 {
			t.Errorf("%s: %d starts after that", res.Reason, n)
		}
	}
}

// TestStartWithoutAnswer repeats a start that Apple may have accepted, once: when Apple no longer holds it and no token has
// come.
func TestStartWithoutAnswer(t *testing.T) {
	r := newRig(t)
	r.out.script(func(sent) apns.Result {
		return apns.Result{Action: apns.Retry, Reason: apns.ReasonNoAnswer, Maybe: true}
	})
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.run(r.out)
	r.follow("7", "ada")
	r.settle()
	if p := r.one(); p.Expiration.Sub(p.At) != phone.StartLife {
		t.Errorf("Apple holds it for %s", p.Expiration.Sub(p.At))
	}
	r.follow("7", "ada")
	r.pass(phone.StartLife - time.Second)
	r.none("while Apple may hold it")
	r.pass(time.Minute)
	if n := r.starts(); n != 1 {
		t.Errorf("%d starts afterwards", n)
	}
	r.pass(cardLife / 2)
	if n := r.starts(); n != 0 {
		t.Errorf("%d starts after the second", n)
	}
}

// TestFollowAgain starts no second activity while one may exist, and none at once.
func TestFollowAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		leave func(r *rig)
		want  int // starts in the next hours
	}{
		"the card has no token yet": {func(r *rig) { r.unfollow("7", "ada") }, 0},
		"the card was ended": {func(r *rig) {
			r.activate("7", "ada", "upd ada")
			r.pass(2 * time.Second)
			r.unfollow("7", "ada")
			r.pass(2 * time.Second)
		}, 1},
		"the card was swiped away": {func(r *rig) {
			r.do(func(tx *store.Tx) error { return phone.Activities{}.Dismiss(tx, "7", "ada", "d-ada") })
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.waits("7", "ada")
			tc.leave(r)
			r.out.take()
			r.follow("7", "ada")
			r.pass(startGap - time.Second)
			if n := r.starts(); n != 0 {
				t.Errorf("%d starts at once", n)
			}
			r.pass(cardLife / 2)
			if n := r.starts(); n != tc.want {
				t.Errorf("%d starts, want %d", n, tc.want)
			}
		})
	}
}

// TestOneCard has an app that never registers its update token, although Apple accepted the start. Over hours of device
// registrations, unfollows and follows the phone shows one card.
func TestOneCard(t *testing.T) {
	r := newWithPhones(t, 0)
	ph, err := r.box.AddPhone(sandbox.Phone{Name: "ada", UserID: "ada", DeviceID: "d-ada"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.phones = append(r.phones, ph)
	r.fixture("7")
	r.live("7")
	r.score("7", 1, "")
	r.followAll("7")
	r.run(r.client)
	for range 3 {
		r.pass(2 * time.Minute)
		r.followAll("7")
		r.pass(40 * time.Minute)
		r.unfollow("7", "ada")
		r.followAll("7")
	}
	r.pass(time.Hour)
	if v := r.box.Phones()[0]; len(v.Activities) != 1 || v.Received != 1 {
		t.Errorf("%d cards, %d pushes", len(v.Activities), v.Received)
	}
}

// The start of a card lights up the screen. The start of the match does not light it up again; whoever opened the card in the app
// hears of it.
func TestOneBuzzForAStart(t *testing.T) {
	r := newRig(t)
	r.waits("7", "ada")
	r.activate("7", "ada", "upd 1")
	r.do(func(tx *store.Tx) error { // at once, so that no start is due
		if _, _, err := (phone.Follows{}).Add(tx, "7", "bea", 0); err != nil {
			return err
		}
		_, err := phone.Activities{}.Register(tx, "7", "bea", "d-bea", token("upd bea"), time.Time{})
		return err
	})
	r.settle()
	r.pass(3 * time.Second)
	r.out.take()
	r.do(func(tx *store.Tx) error {
		item, err := attr.Marshal(cricket.Event{Key: "start", Type: cricket.EventMatchStart, Text: "NZ v ENG is under way", At: tx.Now(), Alert: true})
		if err != nil {
			return err
		}
		item["matchId"] = attr.S("7")
		_, err = tx.Put(store.PutItem{Table: tables.Events, Item: item})
		return err
	})
	r.settle()
	r.pass(5 * time.Second)
	if p := r.one(); p.Alert == "" || p.Token != token("upd bea") {
		t.Errorf("the start of the match: %+v", p)
	}
	r.score("7", 5, "WICKET! Guptill")
	r.settle()
	all := r.out.take()
	for _, p := range all {
		state, _ := p.body["content-state"].(map[string]any)
		key, _ := state["keyEvent"].(map[string]any)
		if p.Alert != "WICKET! Guptill" || key["text"] != "WICKET! Guptill" {
			t.Errorf("the wicket: alert %q, key event %v", p.Alert, key)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d alerts of the wicket", len(all))
	}
}

// On a channel too the start of a card is the buzz for the start of the match.
func TestOneBuzzForAStartOnAChannel(t *testing.T) {
	r := newWithChannels(t, "18.1", "18.2")
	r.run(r.client)
	r.pass(3 * time.Second)
	r.announce("7", cricket.Event{Key: "start", Type: cricket.EventMatchStart, Text: "NZ v ENG is under way"})
	r.pass(5 * time.Second)
	r.score("7", 2, "WICKET! Guptill")
	r.pass(5 * time.Second)
	for _, v := range r.box.Phones() {
		var told []string
		for _, a := range v.Alerts {
			told = append(told, a.Body)
		}
		if len(told) != 2 || told[1] != "WICKET! Guptill" {
			t.Errorf("%s lit up for %q", v.Name, told)
		}
	}
}

// TestPutOff ends the activity of a match that waits for another time, after the news of it, and starts one when it is played.
func TestPutOff(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.score("7", 1, "Match postponed")
	r.active("7", cricket.ActivePostponed, cricket.PhasePostponed, time.Time{})
	r.settle()
	if p := r.one(); p.Alert != "Match postponed" {
		t.Errorf("alert %+v", p)
	}
	r.pass(restAfter)
	if p := r.one(); p.Event != "end" {
		t.Errorf("end for now %+v", p)
	}
	if s := r.session("7", "ada"); s.Status != phone.SessionPending {
		t.Errorf("while it waits %+v", s)
	}
	r.active("7", cricket.ActiveIdle, cricket.PhasePrematch, time.Time{})
	r.pass(16 * time.Hour)
	r.none("before it is played")
	r.live("7")
	r.settle()
	if p := r.one(); p.Event != "start" || p.Token != token("pts ada") {
		t.Errorf("at its other time %+v", p)
	}
}

// TestNoNews shows a match that the feed has no more as stale at once.
func TestNoNews(t *testing.T) {
	r := newRig(t)
	r.ready(r.out)
	r.out.take()
	r.do(func(tx *store.Tx) error {
		raw, err := json.Marshal(cricket.Display{
			MatchID: "7", Phase: cricket.PhaseLive, Status: "1st Innings", NoNews: true, Note: "No news since 12:10 UTC",
			Batters: []cricket.Batter{}, LastBalls: []cricket.BallMark{}, UpdatedAt: tx.Now(),
		})
		if err != nil {
			return err
		}
		_, err = tx.Put(store.PutItem{Table: tables.Display, Item: attr.Item{
			"cacheKey": attr.S(tables.DisplayKey("7")), "state": attr.S(string(raw)),
		}})
		return err
	})
	r.pass(time.Second)
	p := r.one()
	if at, _ := p.body["stale-date"].(float64); p.Event != "update" || int64(at) > r.clk.Now().Unix() {
		t.Errorf("stale at %v, now it is %d: %+v", p.body["stale-date"], r.clk.Now().Unix(), p)
	}
}
