package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/testrig/hang"
)

// browser is a tab of a headless Chromium and what it complained about.
type browser struct {
	ctx  context.Context
	mu   sync.Mutex
	said []string // errors of the console, exceptions, blocked requests
	asks []string // every address it requested
}

// openBrowser starts Chromium. Where there is none, CI fails, and a developer's run says so and goes on.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium: install it, or name it in CHROMIUM")
		}
		t.Log("NOT TESTED IN A BROWSER: there is no Chromium here; install it, or name it in CHROMIUM")
		return nil
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(hang.Limit(time.Minute)), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close Chromium: %v", err)
		}
		cancel()
		stop()
	})
	b := &browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		b.asks = append(b.asks, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.said = append(b.said, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprint(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.said = append(b.said, fmt.Sprint(e.Args))
		}
	}
}

// complaints returns what the browser complained about, and every request that left this host.
func (b *browser) complaints(home string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.Clone(b.said)
	host, err := url.Parse(home)
	if err != nil {
		return []string{err.Error()}
	}
	for _, a := range b.asks {
		if u, err := url.Parse(a); err != nil || u.Host != host.Host && u.Scheme != "data" && u.Scheme != "about" {
			out = append(out, "request to "+a)
		}
	}
	return out
}

// asked reports whether an address with that part in it was requested.
func (b *browser) asked(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.asks, func(a string) bool { return strings.Contains(a, part) })
}

func (b *browser) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until a JavaScript condition holds. A page that is left while it is asked does not answer: the next one is asked.
func (b *browser) waitFor(t *testing.T, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(110*time.Second)))
		if err == nil {
			return
		}
		const serverError = -32000 // such as: Cannot find context with specified id
		if left, ok := errors.AsType[*cdproto.Error](err); !ok || left.Code != serverError || ctx.Err() != nil {
			t.Fatalf("never: %s: %v", condition, err)
		}
	}
}

func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, hang.Limit(time.Minute))
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func TestPageInABrowser(t *testing.T) {
	b := openBrowser(t)
	if b == nil {
		return
	}
	cfg, f, in := config(t)
	cfg.Auth = byName{staff}
	home, stop := start(t, cfg)
	b.do(t, chromedp.EmulateViewport(1280, 900))
	b.do(t, chromedp.Navigate(home+"/"))
	b.waitFor(t, `document.querySelector(".line__big").textContent === "Need 9 from 3"`)
	for _, part := range []string{"/page.css", "/kit-", "/page.js", "/morph.js", "/_/stream"} {
		if !b.asked(part) {
			t.Errorf("%s was not asked for", part)
		}
	}

	// The page updates by itself; what a reader did to it stays.
	eval[bool](t, b, `window.same = true`)
	eval[bool](t, b, `(document.querySelector(".node").open = true)`)
	eval[bool](t, b, `(document.querySelector(".events").focus(), document.querySelector(".events").scrollTop = 50, true)`)
	b.waitFor(t, `document.querySelector(".events").scrollTop === 50`)
	d := in.Display
	d.Teams = slices.Clone(d.Teams)
	d.Teams[0].Runs, d.Innings = 239, slices.Clone(d.Innings)
	d.Innings[1].Runs, d.Equation = 239, "need 3 from 2"
	f.putDisplay(d)
	f.putEvent(t, finalID, cricket.Event{Key: "w:9", Type: cricket.EventWicket, Text: "WICKET! Nobody run out", Innings: 2, Over: "49.4", At: in.Node.Clock.Now})
	b.waitFor(t, `document.querySelector(".line__big").textContent === "Need 3 from 2"`)
	b.waitFor(t, `document.querySelector(".side__figure").textContent === "239/8"`)
	b.waitFor(t, `document.querySelector(".event__text").textContent === "WICKET! Nobody run out"`)
	b.waitFor(t, `document.getElementById("shout").textContent === "WICKET! Nobody run out"`)
	b.waitFor(t, `document.title.startsWith("ENG 239/8")`)
	for _, held := range []string{
		`window.same`, `document.querySelector(".node").open`, `document.activeElement.classList.contains("events")`,
		`document.querySelector(".events").scrollTop >= 50`,
	} {
		if !eval[bool](t, b, held) {
			t.Errorf("not so after the update: %s", held)
		}
	}
	b.waitFor(t, `document.getElementById("link").hidden`) // a page that stood still for seconds shows it until it hears again
	if bad := b.complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}

	// Without its node the page says so, and how old its figures are.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.waitFor(t, `!document.getElementById("link").hidden && /figures are \d+ s old/.test(document.getElementById("link").textContent)`)
}

// Every state of every page stands at every width without a scroll bar at the bottom. With -short it is the narrowest and
// the two beside the width at which the layout changes.
func TestScenesInABrowser(t *testing.T) {
	b := openBrowser(t)
	if b == nil {
		return
	}
	scenes, err := page.Scenes()
	if err != nil {
		t.Fatal(err)
	}
	cfg, _, _ := config(t)
	cfg.Development = true
	home, _ := start(t, cfg)
	widths := []int64{320, 719, 720, 1200, 1920}
	if testing.Short() {
		widths = widths[:3]
	}
	for i := range scenes {
		b.do(t, chromedp.EmulateViewport(320, 640))
		b.do(t, chromedp.Navigate(home+"/_/gallery/"+scenes[i].Name))
		for _, w := range widths {
			b.do(t, chromedp.EmulateViewport(w, 800))
			if got := eval[int64](t, b, `document.documentElement.scrollWidth`); got > w {
				t.Errorf("%s is %d wide on a screen of %d", scenes[i].Name, got, w)
			}
		}
	}
	if bad := b.complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}
}

// On a wide screen the scorecards leave no column empty, and on any a list that goes on below its edge fades out there.
func TestWholeRowsInABrowser(t *testing.T) {
	b := openBrowser(t)
	if b == nil {
		return
	}
	cfg, _, _ := config(t)
	cfg.Development = true
	home, _ := start(t, cfg)
	for _, scene := range []string{"superover", "test", "chase", "first"} {
		for _, width := range []int64{360, 1280, 1920} {
			b.do(t, chromedp.EmulateViewport(width, 900))
			b.do(t, chromedp.Navigate(home+"/_/gallery/"+scene))
			if !eval[bool](t, b, `[...document.querySelectorAll(".events")].every((e) => e.scrollHeight <= e.clientHeight || getComputedStyle(e).maskImage.includes("gradient"))`) {
				t.Errorf("%s at %d: the list of events is cut at its edge", scene, width)
			}
			filled := `(() => {
				const rows = new Map();
				for (const card of document.querySelectorAll(".cardrow > .card")) rows.set(card.offsetTop, (rows.get(card.offsetTop) || 0) + card.offsetWidth);
				const all = document.querySelector(".cardrow").offsetWidth;
				return [...rows.values()].every((width) => width > 0.9 * all);
			})()`
			if !eval[bool](t, b, filled) {
				t.Errorf("%s at %d: a column of the scorecards is empty", scene, width)
			}
		}
	}
}
