package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/internal/testrig/web"
)

// waited is a cloud that only implements Wait.
type waited struct {
	operator.Sync
	wait func(ctx context.Context) (uint64, error)
}

func (w waited) Wait(ctx context.Context, _ uint64) (uint64, error) { return w.wait(ctx) }

// keeping returns a server with a counter that stores its counts, before a cloud.
func keeping(t *testing.T, wait func(ctx context.Context) (uint64, error)) *Server {
	t.Helper()
	cfg, _ := config(t)
	cfg.Sync = waited{wait: wait}
	return newServer(t, cfg)
}

// A wait never outlasts the connection, and ends with the server.
func TestPreferWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := keeping(t, func(ctx context.Context) (uint64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		prefer := func(method, body, wait string) *httptest.ResponseRecorder {
			return web.Ask(s.Handler(), method, "/counter/counts/c1", body, "Prefer", wait)
		}
		begin := time.Now()
		w := prefer("POST", `{"by":1}`, "wait=3600")
		if took := time.Since(begin); w.Code != 202 || took != maxWait || w.Header().Get("Preference-Applied") != "wait=30" {
			t.Errorf("%d after %s: %v", w.Code, took, w.Header())
		}
		time.AfterFunc(time.Second, s.drain)
		begin = time.Now()
		w = prefer("DELETE", "", "wait=20")
		if took := time.Since(begin); w.Code != 202 || took != time.Second {
			t.Errorf("a server that ends let a client wait: %d after %s", w.Code, took)
		}
	})
}

// The connection's timeouts do not cut off a wait.
func TestPreferWaitOnAConnection(t *testing.T) {
	s := keeping(t, func(context.Context) (uint64, error) { return 0, nil })
	var read, wrote []time.Time
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.Handler().ServeHTTP(&deadlines{ResponseWriter: w, read: &read, wrote: &wrote}, req)
	})
	req := httptest.NewRequest(http.MethodPost, "/counter/counts/c1", strings.NewReader(`{"by":1}`))
	req.Header.Set("Authorization", "Bearer u1")
	req.Header.Set("Prefer", "wait=20")
	h.ServeHTTP(httptest.NewRecorder(), req)
	if len(read) != 1 || !read[0].IsZero() || len(wrote) != 1 || time.Until(wrote[0]) < 20*time.Second {
		t.Errorf("read until %v, write until %v", read, wrote)
	}
}

// deadlines is a writer that records its deadlines.
type deadlines struct {
	http.ResponseWriter
	read, wrote *[]time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { *d.read = append(*d.read, t); return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { *d.wrote = append(*d.wrote, t); return nil }

// FuzzPrefer parses any text according to RFC 7240: an invalid one is no preference.
func FuzzPrefer(f *testing.F) {
	for _, h := range []string{
		"wait=5", "respond-async, wait=10", `foo="a, wait=3", Wait = "7"; x=y`, "wait", "wait=-1", "wait=99999999999", `wait="5`, `x="\", wait=1", wait=2`,
	} {
		f.Add(h)
	}
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, h string) {
		n, ok := preferredWait([]string{h})
		if n < 0 || !ok && n != 0 {
			t.Fatalf("%q: %d %v", h, n, ok)
		}
		if again, same := preferredWait([]string{h, "wait=3"}); ok && (again != n || !same) {
			t.Fatalf("%q: a second header changed %d to %d", h, n, again)
		}
		if ok && !strings.Contains(strings.ToLower(h), "wait") {
			t.Fatalf("%q: wait %d", h, n)
		}
	})
}

func TestPreferredWait(t *testing.T) {
	for h, want := range map[string]int{
		"wait=5": 5, "respond-async, wait=10": 10, `foo="a, wait=3", Wait = "7"; x=y`: 7, "wait": -1, "wait=-1": -1, "wait=1.5": -1,
		"wait=99999999999": -1, "": -1, "handling=lenient": -1, "wait=4, wait=9": 4, `x="\", wait=1", wait=2`: 2, "await=3": -1,
	} {
		n, ok := preferredWait([]string{h})
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%q: %d, want %d", h, n, want)
		}
	}
}
