package sportmonks_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "s3cret+token/with&signs"

func start() time.Time { return time.Date(2026, 10, 9, 13, 0, 0, 0, time.UTC) }

// feed is a server that answers from a script, one function per attempt. The last function answers all further attempts.
type feed struct {
	*httptest.Server
	clock  *clock.Stepped
	client *sportmonks.Client

	mu     sync.Mutex
	seen   []*http.Request
	at     []time.Time // by the stepped clock
	script []http.HandlerFunc
}

func newFeed(t *testing.T, script ...http.HandlerFunc) *feed {
	t.Helper()
	f := &feed{clock: clock.NewStepped(start()), script: script}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Server.Close)
	f.client = newClient(t, sportmonks.Config{BaseURL: f.URL, Clock: f.clock})
	leave := f.clock.Join() // the test itself is the polling loop
	t.Cleanup(leave)
	return f
}

func newClient(t *testing.T, cfg sportmonks.Config) *sportmonks.Client {
	t.Helper()
	cfg.Token = token
	if cfg.Random == nil {
		cfg.Random = func() float64 { return 0.5 }
	}
	c, err := sportmonks.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	i := min(len(f.seen), len(f.script)-1)
	f.seen = append(f.seen, r)
	f.at = append(f.at, f.clock.Now())
	f.mu.Unlock()
	w.Header().Set("Date", f.clock.Now().Format(http.TimeFormat))
	f.script[i](w, r)
}

func (f *feed) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seen)
}

func (f *feed) request(i int) *http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[i]
}

// waits returns the pauses between attempts.
func (f *feed) waits() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []time.Duration
	for i := 1; i < len(f.at); i++ {
		out = append(out, f.at[i].Sub(f.at[i-1]))
	}
	return out
}

func (f *feed) pass(t *testing.T, d time.Duration) {
	t.Helper()
	if err := clock.Sleep(t.Context(), f.clock, d); err != nil {
		t.Fatal(err)
	}
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const oneMatch = `{"data":[{"id":5,"status":"1st Innings"}]}`

func wantError(t *testing.T, err error, kind fault.Kind, code string) *sportmonks.Error {
	t.Helper()
	own, ok := errors.AsType[*sportmonks.Error](err)
	if !ok {
		t.Fatalf("error %v, want a *sportmonks.Error", err)
	}
	if fault.KindOf(err) != kind || own.Fault.Code != code {
		t.Fatalf("error %v: kind %d code %s, want kind %d code %s", err, fault.KindOf(err), own.Fault.Code, kind, code)
	}
	return own
}

func TestRequest(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch))
	r, err := f.client.Livescores(t.Context(), true)
	if err != nil || len(r.Snapshots) != 1 || r.Snapshots[0].MatchID != "5" || r.Unchanged || r.Skew != 0 || !r.At.Equal(start()) {
		t.Fatalf("reading %+v, %v", r, err)
	}
	got := f.request(0)
	if got.Method != http.MethodGet || got.URL.Path != "/livescores" || got.URL.Query().Get("api_token") != token {
		t.Errorf("requested %s %s", got.Method, got.URL)
	}
	if include := strings.Split(got.URL.Query().Get("include"), ","); !slices.Contains(include, "balls") {
		t.Errorf("include %v has no balls", include)
	}
	if _, err := f.client.Livescores(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if include := f.request(1).URL.Query().Get("include"); strings.Contains(include, "balls") {
		t.Errorf("include %s has balls", include)
	}
	for i := range 2 { // a nested include would repeat players in every row, also of the cached replies
		if include := f.request(i).URL.Query().Get("include"); strings.Contains(include, ".") {
			t.Errorf("include %s is nested", include)
		}
	}
}

func TestFixture(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":{"id":71344}}`), answer(200, `{"data":[]}`), answer(404, `{"message":"gone"}`))
	if r, err := f.client.Fixture(t.Context(), "71344", false); err != nil || r.Snapshots[0].MatchID != "71344" {
		t.Fatalf("reading %+v, %v", r, err)
	}
	if path := f.request(0).URL.Path; path != "/fixtures/71344" {
		t.Errorf("requested %s", path)
	}
	for range 2 {
		_, err := f.client.Fixture(t.Context(), "99", false)
		wantError(t, err, fault.NotFound, sportmonks.CodeNotFound)
	}
	for _, id := range []string{"", "../livescores", "5?api_token=x", "-5", "0", "five"} {
		_, err := f.client.Fixture(t.Context(), id, false)
		wantError(t, err, fault.Invalid, sportmonks.CodeBadRequest)
	}
	if f.asked() != 3 {
		t.Errorf("called %d times, want 3", f.asked())
	}
}

// A reply about another match, which a cache between client and feed may return, is an error: its data would be taken for
// the requested match.
func TestFixtureOfAnotherMatch(t *testing.T) {
	f := newFeed(t, answer(200, `{"data":{"id":6}}`), answer(200, `{"data":{"id":6}}`), answer(200, `{"data":{"id":5}}`))
	for range 2 { // the second reply equals the first byte by byte
		r, err := f.client.Fixture(t.Context(), "5", false)
		if wantError(t, err, fault.Unavailable, sportmonks.CodeBadJSON); len(r.Snapshots) != 0 {
			t.Errorf("matches %+v", r.Snapshots)
		}
	}
	if r, err := f.client.Fixture(t.Context(), "5", false); err != nil || r.Snapshots[0].MatchID != "5" {
		t.Errorf("reading %+v, %v", r, err)
	}
}

func TestFixturesPages(t *testing.T) {
	page := func(rows, rest string) http.HandlerFunc { return answer(200, `{"data":[`+rows+`],`+rest+`}`) }
	at := func(id, day string) string {
		return `{"id":` + id + `,"starting_at":"2026-10-` + day + `T10:00:00.000000Z"}`
	}
	tests := []struct {
		name   string
		script []http.HandlerFunc
		want   []string
		asked  int
	}{
		{"by meta", []http.HandlerFunc{
			page(at("1", "09"), `"meta":{"current_page":1,"last_page":2},"links":{"next":"x"}`),
			page(at("2", "10"), `"meta":{"current_page":2,"last_page":2},"links":{"next":"x"}`),
		}, []string{"1", "2"}, 2},
		{"by links", []http.HandlerFunc{
			page(at("1", "09"), `"links":{"next":"https://elsewhere.example/?page=2"}`),
			page(at("2", "10"), `"links":{"next":null}`),
		}, []string{"1", "2"}, 2},
		{"matches outside the range are dropped", []http.HandlerFunc{
			page(at("1", "08")+","+at("2", "09")+","+at("3", "11"), `"meta":[]`),
		}, []string{"2"}, 1},
		{"an empty page ends an endless list", []http.HandlerFunc{
			page(at("1", "09"), `"meta":{"current_page":1,"last_page":9999}`),
			page("", `"meta":{"current_page":2,"last_page":9999}`),
		}, []string{"1"}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, tt.script...)
			got, err := f.client.Fixtures(t.Context(), start().Add(-13*time.Hour), start().Add(24*time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for i := range got {
				ids = append(ids, got[i].MatchID)
			}
			if !slices.Equal(ids, tt.want) || f.asked() != tt.asked {
				t.Errorf("got %v in %d requests, want %v in %d", ids, f.asked(), tt.want, tt.asked)
			}
			q := f.request(f.asked() - 1).URL.Query()
			if q.Get("filter[starts_between]") != "2026-10-09,2026-10-11" || q.Get("page") == "" {
				t.Errorf("query %v", q)
			}
		})
	}
}

// A reply is unchanged if the feed answers 304, or with the same bytes where it has no entity tags.
func TestUnchanged(t *testing.T) {
	other := `{"data":[{"id":5,"status":"2nd Innings"}]}` // as long as the first
	conditional := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `W/"abc"`)
		if r.Header.Get("If-None-Match") == `W/"abc"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(oneMatch))
	}
	tests := []struct {
		name   string
		script []http.HandlerFunc
		want   []bool
		status string // of the last reading
	}{
		{"by 304", []http.HandlerFunc{conditional}, []bool{false, true, true}, "1st Innings"},
		{"by the same bytes", []http.HandlerFunc{answer(200, oneMatch)}, []bool{false, true, true}, "1st Innings"},
		{"the same bytes, then others", []http.HandlerFunc{answer(200, oneMatch), answer(200, oneMatch), answer(200, other)},
			[]bool{false, true, false}, "2nd Innings"},
		{"a tag that cannot be sent back", []http.HandlerFunc{answer(200, oneMatch, "ETag", "\"a b\"")},
			[]bool{false, true}, "1st Innings"},
		{"an error in between", []http.HandlerFunc{answer(200, oneMatch), answer(404, ""), answer(200, oneMatch)},
			[]bool{false, false, true}, "1st Innings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFeed(t, tt.script...)
			var r sportmonks.Reading
			var got []bool
			for range tt.want {
				f.pass(t, 5*time.Second)
				r, _ = f.client.Livescores(t.Context(), false)
				got = append(got, r.Unchanged)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("unchanged %v, want %v", got, tt.want)
			}
			if len(r.Snapshots) != 1 || string(r.Snapshots[0].Status) != tt.status || !r.At.Equal(f.clock.Now()) {
				t.Errorf("last reading %+v", r)
			}
		})
	}
}

// Every request has its own memory, so the first of its kind is never conditional.
func TestMemoryIsPerRequest(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch, "ETag", `"abc"`))
	for i, balls := range []bool{false, true, false} {
		if _, err := f.client.Livescores(t.Context(), balls); err != nil {
			t.Fatal(err)
		}
		if tagged := f.request(i).Header.Get("If-None-Match") != ""; tagged != (i == 2) {
			t.Errorf("request %d: conditional %v", i, tagged)
		}
	}
}

func TestSkewAndBudget(t *testing.T) {
	f := newFeed(t,
		answer(200, oneMatch, "Date", start().Add(time.Hour).Format(http.TimeFormat), "X-RateLimit-Limit", "2000",
			"X-RateLimit-Remaining", "1999", "X-RateLimit-Reset", "3600"),
		answer(200, oneMatch, "Date", "yesterday", "X-RateLimit-Limit", "2000", "X-RateLimit-Remaining", "200"))
	r, err := f.client.Livescores(t.Context(), false)
	if err != nil || (r.Skew-time.Hour).Abs() > time.Second {
		t.Errorf("skew %v, %v", r.Skew, err)
	}
	want := sportmonks.Budget{Known: true, Limit: 2000, Used: 1, Remaining: 1999, Reserve: 200,
		Reset: start().Add(time.Hour), At: start()}
	if got := f.client.Budget(sportmonks.Livescores); got != want {
		t.Errorf("budget %+v, want %+v", got, want)
	}
	if got := f.client.Budget(sportmonks.Fixture); got.Known || got.Remaining != 2000 {
		t.Errorf("budget of an endpoint without calls: %+v", got)
	}
	if r, err = f.client.Livescores(t.Context(), false); err != nil || r.Skew != 0 {
		t.Errorf("skew %v, %v", r.Skew, err)
	}
	if got := f.client.Budget(sportmonks.Livescores); got.Remaining > got.Reserve {
		t.Errorf("with a tenth left only the reserve should remain: %+v", got)
	}
}

func TestConfig(t *testing.T) {
	tests := []struct {
		name string
		cfg  sportmonks.Config
		ok   bool
	}{
		{"the feed itself", sportmonks.Config{Token: token}, true},
		{"https", sportmonks.Config{Token: token, BaseURL: "https://feed.example/api/"}, true},
		{"loopback", sportmonks.Config{Token: token, BaseURL: "http://127.0.0.1:8080/api/v2.0"}, true},
		{"loopback, IPv6", sportmonks.Config{Token: token, BaseURL: "http://[::1]:8080"}, true},
		{"localhost", sportmonks.Config{Token: token, BaseURL: "http://localhost:8080"}, true},
		{"http elsewhere", sportmonks.Config{Token: token, BaseURL: "http://feed.example/api"}, false},
		{"http to a name that looks local", sportmonks.Config{Token: token, BaseURL: "http://127.0.0.1.feed.example"}, false},
		{"no token", sportmonks.Config{BaseURL: "https://feed.example"}, false},
		{"a token in the address", sportmonks.Config{Token: token, BaseURL: "https://feed.example?api_token=x"}, false},
		{"a password in the address", sportmonks.Config{Token: token, BaseURL: "https://u:p@feed.example"}, false},
		{"no address", sportmonks.Config{Token: token, BaseURL: "feed.example"}, false},
		{"another scheme", sportmonks.Config{Token: token, BaseURL: "file:///etc/passwd"}, false},
		{"negative cap", sportmonks.Config{Token: token, MaxBody: -1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sportmonks.New(tt.cfg)
			if tt.ok && err != nil {
				t.Error(err)
			}
			if !tt.ok {
				wantError(t, err, fault.Invalid, sportmonks.CodeConfig)
				if strings.Contains(err.Error(), token) {
					t.Errorf("the token is in %q", err)
				}
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	f := newFeed(t, answer(200, oneMatch))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.client.Livescores(ctx, false)
	wantError(t, err, fault.Unavailable, sportmonks.CodeUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not wrap context.Canceled", err)
	}
}
