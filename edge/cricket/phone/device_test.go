package phone

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

func (r *userRig) register(ds Devices, d Device) (out Device) {
	r.t.Helper()
	d.Platform = "ios"
	r.do(func(tx *store.Tx) (err error) {
		out, err = ds.Register(tx, d)
		return err
	})
	return out
}

func (r *userRig) devices(user string) (out []Device) {
	r.t.Helper()
	r.do(func(tx *store.Tx) (err error) {
		out, err = Devices{}.OfUser(tx, user)
		return err
	})
	return out
}

func TestOneDevicePerUser(t *testing.T) {
	r := newUserRig(t)
	d := r.register(Devices{}, Device{UserID: "u1", DeviceToken: "AB" + token("a")[2:], DeviceID: "d1", OSVersion: "18.1"})
	if d.DeviceToken != "ab"+token("a")[2:] || d.TTL != r.now.Add(90*24*time.Hour).Unix() || !d.LastSeenAt.Equal(r.now) {
		t.Errorf("registered %+v", d)
	}
	r.register(Devices{}, Device{UserID: "u2", DeviceToken: token("c"), DeviceID: "d1"})
	r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("b"), DeviceID: "d2"})
	if all := r.devices("u1"); len(all) != 1 || all[0].DeviceID != "d2" {
		t.Errorf("devices %+v", all)
	}
	if all := r.devices("u2"); len(all) != 1 {
		t.Error("another user's device was removed too")
	}
}

func TestManyDevicesPerUser(t *testing.T) {
	r := newUserRig(t)
	multi := Devices{Multi: true}
	r.register(multi, Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1"})
	r.do(func(tx *store.Tx) error {
		_, err := multi.SetPushToStart(tx, "u1", token("a"), token("e"))
		return err
	})
	r.register(multi, Device{UserID: "u1", DeviceToken: token("b"), DeviceID: "d2"})
	moved := r.register(multi, Device{UserID: "u1", DeviceToken: token("c"), DeviceID: "d1"})
	if all := r.devices("u1"); len(all) != 2 {
		t.Errorf("devices %+v", all)
	}
	if moved.PushToStartToken != token("e") {
		t.Errorf("a new device token lost the push-to-start token: %+v", moved)
	}
	again := r.register(multi, Device{UserID: "u1", DeviceToken: token("c"), DeviceID: "d1", AppVersion: "2"})
	if again.PushToStartToken != token("e") || again.AppVersion != "2" {
		t.Errorf("registered again: %+v", again)
	}
}

func TestPushToStart(t *testing.T) {
	r := newUserRig(t)
	set := func(tx *store.Tx) error {
		_, err := Devices{}.SetPushToStart(tx, "u1", token("a"), token("e"))
		return err
	}
	r.refused(fault.NotFound, set)
	r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("a"), DeviceID: "d1"})
	r.do(set)
	drop := func(gone time.Time) string {
		r.do(func(tx *store.Tx) error {
			return Devices{}.DropPushToStart(tx, "u1", token("a"), token("e"), gone)
		})
		return r.devices("u1")[0].PushToStartToken
	}
	if drop(r.now.Add(-time.Second)) == "" {
		t.Error("a token registered after Apple's timestamp was dropped")
	}
	if drop(r.now.Add(time.Second)) != "" {
		t.Error("a dead token was kept")
	}
	r.do(func(tx *store.Tx) error { return Devices{}.DropPushToStart(tx, "u9", token("a"), token("e"), r.now) })
}

func TestDeviceRefused(t *testing.T) {
	r := newUserRig(t)
	for name, d := range map[string]Device{
		"no user":          {DeviceToken: token("a"), Platform: "ios"},
		"android":          {UserID: "u1", DeviceToken: token("a"), Platform: "android"},
		"short token":      {UserID: "u1", DeviceToken: "abcd", Platform: "ios"},
		"odd length":       {UserID: "u1", DeviceToken: token("a") + "b", Platform: "ios"},
		"not hex":          {UserID: "u1", DeviceToken: token("x"), Platform: "ios"},
		"start is not hex": {UserID: "u1", DeviceToken: token("a"), PushToStartToken: "../", Platform: "ios"},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.s.Update(t.Context(), func(tx *store.Tx) error {
				_, err := Devices{}.Register(tx, d)
				return err
			})
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("%v", err)
			}
		})
	}
	r.refused(fault.NotFound, func(tx *store.Tx) error { return Devices{}.Delete(tx, "u1", token("a")) })
	r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("a")})
	if d := r.devices("u1")[0]; d.DeviceID != d.DeviceToken {
		t.Errorf("no device id: %+v", d)
	}
	r.do(func(tx *store.Tx) error { return Devices{}.Delete(tx, "u1", token("a")) })
	if len(r.devices("u1")) != 0 {
		t.Error("the deleted device is still there")
	}
}

// TestDropOfADeadDevice drops a device only if it has not registered since Apple's timestamp.
func TestDropOfADeadDevice(t *testing.T) {
	r := newUserRig(t)
	d := r.register(Devices{}, Device{UserID: "u1", DeviceToken: token("1"), DeviceID: "d1", Platform: "ios"})
	if d.APNsToken != d.DeviceToken || d.TTL != r.now.AddDate(0, 0, 90).Unix() {
		t.Errorf("%+v", d)
	}
	for _, gone := range []struct {
		since time.Duration
		left  int
	}{{-time.Minute, 1}, {time.Minute, 0}} {
		r.do(func(tx *store.Tx) error { return Devices{}.Drop(tx, "u1", d.DeviceToken, r.now.Add(gone.since)) })
		if n := len(r.devices("u1")); n != gone.left {
			t.Errorf("gone since %v: %d left", gone.since, n)
		}
	}
}

func TestHearsChannels(t *testing.T) {
	for version, want := range map[string]bool{
		"": false, "17.6.1": false, "18": true, "18.0": true, "26.1": true, "iOS 18": false, "eighteen": false, "9": false,
	} {
		if got := (&Device{OSVersion: version}).HearsChannels(); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
