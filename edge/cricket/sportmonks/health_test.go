package sportmonks_test

import (
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/fault"
)

// 401 and 403 raise an alarm. It outlasts the endpoint's rest and other failures, and ends with the next good answer.
func TestAlarm(t *testing.T) {
	for status, code := range map[int]string{401: sportmonks.CodeUnauthorized, 403: sportmonks.CodeForbidden} {
		f := newFeed(t, answer(status, ""), answer(404, ""), answer(200, `{"data":{"id":5}}`))
		read := func() error {
			_, err := f.client.Fixture(t.Context(), "5", false)
			return err
		}
		if f.client.Health()[sportmonks.Fixture].Alarm != "" {
			t.Error("an alarm before the first call")
		}
		kind := fault.Unauthorized
		if status == 403 {
			kind = fault.Forbidden
		}
		wantError(t, read(), kind, code)
		h := f.client.Health()[sportmonks.Fixture]
		if h.State != sportmonks.StateRefused || h.Until.Sub(start()) != 5*time.Minute || !h.AlarmAt.Equal(start()) || h.Failed != 1 {
			t.Errorf("%d: %+v", status, h)
		}
		f.pass(t, 5*time.Minute)
		wantError(t, read(), fault.NotFound, sportmonks.CodeNotFound)
		if alarm := f.client.Health()[sportmonks.Fixture].Alarm; !strings.Contains(alarm, strconv.Itoa(status)) {
			t.Errorf("alarm %q", alarm)
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		h = f.client.Health()[sportmonks.Fixture]
		want := sportmonks.Health{State: sportmonks.StateClosed, Calls: 3, Failed: 2, GoodAt: f.clock.Now(),
			LastFail: "answered 404, no such record"}
		if h != want {
			t.Errorf("%+v, want %+v", h, want)
		}
	}
}

// The states of an endpoint as it fails, recovers and is throttled.
func TestStates(t *testing.T) {
	script := answer(200, "<html>")
	f := newFeed(t, func(w http.ResponseWriter, r *http.Request) { script(w, r) })
	state := func() sportmonks.State { return f.client.Health()[sportmonks.Livescores].State }
	for range 4 {
		if state() != sportmonks.StateClosed {
			t.Errorf("state %s before the fourth failure", state())
		}
		_, _ = f.client.Livescores(t.Context(), false)
	}
	if state() != sportmonks.StateOpen {
		t.Errorf("state %s, want open", state())
	}
	f.pass(t, 30*time.Second)
	if state() != sportmonks.StateHalfOpen {
		t.Errorf("state %s, want half-open", state())
	}
	script = answer(200, oneMatch)
	if _, err := f.client.Livescores(t.Context(), false); err != nil || state() != sportmonks.StateClosed {
		t.Errorf("state %s after a good trial, %v", state(), err)
	}
	script = answer(429, "", "Retry-After", "100")
	if _, err := f.client.Livescores(t.Context(), false); err == nil || state() != sportmonks.StateResting {
		t.Errorf("state %s after 429, %v", state(), err)
	}
	if other := f.client.Health()[sportmonks.Teams].State; other != sportmonks.StateClosed {
		t.Errorf("another endpoint is %s", other)
	}
}

// Unknown values are accepted; each distinct value is counted once and logged once.
func TestOddities(t *testing.T) {
	var logged bytes.Buffer
	f := newFeed(t,
		answer(200, `{"data":[{"id":5,"status":"Rain Delay","type":"Blitz","vibe":1,"runs":[{"inning":1,"mood":2}],
			"balls":[{"id":1,"score_id":4711,"spin":{"rpm":[1]},"updated_at":"09/10/2026 13:06"},{"id":2,"score_id":4711,"updated_at":"09/10/2026 13:07"}]},{"id":"x"}]}`),
		answer(200, `{"data":[{"id":5,"status":"rain delay 2","type":"Woman T20I","vibe":2},{"id":6,"status":"Rain Delay"}]}`),
		answer(200, `{"data":[{"id":5`), answer(503, ""), answer(200, " <html>"))
	c := newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: f.clock, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	for range 3 {
		_, _ = c.Livescores(t.Context(), true)
	}
	_, _ = c.Livescores(t.Context(), true) // 503, then HTML
	want := map[string]int64{
		sportmonks.OddUnknownStatus: 2, sportmonks.OddUnknownType: 1, sportmonks.OddUnknownField: 3,
		sportmonks.OddUnknownScore: 1, sportmonks.OddSkippedMatch: 1, sportmonks.OddTruncated: 1,
		sportmonks.OddServerError: 1, sportmonks.OddHTML: 1, sportmonks.OddUnknownTime: 1,
	}
	if got := c.Oddities(); !maps.Equal(got, want) {
		t.Errorf("oddities %v, want %v", got, want)
	}
	for _, value := range []string{"Rain Delay", "Blitz", "fixture.vibe", "runs.mood", "balls.spin", "4711", "00/00/0000 00:00"} {
		if n := strings.Count(logged.String(), "value=\""+value+"\"") + strings.Count(logged.String(), "value="+value+"\n"); n != 1 {
			t.Errorf("%s was logged %d times\n%s", value, n, logged.String())
		}
	}
}

// A feed that invents names endlessly fills neither the memory nor the log.
func TestOdditiesAreBounded(t *testing.T) {
	i := 0
	f := newFeed(t, func(w http.ResponseWriter, r *http.Request) {
		var fields strings.Builder
		for range 300 {
			i++
			fields.WriteString(`,"` + strings.Repeat("x", i) + `":1`)
		}
		answer(200, `{"data":{"id":5`+fields.String()+`}}`)(w, r)
	})
	for range 3 {
		if _, err := f.client.Fixture(t.Context(), "5", false); err != nil {
			t.Fatal(err)
		}
	}
	// Names are distinguished by their first 64 bytes only.
	if got := f.client.Oddities(); got[sportmonks.OddUnknownField] > 64 {
		t.Errorf("oddities %v", got)
	}
}

func TestCollector(t *testing.T) {
	f := newFeed(t, answer(401, ""))
	c := limited(t, f, 100)
	_, _ = c.Livescores(t.Context(), false)
	_, _ = c.Leagues(t.Context())
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c.Collector()); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := strings.TrimPrefix(family.GetName(), "touchline_feed_")
			for _, label := range m.GetLabel() {
				name += " " + label.GetValue()
			}
			got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	if len(got) != 8*11 {
		t.Errorf("%d metrics, want %d", len(got), 8*11)
	}
	for name, want := range map[string]float64{
		"alarm livescores": 1, "alarm leagues": 1, "alarm teams": 0, "calls_total livescores": 1, "failures_total leagues": 1,
		"budget_limit scores": 100, "budget_remaining livescores": 99, "budget_remaining teams": 100,
		"endpoint_state livescores refused": 1, "endpoint_state livescores closed": 0, "endpoint_state teams closed": 1,
	} {
		if v, there := got[name]; !there || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}
