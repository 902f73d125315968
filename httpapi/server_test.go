package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/touchline/touchline/httpapi/ask"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
)

// TestMain checks that no goroutine is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The server's timeouts apply to answers. A stream outlives them.
func TestStreamOutlivesTimeouts(t *testing.T) {
	cfg, f := config(t)
	cfg.Heartbeat = 40 * time.Millisecond
	s := newServer(t, cfg)
	ctx := t.Context()
	done := make(chan struct{})
	go func() { defer close(done); s.events.Run(ctx) }()
	t.Cleanup(func() { <-done })
	srv := httptest.NewUnstartedServer(s.Handler())
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = 60*time.Millisecond, 60*time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	// On a busy machine the request itself, or the stream's first bytes, may exceed them: then another one is used.
	var c *web.Stream
	for beats, tries := 0, 0; beats < 10; tries++ {
		if tries == 20 {
			t.Fatal("no stream outlives them")
		}
		var err error
		if c, err = web.Try(t, srv.URL+streamPath, nil); err != nil {
			continue
		}
		for ok := true; ok && beats < 10; {
			var m web.Message
			if m, ok = c.Next(); m.Comment {
				beats++
			}
		}
		if beats < 10 {
			beats = 0
		}
	}
	f.note("c1", 1)
	c.Until(web.Named(frameNote))
}

// Scripts do not see comments: a stream that a page reads breaks its silence with an event.
func TestStreamOfAPageTicks(t *testing.T) {
	cfg, _ := config(t)
	cfg.Heartbeat = time.Hour
	srv := httptest.NewServer(newServer(t, cfg).Handler())
	t.Cleanup(srv.Close)
	stream := web.Open(t, srv.URL+streamPath+"?tick=1", nil)
	defer stream.Close()
	for range 2 {
		stream.Until(web.Named("tick"))
	}
}

// A reader that leaves frees its place at once, not at the next event.
func TestReaderThatLeavesMakesRoom(t *testing.T) {
	cfg, _ := config(t)
	cfg.MaxStreams, cfg.Heartbeat = 1, time.Hour
	s := newServer(t, cfg)
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	one := web.Open(t, srv.URL+streamPath, nil)
	one.Until(web.Named(frameCount))
	one.Close()
	wait.Until(t, "room", func() bool { return s.events.Count() == 0 })
}

// A broken listener is an error, and still everything ends.
func TestBrokenListener(t *testing.T) {
	cfg, _ := config(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := newServer(t, cfg).Run(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ended with %v", err)
	}
}

// An open stream repeats Ensure once a minute.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, f := config(t)
		s := newServer(t, cfg)
		w := &watch{s: s, app: s.apps[0], topic: "c1"}
		for n := 1; n <= 3; n++ {
			for range 2 {
				if err := w.checkTurn(t.Context()); err != nil || len(f.ensured) != n {
					t.Fatalf("%d: %v, %q", n, err, f.ensured)
				}
			}
			if err := clock.Sleep(t.Context(), clock.Real(), ensureAgain); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A slow cloud delays nobody for long; an unexpected error is returned.
func TestRowsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		slow := func(ctx context.Context, _ string, _ ...attr.Item) error {
			<-ctx.Done()
			return ctx.Err()
		}
		if err := Ensure(slow).Rows(t.Context(), "facts", nil); err != nil || time.Since(begin) != ask.Within {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		bug := errors.New("a bug")
		failing := func(context.Context, string, ...attr.Item) error { return bug }
		if err := Ensure(failing).Rows(t.Context(), "facts", nil); !errors.Is(err, bug) {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Ensure(slow).Rows(gone, "facts", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone: %v", err)
		}
	})
}

// Rows that only the first ones reveal are fetched too, nothing is repeated without new rows, and a node without a cloud fetches
// nothing.
func TestEnsureNeeds(t *testing.T) {
	s := &Server{cfg: Config{Store: storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true})}}
	here := []attr.Item{{"pk": attr.S("game")}}
	needs := func(*store.Tx) ([]attr.Item, error) { return here, nil }
	var asked []int
	var ensure Ensure = func(_ context.Context, table string, keys ...attr.Item) error {
		asked = append(asked, len(keys))
		if table != "facts" {
			t.Errorf("table %s", table)
		}
		if len(keys) < 3 { // it names its parent
			here = append(here, attr.Item{"pk": attr.S("above")})
		}
		return nil
	}
	for _, tt := range []struct {
		name string
		do   func(c *gin.Context) error
		want []int
	}{
		{"needs", func(c *gin.Context) error { return ensure.Needs(c, "facts", needs) }, []int{1, 2, 3}},
		{"keys", func(c *gin.Context) error { return ensure.Keys(c, "facts", here...) }, []int{3}},
		{"nothing", func(c *gin.Context) error { return ensure.Keys(c, "facts") }, nil},
		{"no cloud", func(c *gin.Context) error { return Ensure(nil).Needs(c, "facts", needs) }, nil},
	} {
		asked = nil
		e := gin.New()
		e.GET("/", func(c *gin.Context) {
			c.Set(keyServer, s)
			if err := tt.do(c); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		})
		web.Ask(e, "GET", "/", "")
		if diff := cmp.Diff(tt.want, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Paths of requests are logged without push tokens.
func TestTokensAreNotLogged(t *testing.T) {
	for path, want := range map[string]string{
		"/3fc/v1/invites/ABCDEFGH/accept":                    "/3fc/v1/invites/.../accept", // the route's :code
		"/counter/devices/" + strings.Repeat("a", 64):        "/counter/devices/...",
		"/counter/devices/" + strings.Repeat("A", 64) + "/x": "/counter/devices/.../x",
		"/counter/matches/1144530":                           "/counter/matches/1144530",
		"/_/assets/0123456789ab/page.css":                    "/_/assets/0123456789ab/page.css",
		"/counter/devices/" + strings.Repeat("0123", 50):     "/counter/devices/...",
	} {
		if got := loggedPath(path, "ABCDEFGH"); got != want {
			t.Errorf("%s is logged as %s", path, got)
		}
	}
}

// A page that takes long to render is not rendered all the time while nothing is committed, and once after a commit.
func TestIdlePages(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		most  int // renderings in a minute
	}{{0, 67}, {400 * time.Millisecond, 8}} {
		synctest.Test(t, func(t *testing.T) {
			cfg, f := config(t)
			rendered, view := 0, cfg.Apps[0].View
			cfg.Apps[0].View = func(ctx context.Context, node *operator.NodeStatus, topic string, last page.View) (page.View, error) {
				rendered++
				<-time.After(tt.takes)
				return view(ctx, node, topic, last)
			}
			s := newServer(t, cfg)
			look := func() {
				if _, _, err := s.apps[0].views.get(t.Context(), "c1"); err != nil {
					t.Fatal(err)
				}
			}
			for begun := time.Now(); time.Since(begun) < time.Minute; <-time.After(50 * time.Millisecond) {
				look()
			}
			if rendered > tt.most || rendered < tt.most-2 {
				t.Errorf("takes %v: %d renderings, want about %d", tt.takes, rendered, tt.most)
			}
			<-time.After(freshFor)
			rendered = 0
			f.count("c1", 5)
			if look(); rendered != 1 {
				t.Errorf("takes %v: %d renderings after a commit", tt.takes, rendered)
			}
		})
	}
}
