package web

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/web"
)

// accessLog is a log that can be read while it is written.
type accessLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *accessLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *accessLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A person signs in by pasting a token, and signs out again. Requests of another origin's page in the same browser are refused,
// although the browser sends the cookie.
func TestSignInInABrowser(t *testing.T) {
	b := browser.Open(t)
	if b == nil {
		return
	}
	cfg, _, _ := config(t)
	cfg.Auth, cfg.Tokens = web.Verifier(t), true
	said := &accessLog{}
	cfg.Logger = slog.New(slog.NewTextHandler(said, nil))
	home, _ := start(t, cfg)
	send := func(token string) {
		t.Helper()
		browser.Eval[bool](t, b, fmt.Sprintf(`(document.getElementById("signin-token").value = %q, true)`, token))
		b.Press(t, ".signin__form button")
	}
	b.Do(t, chromedp.EmulateViewport(1280, 900))
	b.Do(t, chromedp.Navigate(home+"/signin?to=%2Fcricket%2F-%2Fmatches%3Fx%3D1"))
	send("rubbish")
	b.WaitFor(t, `document.querySelector(".signin__problem")?.textContent.startsWith("That is not a token")`)
	for _, w := range []int64{320, 719, 1280, 1920} {
		b.Do(t, chromedp.EmulateViewport(w, 800))
		if got := browser.Eval[int64](t, b, `document.documentElement.scrollWidth`); got > w {
			t.Errorf("the page is %d wide on a screen of %d", got, w)
		}
	}
	browser.Shoot(t, b, "signin")
	send(web.AdminToken())
	b.WaitFor(t, `location.pathname + location.search === "/cricket/-/matches?x=1"`)
	if got := browser.Eval[string](t, b, `document.cookie`); got != "" {
		t.Errorf("scripts see %q", got)
	}
	fetched := func(path, options string) int64 {
		t.Helper()
		browser.Eval[bool](t, b, fmt.Sprintf(`(window.got = 0, fetch(%q, %s).then(r => window.got = r.status || -1, () => window.got = -2), true)`, path, options))
		b.WaitFor(t, `window.got !== 0`)
		return browser.Eval[int64](t, b, `window.got`)
	}
	if got := fetched("/cricket/admin/replay/tapes", `{}`); got != http.StatusNotFound { // this node has no replays
		t.Errorf("a read by our own page: %d", got)
	}
	if got := fetched("/cricket/admin/replay/matches/x", `{method: "DELETE"}`); got != http.StatusNotFound {
		t.Errorf("a change by our own page: %d", got)
	}

	// Another port is another origin of the same site, so the browser sends the cookie with its requests too.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form method="post" action="%s/signout"><button>win</button></form>`, home)
	}))
	defer evil.Close()
	b.Do(t, chromedp.Navigate(evil.URL))
	for i, options := range []string{
		`{method: "POST", credentials: "include", mode: "no-cors", body: "{}"}`,
		`{method: "DELETE", credentials: "include"}`,
		`{credentials: "include"}`,
		`{credentials: "include", mode: "no-cors"}`,
	} {
		if got := fetched(home+"/cricket/admin/replay/matches/evil"+fmt.Sprint(i), options); got > 0 {
			t.Errorf("another origin reads the status %d", got)
		}
	}
	if got := fetched(home+"/signout", `{method: "POST", credentials: "include", mode: "no-cors"}`); got > 0 {
		t.Errorf("another origin reads the status %d", got)
	}
	b.Press(t, "button")
	b.WaitFor(t, `location.pathname === "/signout"`)
	for line := range strings.SplitSeq(said.String(), "\n") {
		refused := strings.Contains(line, "status=401") || strings.Contains(line, "status=403") || strings.Contains(line, "status=404") ||
			strings.Contains(line, "status=405")
		if strings.Contains(line, "evil") && !strings.Contains(line, "status=401") && !strings.Contains(line, "status=405") ||
			strings.Contains(line, "/signout") && !refused {
			t.Errorf("a request of another origin was not refused: %s", line)
		}
		if strings.Contains(line, "eyJ") {
			t.Errorf("the log has a token: %s", line)
		}
	}

	b.Do(t, chromedp.Navigate(home+"/signin"))
	b.WaitFor(t, `document.querySelector(".signin__who strong")?.textContent === "boss"`)
	browser.Shoot(t, b, "signedin")
	b.Press(t, ".signin__who button")
	b.WaitFor(t, `location.pathname === "/signin" && document.querySelector(".signin__who") === null`)
}
