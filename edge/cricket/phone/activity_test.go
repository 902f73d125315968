package phone

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

func (r *userRig) session(user, device string) (s Session) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) {
		s, err = Activities{}.Get(tx, "7", tables.SessionKey(user, device))
		return err
	})
	return s
}

func (r *userRig) ensure(user, device string) (s Session) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) {
		s, err = Activities{}.Ensure(tx, "7", user, device, matchDay.Unix()+1000)
		return err
	})
	return s
}

func (r *userRig) got(user, device, tok string, at time.Time) (s Session) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) {
		s, err = Activities{}.Register(tx, "7", user, device, tok, at)
		return err
	})
	return s
}

func TestSessionLife(t *testing.T) {
	r := newUserRig(t)
	s := r.ensure("u1", "d1")
	if s.Status != SessionPending || s.Key != "u1#d1" || s.UserID != "u1" || s.TTL != matchDay.Unix()+1000 {
		t.Errorf("ensured %+v", s)
	}
	if again := r.ensure("u1", "d1"); again != s {
		t.Errorf("ensured twice: %+v, then %+v", s, again)
	}
	r.do(func(tx *store.Tx) error {
		for range 2 {
			if done, err := (Activities{}).Starting(tx, &s, "pts"); err != nil || !done {
				return fmt.Errorf("starting: %v %w", done, err)
			}
		}
		return nil
	})
	if s = r.session("u1", "d1"); s.StartTries != 2 || !s.StartSentAt.Equal(r.now) {
		t.Errorf("after two starts %+v", s)
	}
	r.now = r.now.Add(time.Minute)
	began := r.now
	if s = r.got("u1", "d1", token("A"), time.Time{}); s.Status != SessionActive || s.UpdateToken != token("a") ||
		s.StartTries != 0 || !s.SessionStartedAt.Equal(began) {
		t.Errorf("active %+v", s)
	}
	r.now = r.now.Add(time.Minute)
	if s = r.got("u1", "d1", token("b"), time.Time{}); s.UpdateToken != token("b") || !s.SessionStartedAt.Equal(began) {
		t.Errorf("rotated %+v", s)
	}
	stale := s
	stale.UpdateToken = token("a")
	for name, f := range map[string]func(Activities, *store.Tx, *Session) (bool, error){
		"suspend": Activities.Suspend, "rest": Activities.Rest, "settle": Activities.RecordEndSent, "starting": func(a Activities, tx *store.Tx, s *Session) (bool, error) { return a.Starting(tx, s, "pts") },
	} {
		r.do(func(tx *store.Tx) error {
			done, err := f(Activities{}, tx, &stale)
			if done {
				t.Errorf("%s succeeded with a replaced token, or on an active session", name)
			}
			return err
		})
	}
	r.do(func(tx *store.Tx) error {
		_, err := Activities{}.Suspend(tx, &s)
		return err
	})
	if s = r.session("u1", "d1"); s.Status != SessionSuspended || s.UpdateToken != "" || s.EndReason != "" || s.SuspendedAt.IsZero() {
		t.Errorf("suspended %+v", s)
	}
	if s = r.got("u1", "d1", token("c"), r.now); s.Status != SessionActive || !s.SuspendedAt.IsZero() {
		t.Errorf("healed %+v", s)
	}
	r.do(func(tx *store.Tx) error {
		_, err := Activities{}.Rest(tx, &s)
		return err
	})
	if s = r.session("u1", "d1"); s.Status != SessionPending || s.UpdateToken != "" {
		t.Errorf("resting %+v", s)
	}
	s = r.got("u1", "d1", token("d"), r.now)
	r.do(func(tx *store.Tx) error {
		_, err := Activities{}.RecordEnded(tx, &s, EndMatchEnded)
		return err
	})
	if s = r.session("u1", "d1"); s.Status != SessionEnded || s.EndReason != EndMatchEnded || s.UpdateToken != "" {
		t.Errorf("ended %+v", s)
	}
	if s = r.ensure("u1", "d1"); s.Status != SessionPending || s.EndReason != "" {
		t.Errorf("ensured after its end %+v", s)
	}
}

// TestUnfollowOwesAnEnd keeps the tokens of all the user's devices until their phones have been notified.
func TestUnfollowOwesAnEnd(t *testing.T) {
	r := newUserRig(t)
	r.do(func(tx *store.Tx) error {
		_, _, err := Follows{}.Add(tx, "7", "u1", 0)
		return err
	})
	r.got("u1", "d1", token("a"), r.now)
	r.got("u1", "d2", token("b"), r.now)
	r.got("u2", "d3", token("c"), r.now)
	r.do(func(tx *store.Tx) error { return Follows{}.Remove(tx, "7", "u1") })
	for _, d := range []string{"d1", "d2"} {
		if s := r.session("u1", d); s.Status != SessionEnded || s.EndReason != EndUnfollowed || s.UpdateToken == "" {
			t.Errorf("%s: %+v", d, s)
		}
	}
	if s := r.session("u2", "d3"); s.Status != SessionActive {
		t.Errorf("another user's session: %+v", s)
	}
	s := r.session("u1", "d1")
	r.do(func(tx *store.Tx) error {
		done, err := Activities{}.RecordEndSent(tx, &s)
		if !done {
			t.Error("not settled")
		}
		return err
	})
	if s := r.session("u1", "d1"); s.UpdateToken != "" || s.EndReason != EndUnfollowed {
		t.Errorf("settled %+v", s)
	}
	// Followed again before the other phone was notified: it simply continues.
	if s := r.ensure("u1", "d2"); s.Status != SessionActive || s.UpdateToken != token("b") || s.EndReason != "" {
		t.Errorf("followed again %+v", s)
	}
}

func TestDismissedCountsAsUnfollowed(t *testing.T) {
	r := newUserRig(t)
	r.do(func(tx *store.Tx) error {
		_, _, err := Follows{}.Add(tx, "7", "u1", 0)
		return err
	})
	r.got("u1", "d1", token("a"), r.now)
	r.got("u1", "d2", token("b"), r.now)
	r.do(func(tx *store.Tx) error { return Activities{}.Dismiss(tx, "7", "u1", "d1") })
	if s := r.session("u1", "d1"); s.EndReason != EndDismissed || s.UpdateToken != "" {
		t.Errorf("dismissed %+v", s)
	}
	if s := r.session("u1", "d2"); s.EndReason != EndUnfollowed || s.UpdateToken == "" {
		t.Errorf("the other device %+v", s)
	}
	r.refused(fault.NotFound, func(tx *store.Tx) error {
		_, err := Follows{}.Get(tx, "7", "u1")
		return err
	})
	r.refused(fault.NotFound, func(tx *store.Tx) error { return Activities{}.Dismiss(tx, "7", "u1", "d1") })
	r.refused(fault.NotFound, func(tx *store.Tx) error { return Activities{}.Dismiss(tx, "7", "u9", "d9") })
}

// TestTokenAfterLeaving: a token that arrives soon after its user left does not make the session active; the phone is owed an
// end push. A token of another activity does, and so does one after the user follows again.
func TestTokenAfterLeaving(t *testing.T) {
	follow := func(r *userRig) {
		r.do(func(tx *store.Tx) error { _, _, err := Follows{}.Add(tx, "7", "u1", 0); return err })
	}
	unfollow := func(r *userRig) {
		r.do(func(tx *store.Tx) error { return Follows{}.Remove(tx, "7", "u1") })
	}
	dismiss := func(r *userRig) {
		r.do(func(tx *store.Tx) error { return Activities{}.Dismiss(tx, "7", "u1", "d1") })
	}
	for name, c := range map[string]struct {
		leave func(*userRig)
		start bool          // a start push was sent before they left
		again bool          // they follow again before the token comes
		after time.Duration // from leaving to the token
		began time.Duration // from leaving to the activity's start; 0: the app does not say
		want  SessionStatus
	}{
		"unfollowed":        {leave: unfollow, after: time.Second, want: SessionEnded},
		"dismissed":         {leave: dismiss, after: time.Second, want: SessionEnded},
		"began before":      {leave: unfollow, after: time.Second, began: -time.Second, want: SessionEnded},
		"another activity":  {leave: unfollow, after: time.Minute, began: time.Second, want: SessionActive},
		"a late start":      {leave: unfollow, start: true, after: time.Minute, began: time.Second, want: SessionEnded},
		"a dismissed start": {leave: dismiss, start: true, after: time.Minute, began: time.Second, want: SessionActive},
		"followed again":    {leave: unfollow, again: true, after: time.Second, want: SessionActive},
		"a long time later": {leave: unfollow, after: lateToken, want: SessionActive},
	} {
		t.Run(name, func(t *testing.T) {
			r := newUserRig(t)
			follow(r)
			waits := r.ensure("u1", "d1")
			if c.start {
				r.do(func(tx *store.Tx) error { _, err := Activities{}.Starting(tx, &waits, "pts"); return err })
			}
			c.leave(r)
			left := r.now
			if c.again {
				follow(r)
			}
			r.now = left.Add(c.after)
			var began time.Time
			if c.began != 0 {
				began = left.Add(c.began)
			}
			s := r.got("u1", "d1", token("A"), began)
			if s.Status != c.want || s.UpdateToken != token("a") || (s.EndReason != "") != (c.want == SessionEnded) {
				t.Errorf("%+v, want %s", s, c.want)
			}
		})
	}
}

func TestRegisterRefused(t *testing.T) {
	r := newUserRig(t)
	r.refused(fault.Invalid, func(tx *store.Tx) error {
		_, err := Activities{}.Register(tx, "7", "u1", "d1", "no token", time.Time{})
		return err
	})
	r.refused(fault.Invalid, func(tx *store.Tx) error {
		_, err := Activities{}.Register(tx, "7", "", "d1", token("a"), time.Time{})
		return err
	})
}

// TestRegisterByMatchState accepts the token of a new activity until the match has a result, and the next tokens of a running
// one until it has ended.
func TestRegisterByMatchState(t *testing.T) {
	r := newUserRig(t)
	register := func(match string) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := Activities{}.Register(tx, match, "u1", "d1", token("a"), time.Time{})
			return err
		}
	}
	r.refused(fault.NotFound, register("99"))
	r.fixture(matches.Fixture{MatchID: "8", StartTime: matchDay, Phase: cricket.PhaseCompleted, LeagueCode: "CWC", ArchivedAt: r.now})
	r.refused(fault.Conflict, register("8"))
	r.fixture(matches.Fixture{MatchID: "9", StartTime: matchDay, Phase: cricket.PhaseCompleted, LeagueCode: "CWC"})
	r.refused(fault.Conflict, register("9"))
	r.active("9", cricket.ActiveLive)
	r.refused(fault.Conflict, register("9")) // no activity begins after the result
	for _, owed := range []bool{true, false} {
		r.fixture(matches.Fixture{MatchID: "9", StartTime: matchDay, Phase: cricket.PhaseLive, LeagueCode: "CWC"})
		r.do(register("9"))
		r.fixture(matches.Fixture{MatchID: "9", StartTime: matchDay, Phase: cricket.PhaseCompleted, LeagueCode: "CWC"})
		r.do(register("9")) // the token of a running activity may change until its end
		r.do(func(tx *store.Tx) error {
			_, err := Activities{}.end(tx, "9", tables.SessionKey("u1", "d1"), EndMatchEnded, owed)
			return err
		})
		r.refused(fault.Conflict, register("9"))
	}
}

// TestTokenHasOneSession: if an app registers its activity's token under another device id, the older session ends and owes
// the token nothing. Other activities stay.
func TestTokenHasOneSession(t *testing.T) {
	r := newUserRig(t)
	r.got("u1", "d1", token("a"), r.now)
	r.got("u1", "d2", token("b"), r.now)
	r.got("u2", "d4", token("c"), r.now)
	r.got("u1", "d3", token("A"), r.now)
	if s := r.session("u1", "d1"); s.Status != SessionEnded || s.EndReason != EndTokenInvalid || s.UpdateToken != "" {
		t.Errorf("the older one: %+v", s)
	}
	if s := r.session("u1", "d3"); s.Status != SessionActive || s.UpdateToken != token("a") {
		t.Errorf("the newer one: %+v", s)
	}
	r.do(func(tx *store.Tx) error {
		_, err := Activities{}.endUser(tx, "7", "u1", EndUnfollowed)
		return err
	})
	r.got("u1", "d5", token("b"), r.now)
	if s := r.session("u1", "d2"); s.Status != SessionEnded || s.UpdateToken != "" {
		t.Errorf("an end is still owed to the token: %+v", s)
	}
	if s := r.session("u1", "d3"); s.Status != SessionEnded || s.UpdateToken != token("a") {
		t.Errorf("another activity: %+v", s)
	}
	if s := r.session("u2", "d4"); s.Status != SessionActive {
		t.Errorf("another user's: %+v", s)
	}
}

// TestUnnamedDevices assigns a token without a device id to the user's most recently seen device.
func TestUnnamedDevices(t *testing.T) {
	r := newUserRig(t)
	if s := r.got("u1", "", token("a"), r.now); s.DeviceID != UnnamedDevice {
		t.Errorf("without a registered device: %+v", s)
	}
	multi := Devices{Multi: true}
	r.register(multi, Device{UserID: "u2", DeviceToken: token("1"), DeviceID: "ipad", Platform: "ios"})
	r.now = r.now.Add(time.Minute)
	r.register(multi, Device{UserID: "u2", DeviceToken: token("2"), DeviceID: "iphone", Platform: "ios"})
	if s := r.got("u2", "", token("b"), r.now); s.DeviceID != "iphone" {
		t.Errorf("with two devices: %+v", s)
	}
}

// TestEndOfAll dismisses a match without a device id: this ends the follow and the activities on all devices, which are owed
// an end push.
func TestEndOfAll(t *testing.T) {
	r := newUserRig(t)
	r.do(func(tx *store.Tx) error {
		_, _, err := Follows{}.Add(tx, "7", "u1", 0)
		return err
	})
	r.got("u1", "d1", token("a"), r.now)
	r.got("u1", "d2", token("b"), r.now)
	r.do(func(tx *store.Tx) error { return Activities{}.Dismiss(tx, "7", "u1", "") })
	for _, device := range []string{"d1", "d2"} {
		s := r.session("u1", device)
		if s.Status != SessionEnded || s.EndReason != EndDismissed || s.UpdateToken == "" || s.TTL != r.now.Add(endedLife).Unix() {
			t.Errorf("%+v", s)
		}
	}
	r.refused(fault.NotFound, func(tx *store.Tx) error {
		_, err := Follows{}.Get(tx, "7", "u1")
		return err
	})
	r.refused(fault.NotFound, func(tx *store.Tx) error { return Activities{}.End(tx, "7", "u1") })
}

// TestJoined has a session listen to a channel: it has no token, and is pending again after a rest on that channel. A token
// replaces the channel.
func TestJoined(t *testing.T) {
	r := newUserRig(t)
	s := r.ensure("u1", "d1")
	step := func(what string, f func(*store.Tx) (bool, error), want bool) {
		r.do(func(tx *store.Tx) error {
			done, err := f(tx)
			if done != want {
				t.Errorf("%s: %v", what, done)
			}
			return err
		})
		s = r.session("u1", "d1")
	}
	step("joined", func(tx *store.Tx) (bool, error) { return Activities{}.RecordJoined(tx, &s, "chan") }, true)
	if s.Status != SessionActive || s.ChannelID != "chan" || s.UpdateToken != "" || !s.SessionStartedAt.Equal(r.now) {
		t.Errorf("%+v", s)
	}
	other := s
	other.ChannelID = "older"
	step("rest of another channel", func(tx *store.Tx) (bool, error) { return Activities{}.Rest(tx, &other) }, false)
	step("rest", func(tx *store.Tx) (bool, error) { return Activities{}.Rest(tx, &s) }, true)
	if s.Status != SessionPending || s.ChannelID != "" {
		t.Errorf("%+v", s)
	}
	step("again", func(tx *store.Tx) (bool, error) { return Activities{}.RecordJoined(tx, &s, "chan") }, true)
	if s = r.got("u1", "d1", token("a"), r.now); s.ChannelID != "" {
		t.Errorf("a token replaces the channel: %+v", s)
	}
}

// TestSessionInvariants runs operations in any order. An active session has either a token or a channel. Of the others only
// an unfollowed one may have a token, while it owes its phone an end. Only ended sessions have an end reason.
func TestSessionInvariants(t *testing.T) {
	n := 0
	s := storetest.Open(t, tables.All()...)
	rapid.Check(t, func(t *rapid.T) {
		n++
		match := fmt.Sprint(n)
		known := func(tx *store.Tx) error {
			return putFixture(tx, matches.Fixture{MatchID: match, StartTime: matchDay, LeagueCode: "CWC"})
		}
		if err := s.Update(context.Background(), known); err != nil {
			t.Fatal(err)
		}
		seen := Session{MatchID: match, Key: tables.SessionKey("u", "d")}
		ops := map[string]func(*store.Tx) error{
			"ensure": func(tx *store.Tx) error {
				_, err := Activities{}.Ensure(tx, match, "u", "d", time.Now().Unix()+1e6)
				return err
			},
			"register": func(tx *store.Tx) error {
				tok := token(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "token"))
				_, err := Activities{}.Register(tx, match, "u", "d", tok, time.Time{})
				return err
			},
			"starting": func(tx *store.Tx) error { _, err := Activities{}.Starting(tx, &seen, "pts"); return err },
			"answered": func(tx *store.Tx) error {
				_, err := Activities{}.RecordAnswer(tx, &seen, seen.StartSentAt, StartTaken)
				return err
			},
			"suspend":  func(tx *store.Tx) error { _, err := Activities{}.Suspend(tx, &seen); return err },
			"rest":     func(tx *store.Tx) error { _, err := Activities{}.Rest(tx, &seen); return err },
			"settle":   func(tx *store.Tx) error { _, err := Activities{}.RecordEndSent(tx, &seen); return err },
			"ended":    func(tx *store.Tx) error { _, err := Activities{}.RecordEnded(tx, &seen, EndMatchEnded); return err },
			"joined":   func(tx *store.Tx) error { _, err := Activities{}.RecordJoined(tx, &seen, "ch"); return err },
			"unfollow": func(tx *store.Tx) error { _, err := Activities{}.endUser(tx, match, "u", EndUnfollowed); return err },
			"look": func(tx *store.Tx) error {
				now, err := Activities{}.Get(tx, match, seen.Key)
				if err == nil {
					seen = now
				}
				return nil
			},
		}
		names := []string{"ensure", "register", "starting", "answered", "suspend", "rest", "settle", "ended", "joined", "unfollow", "look"}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			op := rapid.SampledFrom(names).Draw(t, "op")
			if err := s.Update(context.Background(), ops[op]); err != nil {
				t.Fatalf("%s: %v", op, err)
			}
			var now Session
			err := s.View(context.Background(), func(tx *store.Tx) (err error) {
				now, err = Activities{}.Get(tx, match, seen.Key)
				return err
			})
			if fault.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			has := now.UpdateToken != ""
			may := now.Status == SessionActive || now.Status == SessionEnded && now.EndReason == EndUnfollowed
			listens := now.ChannelID != ""
			if now.StartSentAt.IsZero() && now.StartAnswer != "" {
				t.Fatalf("after %s a start is remembered: %+v", op, now)
			}
			if now.FormerToken != "" && now.FormerToken == now.UpdateToken {
				t.Fatalf("after %s a card is its own successor: %+v", op, now)
			}
			if has && !may || (has || listens) != (now.Status == SessionActive) && now.Status != SessionEnded || has && listens {
				t.Fatalf("after %s: %+v", op, now)
			}
			if (now.Status == SessionEnded) != (now.EndReason != "") {
				t.Fatalf("after %s: %+v", op, now)
			}
		}
	})
}

func TestOfUser(t *testing.T) {
	r := newUserRig(t)
	r.got("u1", "d1", token("a"), r.now)
	r.got("u1", "d2", token("b"), r.now)
	r.got("u2", "d3", token("c"), r.now)
	r.do(func(tx *store.Tx) error {
		mine, err := Activities{}.OfUser(tx, "u1")
		if len(mine) != 2 {
			t.Errorf("%d sessions of the user", len(mine))
		}
		if err != nil {
			return err
		}
		all, err := Activities{}.OfMatch(tx, "7")
		if len(all) != 3 {
			t.Errorf("%d sessions of the match", len(all))
		}
		return err
	})
}
