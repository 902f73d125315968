package web

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// An evening game that a phone kept out of coverage is recorded the next morning as it was made, once its scorer has confirmed the times. The node
// fixes each time in the row of the key: a repetition, which has a greater age, gets the same.
func TestFixedTime(t *testing.T) {
	r := newRig(t)
	r.league()
	evening := r.now
	r.now = evening.Add(14 * time.Hour)
	send := func(at time.Duration, path, body string, more ...string) (int, string, string) {
		t.Helper()
		ago := fmt.Sprintf("%.1f", (14*time.Hour - at).Seconds())
		w := r.ask("keeper", "POST", "/v1/games/g"+path, body, append(more, "Idempotency-Key", path+at.String(), "Touchline-Occurred-Ago", ago)...)
		return w.Code, w.Header().Get("Touchline-Occurred-At"), w.Body.String()
	}
	const sure = "Touchline-Occurred-Confirmed"
	if code, _, body := send(0, "/thirds/1/start", ""); code != 409 || !strings.Contains(body, "occurred_at") {
		t.Fatalf("without a word of the scorer: %d %s", code, body)
	}
	for _, one := range []struct {
		at         time.Duration
		path, body string
		code       int
	}{{0, "/thirds/1/start", "", 200}, {5 * time.Minute, "/goals", redGoal, 201}, {20 * time.Minute, "/thirds/1/finish", "", 200}} {
		code, at, body := send(one.at, one.path, one.body, sure, "1")
		if want := evening.Add(one.at).Format("2006-01-02T15:04:05.000Z"); code != one.code || at != want {
			t.Fatalf("%s at %q, want %q: %d %s", one.path, at, want, code, body)
		}
		r.now = r.now.Add(time.Minute)
		if _, again, body := send(one.at, one.path, one.body, sure, "1"); again != at {
			t.Errorf("%s again at %q, was %q: %s", one.path, again, at, body)
		}
		r.now = r.now.Add(-time.Minute)
	}
	r.want(200, `"displayTime":"05:00"`, "keeper", "GET", "/v1/games/g/goals", "")
}
