package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// What a user has written at another node is read before it is looked for here.
func TestUserRowsAreEnsured(t *testing.T) {
	var asked []string
	var r *appRig
	var elsewhere sync.Once // it is in the cloud alone until somebody asks
	r = newAppRig(t, func(c *Config) {
		c.Ensure = func(_ context.Context, table string, keys ...attr.Item) error {
			for _, k := range keys {
				asked = append(asked, table+" "+string(attr.AppendJSON(nil, k)))
			}
			elsewhere.Do(func() {
				r.put(table, cricket.Device{UserID: "u1", DeviceToken: tokenOf("a"), DeviceID: "d1", Platform: "ios"})
			})
			return nil
		}
	})
	const (
		devices   = `cricket-devices {"userId":{"S":"u1"}}`
		fixture   = `cricket-fixtures {"matchId":{"S":"7"}}`
		following = `cricket-match-follows {"matchId":{"S":"7"},"userId":{"S":"u1"}}`
		activity  = `live-activities {"matchId":{"S":"7"},"userId#deviceId":{"S":"u1#d1"}}`
	)
	for _, c := range []struct {
		ask, body string
		status    int
		want      []string
	}{
		{"GET /user/device", "", 200, []string{devices}},
		{"POST /user/device", device("a", "d1"), 200, []string{devices}},
		{"POST /user/follow/7", "{}", 201, []string{devices, fixture, following, activity}},
		{"GET /user/follow/7", "", 200, []string{devices, fixture, following, activity}},
		{"PATCH /user/follow/7", `{"teamId":10}`, 200, []string{devices, fixture, following, activity}},
		{"POST /user/activity/7", `{"updateToken":"` + tokenOf("b") + `","deviceId":"d1"}`, 200, []string{devices, fixture, following, activity}},
		{"DELETE /user/activity/7?deviceId=d1", "", 204, []string{devices, fixture, following, activity}},
		{"DELETE /user/device?deviceToken=" + tokenOf("a"), "", 204, []string{devices}},
	} {
		asked = nil
		w := r.send("u1", c.ask, c.body)
		if w.Code != c.status || !slices.Equal(asked, c.want) {
			t.Errorf("%s: %d %s, read %q, want %q", c.ask, w.Code, w.Body, asked, c.want)
		}
	}
}

// A cloud that is slow holds nobody up for long; an error that nobody expects is not passed over.
func TestEnsureIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r := newAppRig(t, func(c *Config) {
			c.Ensure = func(ctx context.Context, _ string, _ ...attr.Item) error { return fail(ctx) }
		})
		begin := time.Now()
		if w := r.send("u1", "POST /user/follow/7", "{}"); w.Code != 201 || time.Since(begin) != ensureWithin {
			t.Errorf("%d after %s: %s", w.Code, time.Since(begin), w.Body)
		}
		fail = func(context.Context) error { return fault.New(fault.Invalid, "bad_key", "no key") }
		if w := r.send("u1", "GET /user/follow/7", ""); w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		fail = func(context.Context) error { return errors.New("a bug") }
		if w := r.send("u1", "GET /user/follow/7", ""); w.Code != 500 || strings.Contains(w.Body.String(), "a bug") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
