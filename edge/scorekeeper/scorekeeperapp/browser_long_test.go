//go:build long

package scorekeeperapp

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/internal/clock"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/store"
)

// gate is a listener that can make the node unreachable: it closes all connections, and new ones at once.
type gate struct {
	net.Listener
	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		away := g.away
		g.conns = append(g.conns, conn)
		g.mu.Unlock()
		if !away {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func (g *gate) set(away bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away = away; away {
		for _, c := range g.conns {
			_ = c.Close()
		}
		g.conns = nil
	}
}

// playing serves the puzzle behind a gate, with the same word for each day around today.
func playing(t *testing.T, word string) (base string, g *gate) {
	t.Helper()
	login, err := node.OpenDemoLogin(t.Context(), []devlogin.User{{Subject: "demo-asha", Name: "Asha"}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(login.Close)
	a := New()
	opened := a.Open
	a.Open = func(ctx context.Context, h *app.Host) (*app.Instance, error) {
		words, err := scorekeeper.NewDictionary("")
		if err != nil {
			return nil, err
		}
		s := &scorekeeper.Service{Handle: scorekeeper.Rows("scorekeeper-prod"), Words: words}
		if err := h.Store.Update(ctx, func(tx *store.Tx) error {
			for i := -1; i <= 1; i++ { // whatever the browser's time zone
				if _, err := s.SetAnswer(tx, scorekeeper.NewAnswer{Date: time.Now().AddDate(0, 0, i).UTC().Format(scorekeeper.Day), Word: word}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		return opened(ctx, h)
	}
	n, err := node.Open(t.Context(), t.TempDir(), node.Parts{
		Clock: clock.Real(), Log: slog.New(slog.DiscardHandler), Apps: []*app.App{a}, Auth: login.Identity, Session: node.DefaultSession(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g = &gate{Listener: ln}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, g) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String(), g
}

// On a phone, a guest guesses, signs in and takes the game over. While the node is unreachable, one guess waits, survives a reload, and is sent
// once the node is back. The puzzle is solved and shared, and is still solved after a reload.
func TestADayOnAPhone(t *testing.T) {
	base, gate := playing(t, "manna")
	b := chromium.Open(t)
	if b == nil {
		return
	}
	home := base + "/scorekeeper/-/"
	types := func(word string) {
		t.Helper()
		for letter := range strings.SplitSeq(word, "") {
			chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector('[data-letter="%s"]').click() ?? true`, letter))
		}
		chromium.Eval[bool](t, b, `document.querySelector('.key[type="submit"]').click() ?? true`)
	}
	said := func(text string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`document.getElementById("said").textContent.includes(%q)`, text))
	}
	row := func(n int, grade string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`!!document.querySelectorAll(".row")[%d]?.querySelector(".square--%s")`, n, grade))
	}
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(home))
	const ready = `!!document.querySelector(".guess--keys") && !("nobody" in document.querySelector(".play").dataset) && !!navigator.serviceWorker.controller`
	b.WaitFor(t, ready)
	if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	types("qqqqq")
	said("Word not in dictionary")
	for range 5 {
		chromium.Eval[bool](t, b, `document.querySelector('[data-letter=""]').click() ?? true`)
	}
	types("crane")
	row(0, "contained")

	b.Do(t, chromedp.Navigate(base+"/signin?to=%2Fscorekeeper%2F-%2F"))
	b.Press(t, `a[href^="/_/signin/with/demo"]`)
	b.Press(t, `button[value="demo-asha"]`)
	b.WaitFor(t, `!!document.querySelector('[action$="/convert-session"]')`)
	b.WaitFor(t, ready)
	if moves := chromium.Eval[string](t, b, `document.querySelector(".board").dataset.moves`); moves != "0" {
		t.Errorf("the account has %s guesses before the guest's were taken over", moves)
	}
	chromium.Eval[bool](t, b, `document.querySelector('[action$="/convert-session"] button').click() ?? true`)
	b.WaitFor(t, `document.querySelector(".board").dataset.moves === "1" && !document.querySelector('[action$="/convert-session"]')`)
	chromium.Shoot(t, b, "scorekeeper-one")

	gate.set(true)
	types("slate")
	row(1, "waits")
	types("moist")
	said("one guess is already waiting")
	b.Do(t, chromedp.Reload())
	row(1, "waits")
	chromium.Shoot(t, b, "scorekeeper-waits")
	gate.set(false)
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	row(1, "contained")
	types("manna")
	b.WaitFor(t, `document.querySelector(".result")?.textContent.includes("Solved in 3 of 6.")`)
	chromium.Eval[bool](t, b, `document.querySelector("[data-share]").click() ?? true`)
	b.WaitFor(t, `document.getElementById("said").textContent === "Copied." || getSelection().toString().includes("3/6")`)
	b.Do(t, chromedp.Reload())
	b.WaitFor(t, `document.querySelector(".share")?.textContent.includes("3/6") && document.querySelector(".next time").textContent.includes(":")`)
	chromium.Shoot(t, b, "scorekeeper-solved")
}
