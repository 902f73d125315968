package sportmonks_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

func limited(t *testing.T, f *feed, calls int) *sportmonks.Client {
	t.Helper()
	return newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: f.clock, CallsPerHour: calls})
}

// The client counts an hour's calls from the first one. The last tenth is reserved for final reads. When the hour is over,
// the count starts again.
func TestBudgetOfAnHour(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch))
	c := limited(t, f, 40)
	read := func(ctx context.Context) error {
		_, err := c.Livescores(ctx, false)
		return err
	}
	f.pass(t, 10*time.Minute) // the window begins with the first call, not with the client
	for i := range 36 {
		if err := read(t.Context()); err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
		f.pass(t, time.Minute)
	}
	reset := start().Add(70 * time.Minute)
	for range 3 {
		own := wantError(t, read(t.Context()), fault.Throttled, sportmonks.CodeBudget)
		if !own.Until.Equal(reset) || f.asked() != 36 {
			t.Errorf("until %v, want %v; called %d times", own.Until, reset, f.asked())
		}
	}
	want := sportmonks.Budget{Limit: 40, Used: 36, Remaining: 4, Reserve: 4, Reset: reset, Next: reset}
	if got := c.Budgets()[sportmonks.Livescores]; got != want || got.Remaining > got.Reserve {
		t.Errorf("budget %+v, want %+v", got, want)
	}
	if h := c.Health()[sportmonks.Livescores]; h.State != sportmonks.StateBroke || !h.Until.Equal(reset) ||
		!c.RestsUntil(sportmonks.Livescores).Equal(reset) {
		t.Errorf("health %+v", h)
	}
	if _, err := c.Fixtures(t.Context(), start(), start()); err != nil {
		t.Errorf("another endpoint: %v", err)
	}
	final := sportmonks.Final(t.Context())
	for range 4 {
		if err := read(final); err != nil {
			t.Errorf("a final read: %v", err)
		}
	}
	wantError(t, read(final), fault.Throttled, sportmonks.CodeBudget)
	f.pass(t, reset.Sub(f.clock.Now())-time.Second)
	wantError(t, read(t.Context()), fault.Throttled, sportmonks.CodeBudget)
	f.pass(t, time.Second)
	if err := read(t.Context()); err != nil {
		t.Errorf("in the next hour: %v", err)
	}
	if got := c.Budget(sportmonks.Livescores); got.Used != 1 || !got.Reset.Equal(reset.Add(time.Hour)) {
		t.Errorf("the next hour's budget: %+v", got)
	}
}

// Every attempt counts, including retries. A retry that the budget does not allow is not sent; the error is then the feed's.
func TestRetriesAreCounted(t *testing.T) {
	f := newFeed(t, answer(500, ""))
	c := limited(t, f, 3)
	_, err := c.Livescores(t.Context(), false)
	own := wantError(t, err, fault.Unavailable, sportmonks.CodeUnavailable)
	if own.Status != 500 || f.asked() != 3 {
		t.Errorf("status %d, called %d times", own.Status, f.asked())
	}
	if got := c.Budget(sportmonks.Livescores); got.Remaining != 0 || got.Used != 3 {
		t.Errorf("budget %+v", got)
	}
	_, err = c.Livescores(t.Context(), false)
	wantError(t, err, fault.Throttled, sportmonks.CodeBudget)
	if f.asked() != 3 {
		t.Errorf("called %d times", f.asked())
	}
}

// A call refused for lack of budget says nothing about the feed's health: it neither trips the breaker nor raises an alarm.
func TestBudgetKeepsTheBreakerClosed(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch))
	c := limited(t, f, 1)
	for range 20 {
		_, _ = c.Livescores(t.Context(), false)
	}
	f.pass(t, time.Hour)
	if _, err := c.Livescores(t.Context(), false); err != nil || f.asked() != 2 {
		t.Errorf("%v, called %d times", err, f.asked())
	}
	if h := c.Health()[sportmonks.Livescores]; h.Failed != 0 || h.Calls != 2 || h.Alarm != "" {
		t.Errorf("health %+v", h)
	}
}

func rates(limit, left int, reset string) []string {
	h := []string{"X-RateLimit-Limit", strconv.Itoa(limit), "X-RateLimit-Remaining", strconv.Itoa(left)}
	if reset != "" {
		h = append(h, "X-RateLimit-Reset", reset)
	}
	return h
}

// The feed's rate limit headers correct the client's own count.
func TestBudgetIsCorrected(t *testing.T) {
	hour := start().Add(time.Hour)
	tests := []struct {
		name    string
		headers [][]string // of the answers, one a second
		want    sportmonks.Budget
	}{
		{"another limit", [][]string{rates(3000, 2999, "")}, sportmonks.Budget{Limit: 3000, Used: 1, Reset: hour}},
		{"other programs use the token too", [][]string{rates(2000, 500, "")}, sportmonks.Budget{Limit: 2000, Used: 1500, Reset: hour}},
		{"our count continues from there", [][]string{rates(2000, 500, ""), nil, nil},
			sportmonks.Budget{Limit: 2000, Used: 1502, Reset: hour}},
		{"an answer arrives late", [][]string{rates(2000, 500, ""), rates(2000, 501, "")},
			sportmonks.Budget{Limit: 2000, Used: 1501, Reset: hour}},
		{"a header that never changes does not stop our count", [][]string{rates(2000, 1999, ""), rates(2000, 1999, ""), rates(2000, 1999, "")},
			sportmonks.Budget{Limit: 2000, Used: 3, Reset: hour}},
		{"the feed's hour ends before ours", [][]string{rates(2000, 500, ""), rates(2000, 1999, "")},
			sportmonks.Budget{Limit: 2000, Used: 1, Reset: hour.Add(time.Second)}},
		{"reset in seconds", [][]string{rates(2000, 500, "600")},
			sportmonks.Budget{Limit: 2000, Used: 1500, Reset: start().Add(10 * time.Minute)}},
		{"reset as an epoch", [][]string{rates(2000, 500, strconv.FormatInt(start().Add(time.Minute).Unix(), 10))},
			sportmonks.Budget{Limit: 2000, Used: 1500, Reset: start().Add(time.Minute)}},
		{"reset in the past", [][]string{rates(2000, 500, "1000000001")}, sportmonks.Budget{Limit: 2000, Used: 1500, Reset: hour}},
		{"reset beyond an hour", [][]string{rates(2000, 500, "999999999")}, sportmonks.Budget{Limit: 2000, Used: 1500, Reset: hour}},
		{"a limit of 0 is ignored", [][]string{rates(0, 0, "")}, sportmonks.Budget{Limit: 2000, Used: 1, Reset: hour}},
		{"more remaining than the limit", [][]string{rates(2000, 9000, "")}, sportmonks.Budget{Limit: 2000, Used: 1, Reset: hour}},
		{"not a number", [][]string{{"X-RateLimit-Limit", "many", "X-RateLimit-Remaining", "1"}},
			sportmonks.Budget{Limit: 2000, Used: 1, Reset: hour}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t)
			for _, h := range tt.headers {
				f.script = append(f.script, answer(200, oneMatch, h...))
			}
			for i := range tt.headers {
				if i > 0 {
					f.pass(t, time.Second)
				}
				if _, err := f.client.Livescores(t.Context(), false); err != nil {
					t.Fatal(err)
				}
			}
			got := f.client.Budget(sportmonks.Livescores)
			tt.want.Remaining, tt.want.Reserve = tt.want.Limit-tt.want.Used, tt.want.Limit/10
			got.Known, got.At = false, time.Time{}
			if got != tt.want {
				t.Errorf("budget %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A node that starts in the middle of a used-up hour does not know when it ends: it sends a probe every five minutes.
func TestBudgetOfAnHourThatBeganBefore(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch, rates(2000, 0, "")...), answer(200, oneMatch, rates(2000, 0, "")...),
		answer(200, oneMatch, rates(2000, 1999, "")...))
	for i, until := range []time.Duration{5 * time.Minute, 10 * time.Minute} {
		if _, err := f.client.Livescores(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		_, err := f.client.Livescores(t.Context(), false)
		own := wantError(t, err, fault.Throttled, sportmonks.CodeBudget)
		if own.Until.Sub(start()) != until || f.asked() != i+1 {
			t.Errorf("until %v, called %d times", own.Until, f.asked())
		}
		f.pass(t, own.Until.Sub(f.clock.Now()))
	}
	for range 3 {
		if _, err := f.client.Livescores(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.client.Budget(sportmonks.Livescores); got.Used != 3 || !got.Reset.Equal(start().Add(70*time.Minute)) {
		t.Errorf("budget %+v", got)
	}
}

// A 429 without a time, near the limit by our own count: the feed's hour may differ from ours, so the client probes every
// five minutes.
func TestThrottledAtTheEndOfTheWindow(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch), answer(200, oneMatch), answer(429, ""), answer(200, oneMatch))
	c := limited(t, f, 3)
	read := func() error {
		_, err := c.Livescores(t.Context(), false)
		return err
	}
	for range 2 {
		if err := read(); err != nil {
			t.Fatal(err)
		}
		f.pass(t, time.Minute)
	}
	own := wantError(t, read(), fault.Throttled, sportmonks.CodeThrottled)
	if until := own.Until.Sub(f.clock.Now()); until != 5*time.Minute {
		t.Errorf("until %v", until)
	}
	f.pass(t, 5*time.Minute)
	for range 3 { // an answer beyond the limit shows that a new hour has begun
		if err := read(); err != nil {
			t.Error(err)
		}
	}
}

// The time that a 429 gives for the next call ends a used-up budget, whatever else the feed reports or leaves out: neither
// X-RateLimit-Reset nor our own hour lasts longer.
func TestRetryAfterWins(t *testing.T) {
	for name, tt := range map[string]struct {
		headers []string
		wait    time.Duration
		used    int // by our count, two answers later
	}{
		"nothing left":             {append(rates(2000, 0, ""), "Retry-After", "20"), 20 * time.Second, 2},
		"nothing left, with reset": {append(rates(2000, 0, "1800"), "Retry-After", "20"), 20 * time.Second, 2},
		"nothing left, by date": {append(rates(2000, 0, ""), "Retry-After", start().Add(20*time.Second).Format(http.TimeFormat)),
			20 * time.Second, 2},
		"some calls left":  {append(rates(2000, 500, ""), "Retry-After", "20"), 20 * time.Second, 1502},
		"only Retry-After": {[]string{"Retry-After", "20"}, 20 * time.Second, 3},
		"only the reset":   {rates(2000, 0, "40"), 40 * time.Second, 2},
		"no time at all":   {rates(2000, 0, ""), 5 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(t, answer(429, `{"message":"Too Many Attempts."}`, tt.headers...), answer(200, oneMatch))
			_, err := f.client.Livescores(t.Context(), false)
			own := wantError(t, err, fault.Throttled, sportmonks.CodeThrottled)
			if wait := own.Until.Sub(start()); wait != tt.wait {
				t.Errorf("rests for %v, want %v", wait, tt.wait)
			}
			h, until := f.client.Health()[sportmonks.Livescores], f.client.RestsUntil(sportmonks.Livescores)
			if !h.Until.Equal(own.Until) || !until.Equal(own.Until) || !f.client.RestsUntil(sportmonks.Fixture).IsZero() {
				t.Errorf("health %+v, rests until %v", h, until)
			}
			f.pass(t, tt.wait)
			for range 2 {
				if _, err := f.client.Livescores(t.Context(), false); err != nil {
					t.Fatal(err)
				}
				f.pass(t, time.Second)
			}
			if got := f.client.Budget(sportmonks.Livescores); got.Used != tt.used || !got.Next.IsZero() {
				t.Errorf("budget %+v, want %d used", got, tt.used)
			}
		})
	}
}

// Whatever is read and whenever: no hour that begins with a call has more calls than the limit, and ordinary reads leave
// the reserve.
func TestBudgetIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(1, 60).Draw(r, "limit")
		f := newFeed(t, answer(200, oneMatch))
		c := limited(t, f, limit)
		var opened time.Time
		used, ordinary := 0, 0
		for range rapid.IntRange(1, 150).Draw(r, "reads") {
			if gap := time.Duration(rapid.IntRange(0, 3).Draw(r, "gap")) * time.Minute; gap > 0 {
				if err := clock.Sleep(t.Context(), f.clock, gap); err != nil {
					r.Fatal(err)
				}
			}
			if now := f.clock.Now(); opened.IsZero() || now.Sub(opened) >= time.Hour {
				opened, used, ordinary = now, 0, 0
			}
			ctx, final := t.Context(), rapid.Bool().Draw(r, "final")
			if final {
				ctx = sportmonks.Final(ctx)
			}
			_, err := c.Livescores(ctx, false)
			reserve := 0
			if limit >= 10 {
				reserve = (limit + 9) / 10
			}
			allowed := used < limit && (final || used < limit-reserve)
			if (err == nil) != allowed {
				r.Fatalf("after %d of %d calls, final %v: %v", used, limit, final, err)
			}
			if err == nil {
				used++
				if !final {
					ordinary++
				}
			}
			if used == 0 {
				opened = time.Time{}
			}
			if got := c.Budget(sportmonks.Livescores); got.Used != used || ordinary > limit-reserve {
				r.Fatalf("counted %+v, want %d", got, used)
			}
		}
	})
}
