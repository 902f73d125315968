package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/attr"
)

// Rows that a user may have written at another node are fetched before a request uses them.
func TestUserRowsAreEnsured(t *testing.T) {
	var asked []string
	var r *appRig
	var elsewhere sync.Once // the device is only in the cloud until it is fetched
	r = newAppRig(t, func(c *setup) {
		c.App.Ensure = func(_ context.Context, table string, keys ...attr.Item) error {
			for _, k := range keys {
				asked = append(asked, table+" "+string(attr.AppendJSON(nil, k)))
			}
			elsewhere.Do(func() {
				r.put(table, phone.Device{UserID: "u1", DeviceToken: tokenOf("a"), DeviceID: "d1", Platform: "ios"})
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

// A slow cloud delays a request by at most two seconds. An unexpected error is not ignored.
func TestEnsureIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		r := newAppRig(t, func(c *setup) {
			c.App.Ensure = func(ctx context.Context, _ string, _ ...attr.Item) error { return fail(ctx) }
			c.ReadCloud = func(ctx context.Context, _ string, _ attr.Item) error { return fail(ctx) }
		})
		begin := time.Now()
		if w := r.send("u1", "POST /user/follow/7", "{}"); w.Code != 201 || time.Since(begin) != 2*time.Second {
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

// Events that another node may have written are fetched before they are shown, if the match exists.
func TestEventsAreEnsured(t *testing.T) {
	const events = `cricket-events {"matchId":{"S":"7"}}`
	for _, c := range []struct {
		ask    string
		status int
		want   []string
	}{
		{"GET /matches/7/events", 200, []string{events}},
		{"GET /matches/7/display", 200, []string{events}},
		{"GET /matches/7/card", 200, nil},
		{"GET /matches/none/events", 404, nil},
		{"GET /matches/none/display", 404, nil},
	} {
		var asked []string
		var r *appRig
		r = newAppRig(t, func(cfg *setup) {
			cfg.App.Ensure = func(_ context.Context, table string, keys ...attr.Item) error {
				asked = append(asked, table+" "+string(attr.AppendJSON(nil, keys[0])))
				r.put(table, attr.Item{
					"matchId": attr.S("7"), "eventKey": attr.S("W:1:3"), "type": attr.S("wicket"), "text": attr.S("bowled at another node"),
					"at": attr.S("2026-07-14T10:00:00Z"), "innings": attr.Int(1), "alert": attr.Bool(false),
				})
				return nil
			}
		})
		w := r.send("u1", c.ask, "")
		if w.Code != c.status || !slices.Equal(asked, c.want) {
			t.Errorf("%s: %d %s, read %q, want %q", c.ask, w.Code, w.Body, asked, c.want)
		}
		if c.ask == "GET /matches/7/events" && !strings.Contains(w.Body.String(), "bowled at another node") {
			t.Errorf("%s: %s", c.ask, w.Body)
		}
	}
}

func TestPagesAndStreamsEnsureEvents(t *testing.T) {
	var count atomic.Int32
	r := newAppRig(t, func(cfg *setup) {
		cfg.App.Ensure = func(context.Context, string, ...attr.Item) error {
			count.Add(1)
			return nil
		}
	})
	address, _ := web.Run(t, r.server) // waits for its streams at the end
	for _, ask := range []string{"/cricket/-/matches/7", "/cricket/-/matches/7/overs", "/_/stream?app=cricket&page=7", "/cricket/matches/7/stream"} {
		count.Store(0)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+ask, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer u1")
		resp, err := web.Client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = resp.Body.Read(make([]byte, 1))
		if n := count.Load(); err != nil || resp.StatusCode != 200 || n != 1 && ask != "/cricket/-/matches/7/overs" {
			t.Errorf("%s: %d, fetched %d times, %v", ask, resp.StatusCode, n, err)
		}
		_ = resp.Body.Close()
	}
}

// A match that is not here is asked for in the cloud before the answer is that there is none, by the API, by pages and by streams. If the
// cloud does not answer, nobody can know.
func TestMatchesAreAskedFor(t *testing.T) {
	for _, ask := range []string{"GET /matches/5", "GET /matches/5/events", "POST /user/follow/5", "GET /-/matches/5"} {
		var r *appRig
		var away error
		there := false
		r = newAppRig(t, func(c *setup) {
			c.App.Ensure = func(context.Context, string, ...attr.Item) error { return away }
			c.ReadCloud = func(_ context.Context, table string, key attr.Item) error {
				if there && table == tables.Fixtures && key["matchId"].Equal(attr.S("5")) {
					r.put(table, matches.Fixture{MatchID: "5", LeagueID: 3, StartTime: rigNow, Type: "T20I", Phase: cricket.PhasePrematch, Status: "NS"})
				}
				return away
			}
		})
		body := ""
		if strings.HasPrefix(ask, "POST") {
			body = "{}"
		}
		send := func() (int, string) {
			w := r.send("u1", ask, body)
			return w.Code, w.Body.String() + w.Header().Get("Retry-After")
		}
		if code, answer := send(); code != 404 {
			t.Errorf("%s, nowhere: %d %s", ask, code, answer)
		}
		away = errors.New("no answer")
		if code, answer := send(); code != 503 || !strings.Contains(answer, "cannot be known now") || !strings.HasSuffix(answer, "5") {
			t.Errorf("%s, the cloud is away: %d %s", ask, code, answer)
		}
		away, there = nil, true
		if code, answer := send(); code >= 400 {
			t.Errorf("%s, in the cloud: %d %s", ask, code, answer)
		}
	}
}
