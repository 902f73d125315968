package sportmonks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

// hangUp ends the connection in the middle of the body.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "500")
	_, _ = w.Write([]byte(`{"data":[`))
	panic(http.ErrAbortHandler)
}

// Which answers are retried and after how long, on the injected clock. The jitter is full with a floor of 250 ms, and the
// random number is always 0.5.
func TestRetries(t *testing.T) {
	second := time.Second
	first, next := 375*time.Millisecond, 625*time.Millisecond
	ok := answer(200, oneMatch)
	tests := []struct {
		name   string
		script []http.HandlerFunc
		waits  []time.Duration
		code   string // of the error in the end
	}{
		{"500", []http.HandlerFunc{answer(500, ""), ok}, []time.Duration{first}, ""},
		{"502, 503", []http.HandlerFunc{answer(502, "<html>"), answer(503, ""), ok}, []time.Duration{first, next}, ""},
		{"504 forever", []http.HandlerFunc{answer(504, "")}, []time.Duration{first, next, 1125 * time.Millisecond},
			sportmonks.CodeUnavailable},
		{"connection cut in the body", []http.HandlerFunc{hangUp, ok}, []time.Duration{first}, ""},
		{"429, soon", []http.HandlerFunc{answer(429, "", "Retry-After", "3"), ok}, []time.Duration{3*second + first}, ""},
		{"429, at once", []http.HandlerFunc{answer(429, "", "Retry-After", "0"), ok}, []time.Duration{first}, ""},
		{"429, in the past", []http.HandlerFunc{answer(429, "", "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"), ok},
			[]time.Duration{first}, ""},
		{"429, negative", []http.HandlerFunc{answer(429, "", "Retry-After", "-5"), ok}, []time.Duration{first}, ""},
		{"429, by date", []http.HandlerFunc{
			answer(429, "", "Retry-After", start().Add(4*second).Format(http.TimeFormat)), ok},
			[]time.Duration{4*second + first}, ""},
		{"503, soon", []http.HandlerFunc{answer(503, "", "Retry-After", "2"), ok}, []time.Duration{2*second + first}, ""},
		{"501 is final", []http.HandlerFunc{answer(501, "")}, nil, sportmonks.CodeUnavailable},
		{"400 is final", []http.HandlerFunc{answer(400, "")}, nil, sportmonks.CodeBadRequest},
		{"HTML is final", []http.HandlerFunc{answer(200, "<!DOCTYPE html>")}, nil, sportmonks.CodeNotJSON},
		{"an empty body is final", []http.HandlerFunc{answer(200, " ")}, nil, sportmonks.CodeNotJSON},
		{"an array is final", []http.HandlerFunc{answer(200, `[]`)}, nil, sportmonks.CodeNotJSON},
		{"truncated", []http.HandlerFunc{answer(200, oneMatch[:20])}, nil, sportmonks.CodeBadJSON},
		{"a message is final", []http.HandlerFunc{answer(200, `{"message":"Too Many Attempts."}`)}, nil, sportmonks.CodeBadJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, tt.script...)
			r, err := f.client.Livescores(t.Context(), false)
			if tt.code == "" && (err != nil || len(r.Snapshots) != 1) {
				t.Errorf("%+v, %v", r, err)
			}
			if tt.code != "" {
				if own, ok := errors.AsType[*sportmonks.Error](err); !ok || own.Fault.Code != tt.code {
					t.Errorf("error %v, want code %s", err, tt.code)
				}
			}
			if !slices.Equal(f.waits(), tt.waits) {
				t.Errorf("waits %v, want %v", f.waits(), tt.waits)
			}
		})
	}
}

// An endpoint that refused or throttled a call rests: it is not called before its time. The other endpoints are.
func TestLeftAlone(t *testing.T) {
	day := answer(429, "", "Retry-After", "86400")
	tests := []struct {
		name  string
		first http.HandlerFunc
		kind  fault.Kind
		code  string
		rest  time.Duration
	}{
		{"401", answer(401, ""), fault.Unauthorized, sportmonks.CodeUnauthorized, 5 * time.Minute},
		{"403", answer(403, ""), fault.Forbidden, sportmonks.CodeForbidden, 5 * time.Minute},
		{"429 for a day rests an hour", day, fault.Throttled, sportmonks.CodeThrottled, time.Hour},
		{"429 with the largest number", answer(429, "", "Retry-After", "9223372036854775807"),
			fault.Throttled, sportmonks.CodeThrottled, time.Hour},
		{"429 for a minute", answer(429, "", "Retry-After", "60"), fault.Throttled, sportmonks.CodeThrottled, time.Minute},
		{"429 without a time", answer(429, ""), fault.Throttled, sportmonks.CodeThrottled, time.Minute},
		{"429 with a reset", answer(429, "", "X-RateLimit-Reset", "1800"),
			fault.Throttled, sportmonks.CodeThrottled, 30 * time.Minute},
		{"503 for two minutes", answer(503, "", "Retry-After", "120"), fault.Unavailable, sportmonks.CodeUnavailable, 2 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, tt.first, answer(200, `{"data":{"id":5}}`))
			_, err := f.client.Livescores(t.Context(), false)
			own := wantError(t, err, tt.kind, tt.code)
			if rest := own.Until.Sub(start()); rest != tt.rest {
				t.Errorf("rests for %v, want %v", rest, tt.rest)
			}
			f.pass(t, tt.rest-time.Second)
			_, err = f.client.Livescores(t.Context(), true)
			if again := wantError(t, err, tt.kind, tt.code); !again.Until.Equal(own.Until) || f.asked() != 1 {
				t.Errorf("called %d times, until %v", f.asked(), again.Until)
			}
			if _, err := f.client.Fixture(t.Context(), "5", false); err != nil {
				t.Errorf("another endpoint: %v", err)
			}
			f.pass(t, time.Second)
			if _, err := f.client.Livescores(t.Context(), false); err != nil || f.asked() != 3 {
				t.Errorf("after the rest: %v, called %d times", err, f.asked())
			}
		})
	}
}

// Consecutive 429s without a time double the wait, up to the window of an hour.
func TestThrottledAgainAndAgain(t *testing.T) {
	f := newFeed(t, answer(429, ""))
	var rests []time.Duration
	for range 8 {
		_, err := f.client.Livescores(t.Context(), false)
		own := wantError(t, err, fault.Throttled, sportmonks.CodeThrottled)
		rests = append(rests, own.Until.Sub(f.clock.Now()))
		f.pass(t, own.Until.Sub(f.clock.Now()))
	}
	m := time.Minute
	if want := []time.Duration{m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m, 60 * m, 60 * m}; !slices.Equal(rests, want) {
		t.Errorf("rests %v, want %v", rests, want)
	}
}

// The breaker opens after consecutive failures, allows one trial after its rest, and follows the injected clock.
func TestBreaker(t *testing.T) {
	broken := true
	f := newFeed(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			answer(200, "<html>")(w, r)
			return
		}
		answer(200, oneMatch)(w, r)
	})
	read := func() error {
		_, err := f.client.Livescores(t.Context(), false)
		return err
	}
	for range 4 {
		wantError(t, read(), fault.Unavailable, sportmonks.CodeNotJSON)
	}
	own := wantError(t, read(), fault.Unavailable, sportmonks.CodeResting)
	if f.asked() != 4 || own.Until.Sub(f.clock.Now()) != 30*time.Second {
		t.Errorf("called %d times, until %v", f.asked(), own.Until)
	}
	f.pass(t, 30*time.Second)
	wantError(t, read(), fault.Unavailable, sportmonks.CodeNotJSON) // on trial
	wantError(t, read(), fault.Unavailable, sportmonks.CodeResting)
	f.pass(t, 30*time.Second)
	broken = false
	for range 3 {
		if err := read(); err != nil {
			t.Fatal(err)
		}
	}
	if f.asked() != 8 {
		t.Errorf("called %d times, want 8", f.asked())
	}
}

// An answer that says nothing about the endpoint's health does not open the breaker.
func TestNotFoundKeepsTheBreakerClosed(t *testing.T) {
	f := newFeed(t, answer(404, ""))
	for range 10 {
		_, err := f.client.Fixture(t.Context(), "5", false)
		wantError(t, err, fault.NotFound, sportmonks.CodeNotFound)
	}
}

func TestRedirectIsRefused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went to %s", r.URL)
	}))
	defer elsewhere.Close()
	f := newFeed(t, answer(302, "", "Location", elsewhere.URL+"/?steal"))
	_, err := f.client.Livescores(t.Context(), false)
	wantError(t, err, fault.Unavailable, sportmonks.CodeNotJSON)
	if f.asked() != 1 {
		t.Errorf("called %d times", f.asked())
	}
}

func TestTooLarge(t *testing.T) {
	body := `{"data":[{"id":5,"note":"` + strings.Repeat("x", 5000) + `"}]}`
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		for part := range strings.SplitSeq(body, "xxxxxxxx") {
			_, _ = w.Write([]byte(part + "xxxxxxxx"))
			w.(http.Flusher).Flush()
		}
	}
	for name, script := range map[string]http.HandlerFunc{"announced": answer(200, body), "not announced": chunked} {
		t.Run(name, func(t *testing.T) {
			f := newFeed(t, script)
			c := newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: f.clock, MaxBody: 4000})
			_, err := c.Livescores(t.Context(), false)
			wantError(t, err, fault.TooLarge, sportmonks.CodeTooLarge)
			if f.asked() != 1 {
				t.Errorf("called %d times", f.asked())
			}
		})
	}
}

// A missing answer ends with the timeout of the attempt, whether the headers or the body do not come.
func TestSlow(t *testing.T) {
	inHeaders := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	inBody := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[`))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, script := range map[string]http.HandlerFunc{"headers": inHeaders, "body": inBody} {
		t.Run(name, func(t *testing.T) {
			for tries := 1; ; tries++ { // on a busy machine the good answer may be late too: allow more time with each try
				f := newFeed(t, script, answer(200, oneMatch))
				c := newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: f.clock, Timeout: time.Duration(tries) * 50 * time.Millisecond})
				r, err := c.Livescores(t.Context(), false)
				if err == nil && len(r.Snapshots) == 1 && f.asked() == 2 {
					return
				}
				if tries == 20 {
					t.Fatalf("%+v, %v, called %d times", r, err, f.asked())
				}
			}
		})
	}
}

// A wait that the caller cancels returns context.Canceled together with the feed's last answer.
func TestInterruptedWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFeed(t, answer(503, "", "Retry-After", "5"))
	stopped := &stopAt{Stepped: f.clock, stop: cancel}
	c := newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: stopped})
	_, err := c.Livescores(ctx, false)
	own := wantError(t, err, fault.Unavailable, sportmonks.CodeUnavailable)
	if !errors.Is(err, context.Canceled) || own.Status != 503 || !strings.Contains(err.Error(), "503") {
		t.Errorf("%v, status %d", err, own.Status)
	}
}

// stopAt is a clock that cancels the caller's context when it is asked to wait.
type stopAt struct {
	*clock.Stepped
	stop func()
}

func (c *stopAt) Wait(ctx context.Context, _ time.Time, sig *clock.Signal) error {
	c.stop()
	return c.Stepped.Wait(ctx, time.Time{}, sig)
}

// echo answers with the token in place of a number.
func echo(w http.ResponseWriter, r *http.Request) {
	answer(200, `{"data":[{"id":"`+token+" "+r.URL.RawQuery+`"}]}`)(w, r)
}

// noHTTP answers with the token in place of an HTTP status line.
func noHTTP(w http.ResponseWriter, r *http.Request) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = rw.WriteString("GARBAGE " + token + " " + r.URL.RawQuery + "\r\n\r\n")
	_ = rw.Flush()
	_ = conn.Close()
}

// asks returns a read of every endpoint, which reports the skipped records too.
func asks() map[sportmonks.Endpoint]func(context.Context, *sportmonks.Client) ([]error, error) {
	reading := func(r sportmonks.Reading, err error) ([]error, error) { return r.Skipped, err }
	return map[sportmonks.Endpoint]func(context.Context, *sportmonks.Client) ([]error, error){
		sportmonks.Livescores: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			return reading(c.Livescores(ctx, true))
		},
		sportmonks.Fixture: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			return reading(c.Fixture(ctx, "5", false))
		},
		sportmonks.Fixtures: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			_, err := c.Fixtures(ctx, start(), start())
			return nil, err
		},
		sportmonks.Leagues: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			_, err := c.Leagues(ctx)
			return nil, err
		},
		sportmonks.Seasons: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			_, err := c.Seasons(ctx)
			return nil, err
		},
		sportmonks.Teams: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			_, err := c.Teams(ctx)
			return nil, err
		},
		sportmonks.Squads: func(ctx context.Context, c *sportmonks.Client) ([]error, error) {
			_, err := c.Squad(ctx, "1", "2")
			return nil, err
		},
		sportmonks.Scores: func(ctx context.Context, c *sportmonks.Client) ([]error, error) { return nil, c.LoadScores(ctx) },
	}
}

// The token is never in an error, its causes, the log, or the state shown to operators, whatever fails on whichever
// endpoint.
func TestTokenStaysInside(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	scripts := map[string]http.HandlerFunc{
		"500": answer(500, ""), "hangs up": hangUp, "echo": echo, "no HTTP": noHTTP, "404": answer(404, ""),
		"redirect": answer(302, "", "Location", "http://127.0.0.1:1/?api_token="+url.QueryEscape(token)),
		"429":      answer(429, "", "Retry-After", "1"), "429 for long": answer(429, "", "Retry-After", "100"),
		"400": answer(400, token), "401": answer(401, token), "403": answer(403, token),
		"HTML": answer(200, "<html>"+token), "rubbish": answer(200, `{"data":[`+token),
		"truncated": answer(200, `{"data":[{"id":"`+token), "truncated too": answer(200, `{"data":[{"id":`),
		"new fields": answer(200, `{"data":[{"id":5,"status":"`+token+`","type":"`+token+`","`+token+`":1}],"message":5`),
		"too large":  answer(200, `{"data":"`+strings.Repeat(token, 300)+`"}`), "no server": nil,
	}
	if len(asks()) != len(newFeed(t).client.Health()) {
		t.Error("asks lacks an endpoint")
	}
	for name, script := range scripts {
		for endpoint, ask := range asks() {
			t.Run(name+" "+strings.ReplaceAll(string(endpoint), "/", "_"), func(t *testing.T) {
				var logged bytes.Buffer
				f := newFeed(t, script)
				base := f.URL
				if script == nil {
					base = closed.URL
				}
				c := newClient(t, sportmonks.Config{BaseURL: base, Clock: f.clock, MaxBody: 4000, CallsPerHour: 30,
					Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))})
				for range 12 { // enough to open the breaker and use up the budget
					skipped, err := ask(t.Context(), c)
					if err == nil && len(skipped) == 0 && c.Oddities()[sportmonks.OddSkippedRecord]+c.Oddities()[sportmonks.OddSkippedMatch] == 0 {
						t.Fatal("nothing went wrong")
					}
					for _, e := range append(skipped, err) {
						wantClean(t, e)
					}
					f.pass(t, 40*time.Second)
				}
				wantClean(t, errors.New(logged.String()))
				wantClean(t, fmt.Errorf("%+v %+v %+v", c.Health(), c.Budgets(), c.Oddities()))
			})
		}
	}
}

// wantClean looks for the token in an error and all its causes.
func wantClean(t *testing.T, err error) {
	t.Helper()
	if outer, leaks := errors.AsType[*url.Error](err); leaks {
		t.Errorf("a *url.Error left the package: %v", outer)
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if text := err.Error(); strings.Contains(text, token) || strings.Contains(text, url.QueryEscape(token)) {
			t.Errorf("the token is in %q", text)
		}
	}
}

// The catalogue names balls that come without their score object.
func TestLoadScores(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":[{"resource":"scores","id":47,"name":"FOUR","runs":4,"four":true,"ball":true}]}`),
		answer(200, `{"data":{"id":5,"balls":[{"id":1,"scoreboard":"S1","ball":0.1,"score_id":47}]}}`))
	if err := f.client.LoadScores(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := f.client.Fixture(t.Context(), "5", true)
	if err != nil || r.Snapshots[0].Balls[0].Outcome != "FOUR" || f.request(0).URL.Path != "/scores" {
		t.Errorf("%+v, %v", r, err)
	}
}
