package phone

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// owners returns the token entries by kind and token: the user and the device token, or for an update token the user and the
// session.
func (r *userRig) owners() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	r.do(func(tx *store.Tx) error {
		all, err := tables.Decode[tokenEntry](tx, tables.DeviceTokens, tx.ScanAll(store.Scan{Table: tables.DeviceTokens}))
		for _, e := range all {
			out[e.Token] = e.UserID + " " + e.DeviceToken + e.SessionKey
		}
		return err
	})
	return out
}

func (r *userRig) wantOwners(what string, want map[string]string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.owners()); diff != "" {
		r.t.Errorf("%s: entries (-want +got):\n%s", what, diff)
	}
}

// starts registers a push-to-start token.
func (r *userRig) starts(user, device, tok string) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		_, err := Devices{}.SetPushToStart(tx, user, device, tok)
		return err
	})
}

// held returns the device and push-to-start tokens in each user's rows.
func (r *userRig) held(users ...string) map[string]string {
	out := map[string]string{}
	for _, user := range users {
		for _, d := range r.devices(user) {
			out[user+" "+d.DeviceToken[:1]] = (d.PushToStartToken + "-")[:1]
		}
	}
	return out
}

// TestTokensBelongToTheLast: tokens belong to whoever registered them last. u1 has the phone a with the push-to-start token e
// and an activity on it, and then does what the case says.
func TestTokensBelongToTheLast(t *testing.T) {
	a, b, e, f := token("a"), token("b"), token("e"), token("f")
	for _, c := range []struct {
		name   string
		do     func(r *userRig)
		held   map[string]string // user and device: push-to-start
		owners map[string]string
		ended  bool // the activity of u1 on the phone
	}{
		{"nothing", func(*userRig) {},
			map[string]string{"u1 a": "e"}, map[string]string{kindDevice + a: "u1 " + a, kindStart + e: "u1 " + a}, false},
		{"the same user again", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u1", DeviceToken: "A" + a[1:], DeviceID: "d1"})
		}, map[string]string{"u1 a": "e"}, map[string]string{kindDevice + a: "u1 " + a, kindStart + e: "u1 " + a}, false},
		{"another user", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u2", DeviceToken: "A" + a[1:], DeviceID: "d1"})
		}, map[string]string{"u2 a": "-"}, map[string]string{kindDevice + a: "u2 " + a}, true},
		{"another user with both tokens", func(r *userRig) {
			r.register(Devices{Multi: true}, Device{UserID: "u2", DeviceToken: a, DeviceID: "d1", PushToStartToken: e})
		}, map[string]string{"u2 a": "e"}, map[string]string{kindDevice + a: "u2 " + a, kindStart + e: "u2 " + a}, true},
		{"another user, and back", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u2", DeviceToken: a, DeviceID: "d1", PushToStartToken: e})
			r.register(Devices{}, Device{UserID: "u1", DeviceToken: a, DeviceID: "d1"})
		}, map[string]string{"u1 a": "-"}, map[string]string{kindDevice + a: "u1 " + a}, true},
		{"another user with another device", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u2", DeviceToken: b, DeviceID: "d1", PushToStartToken: f})
		}, map[string]string{"u1 a": "e", "u2 b": "f"}, map[string]string{
			kindDevice + a: "u1 " + a, kindStart + e: "u1 " + a, kindDevice + b: "u2 " + b, kindStart + f: "u2 " + b,
		}, false},
		{"another user sets the push-to-start token", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u2", DeviceToken: b, DeviceID: "d2"})
			r.starts("u2", b, "E"+e[1:])
		}, map[string]string{"u1 a": "-", "u2 b": "e"}, map[string]string{
			kindDevice + a: "u1 " + a, kindDevice + b: "u2 " + b, kindStart + e: "u2 " + b,
		}, true},
		{"a device token equal to a push-to-start token", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u2", DeviceToken: e, DeviceID: "d2"})
		}, map[string]string{"u1 a": "e", "u2 e": "-"}, map[string]string{
			kindDevice + a: "u1 " + a, kindStart + e: "u1 " + a, kindDevice + e: "u2 " + e,
		}, false},
		{"another push-to-start token", func(r *userRig) { r.starts("u1", a, f) },
			map[string]string{"u1 a": "f"}, map[string]string{kindDevice + a: "u1 " + a, kindStart + f: "u1 " + a}, false},
		{"the user's next device", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u1", DeviceToken: b, DeviceID: "d2"})
		}, map[string]string{"u1 b": "-"}, map[string]string{kindDevice + b: "u1 " + b}, false},
		{"the device with its next token", func(r *userRig) {
			r.register(Devices{}, Device{UserID: "u1", DeviceToken: b, DeviceID: "d1"})
		}, map[string]string{"u1 b": "e"}, map[string]string{kindDevice + b: "u1 " + b, kindStart + e: "u1 " + b}, false},
		{"the device under another id, of several", func(r *userRig) {
			r.register(Devices{Multi: true}, Device{UserID: "u1", DeviceToken: b, DeviceID: "d2", PushToStartToken: e})
		}, map[string]string{"u1 a": "-", "u1 b": "e"}, map[string]string{
			kindDevice + a: "u1 " + a, kindDevice + b: "u1 " + b, kindStart + e: "u1 " + b,
		}, false},
		{"a deletion", func(r *userRig) {
			r.do(func(tx *store.Tx) error { return Devices{}.Delete(tx, "u1", "A"+a[1:]) })
		}, map[string]string{}, map[string]string{}, false},
		{"a dead device", func(r *userRig) {
			r.do(func(tx *store.Tx) error { return Devices{}.Drop(tx, "u1", a, r.now.Add(time.Second)) })
		}, map[string]string{}, map[string]string{}, false},
		{"a dead device that registered since", func(r *userRig) {
			r.do(func(tx *store.Tx) error { return Devices{}.Drop(tx, "u1", a, r.now) })
		}, map[string]string{"u1 a": "e"}, map[string]string{kindDevice + a: "u1 " + a, kindStart + e: "u1 " + a}, false},
		{"a dead push-to-start token", func(r *userRig) {
			r.do(func(tx *store.Tx) error { return Devices{}.DropPushToStart(tx, "u1", a, e, r.now.Add(time.Second)) })
		}, map[string]string{"u1 a": "-"}, map[string]string{kindDevice + a: "u1 " + a}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newUserRig(t)
			r.register(Devices{}, Device{UserID: "u1", DeviceToken: a, DeviceID: "d1"})
			r.starts("u1", a, e)
			r.ensure("u1", "d1")
			c.do(r)
			if diff := cmp.Diff(c.held, r.held("u1", "u2")); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			r.wantOwners("after", c.owners)
			s := r.session("u1", "d1")
			if ended := s.Status == SessionEnded; ended != c.ended || ended && s.EndReason != EndTokenInvalid {
				t.Errorf("the activity: %+v", s)
			}
		})
	}
}

// TestActivitiesOfThePreviousUser: if another user registers a phone, the previous user's activities end on that phone and
// nowhere else. An unnamed device is that phone if the user has no other.
func TestActivitiesOfThePreviousUser(t *testing.T) {
	for name, second := range map[string]bool{"one device": false, "two devices": true} {
		t.Run(name, func(t *testing.T) {
			r := newUserRig(t)
			multi := Devices{Multi: true}
			r.got("u1", "", token("0"), r.now) // before any device is registered
			r.register(multi, Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1"})
			if second {
				r.register(multi, Device{UserID: "u1", DeviceToken: token("b"), DeviceID: "d2"})
			}
			r.got("u1", "d1", token("1"), r.now)
			r.got("u1", "d2", token("2"), r.now)
			r.got("u2", "d1", token("3"), r.now)
			r.register(multi, Device{UserID: "u2", DeviceToken: token("a"), DeviceID: "d1"})
			s := r.session("u1", "d1")
			if s.Status != SessionEnded || s.EndReason != EndTokenInvalid || s.UpdateToken != token("1") ||
				s.TTL != r.now.Add(endedLife).Unix() {
				t.Errorf("on that phone, which is owed an end push: %+v", s)
			}
			for _, other := range []Session{r.session("u1", "d2"), r.session("u2", "d1")} {
				if other.Status != SessionActive {
					t.Errorf("elsewhere, or the new user's: %+v", other)
				}
			}
			if s = r.session("u1", UnnamedDevice); (s.Status == SessionEnded) == second {
				t.Errorf("on an unnamed device: %+v", s)
			}
		})
	}
}

// TestUpdateTokenOfTheNextUser: if the app registers a running activity for the next user, the previous one is no longer
// notified.
func TestUpdateTokenOfTheNextUser(t *testing.T) {
	for name, dismissed := range map[string]bool{"running": false, "owed an end push": true} {
		t.Run(name, func(t *testing.T) {
			r := newUserRig(t)
			r.got("u1", "d1", token("1"), r.now)
			r.got("u3", "d3", token("3"), r.now)
			want := EndTokenInvalid
			if dismissed {
				r.do(func(tx *store.Tx) error { return Activities{}.End(tx, "7", "u1") })
				want = EndDismissed
			}
			r.got("u2", "d1", token("1"), r.now)
			if s := r.session("u1", "d1"); s.Status != SessionEnded || s.EndReason != want || s.UpdateToken != "" {
				t.Errorf("the previous user's: %+v", s)
			}
			if s := r.session("u2", "d1"); s.Status != SessionActive || s.UpdateToken != token("1") {
				t.Errorf("the next user's: %+v", s)
			}
			r.got("u2", "d1", token("4"), r.now)
			r.got("u1", "d1", token("1"), r.now) // u2 had this token before, and has another now
			if s := r.session("u2", "d1"); s.Status != SessionActive || s.UpdateToken != token("4") {
				t.Errorf("with another token: %+v", s)
			}
			r.wantOwners("after", map[string]string{
				kindActivity + token("1"): "u1 u1#d1", kindActivity + token("3"): "u3 u3#d3", kindActivity + token("4"): "u2 u2#d1",
			})
		})
	}
}

// TestTokenEntriesExpire together with the rows that hold the tokens.
func TestTokenEntriesExpire(t *testing.T) {
	r := newUserRig(t)
	d := Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1", PushToStartToken: token("e")}
	r.register(Devices{}, d)
	r.now = r.now.Add(time.Hour)
	row := r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1"})
	s := r.got("u1", "d1", token("1"), r.now)
	r.do(func(tx *store.Tx) error {
		for key, ttl := range map[string]int64{
			kindDevice + token("a"): row.TTL, kindStart + token("e"): row.TTL, kindActivity + token("1"): s.TTL,
		} {
			if e, err := tokenOwner(tx, key); err != nil || e.TTL != ttl || ttl == 0 {
				t.Errorf("%s: %+v, want the ttl %d: %v", key[:8], e, ttl, err)
			}
		}
		return nil
	})
	for _, spec := range tables.All() {
		if spec.Name == tables.DeviceTokens && (spec.TTL != "ttl" || !spec.Internal || spec.Policy != store.PolicyLocal) {
			t.Errorf("%+v", spec)
		}
	}
}

// TestFillDeviceTokens assigns each token in the rows of an earlier version to the row seen last, whatever their order.
func TestFillDeviceTokens(t *testing.T) {
	r := newUserRig(t)
	r.ensure("u3", "d")
	r.ensure("u1", "d")
	row := func(user, device, start string, ago time.Duration) {
		item := deviceKey(user, device)
		item["deviceId"], item["platform"] = attr.S("d"), attr.S("ios")
		item["lastSeenAt"], item["ttl"] = attr.Time(r.now.Add(-ago)), attr.Int(99)
		if start != "" {
			item["pushToStartToken"], item["pushToStartAt"] = attr.S(start), attr.Time(r.now.Add(-ago))
		}
		r.do(func(tx *store.Tx) error {
			_, err := tx.Put(store.PutItem{Table: tables.Devices, Item: item})
			return err
		})
	}
	row("u1", token("a"), token("e"), time.Minute) // seen last
	row("u2", "A"+token("a")[1:], token("e"), time.Hour)
	row("u3", token("a"), "", 2*time.Hour)
	row("u4", token("b"), token("e"), 3*time.Hour)
	r.do(func(tx *store.Tx) error { // a row of others that is not a device
		item := deviceKey("u5", token("c"))
		item["lastSeenAt"] = attr.S("yesterday")
		_, err := tx.Put(store.PutItem{Table: tables.Devices, Item: item})
		return err
	})
	r.do(FillDeviceTokens)
	if diff := cmp.Diff(map[string]string{"u1 a": "e", "u4 b": "-"}, r.held("u1", "u2", "u3", "u4")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	r.wantOwners("filled", map[string]string{
		kindDevice + token("a"): "u1 " + token("a"), kindStart + token("e"): "u1 " + token("a"), kindDevice + token("b"): "u4 " + token("b"),
	})
	if s := r.session("u3", "d"); s.Status != SessionEnded || s.EndReason != EndTokenInvalid {
		t.Errorf("the earlier owner's: %+v", s)
	}
	if s := r.session("u1", "d"); s.Status != SessionPending {
		t.Errorf("the owner's: %+v", s)
	}
}
