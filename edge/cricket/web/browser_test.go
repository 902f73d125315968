package web

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/web/page"
	"github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/web"
)

func TestPageInABrowser(t *testing.T) {
	b := browser.Open(t)
	if b == nil {
		return
	}
	cfg, f, in := config(t)
	cfg.Auth = web.ByName{Silent: web.Staff()}
	home, stop := start(t, cfg)
	b.Do(t, chromedp.EmulateViewport(1280, 900))
	b.Do(t, chromedp.Navigate(home+"/"))
	b.WaitFor(t, `document.querySelector(".line__big").textContent === "Need 9 from 3"`)
	for _, part := range []string{"/page.css", "/kit-", "/page.js", "/morph.js", "/_/stream"} {
		if !b.Asked(part) {
			t.Errorf("%s was not requested", part)
		}
	}

	// The page updates itself, and keeps its reader's focus, scroll position and open parts.
	browser.Eval[bool](t, b, `window.same = true`)
	browser.Eval[bool](t, b, `(document.querySelector(".node").open = true)`)
	browser.Eval[bool](t, b, `(document.querySelector(".events").focus(), document.querySelector(".events").scrollTop = 50, true)`)
	b.WaitFor(t, `document.querySelector(".events").scrollTop === 50`)
	d := in.Display
	d.Teams = slices.Clone(d.Teams)
	d.Teams[0].Runs, d.Innings = 239, slices.Clone(d.Innings)
	d.Innings[1].Runs, d.Equation = 239, "need 3 from 2"
	f.putDisplay(d)
	f.putEvent(t, finalID, cricket.Event{Key: "w:9", Type: cricket.EventWicket, Text: "WICKET! Nobody run out", Innings: 2, Over: "49.4", At: in.Node.Clock.Now})
	b.WaitFor(t, `document.querySelector(".line__big").textContent === "Need 3 from 2"`)
	b.WaitFor(t, `document.querySelector(".side__figure").textContent === "239/8"`)
	b.WaitFor(t, `document.querySelector(".event__text").textContent === "WICKET! Nobody run out"`)
	b.WaitFor(t, `document.getElementById("shout").textContent === "WICKET! Nobody run out"`)
	b.WaitFor(t, `document.title.startsWith("ENG 239/8")`)
	for _, held := range []string{
		`window.same`, `document.querySelector(".node").open`, `document.activeElement.classList.contains("events")`,
		`document.querySelector(".events").scrollTop >= 50`,
	} {
		if !browser.Eval[bool](t, b, held) {
			t.Errorf("no longer true after the update: %s", held)
		}
	}
	b.WaitFor(t, `document.getElementById("link").hidden`) // a page that was suspended for seconds shows it until the next message
	if bad := b.Complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}

	// Without its node the page says so, and shows the age of its figures.
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.WaitFor(t, `!document.getElementById("link").hidden && /What you see is \d+ s old/.test(document.getElementById("link").textContent)`)
}

// No state of any page is wider than the screen. With -short only three widths are tested: the narrowest, and the two at which
// the layout changes.
func TestScenesInABrowser(t *testing.T) {
	b := browser.Open(t)
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
		b.Do(t, chromedp.EmulateViewport(320, 640))
		b.Do(t, chromedp.Navigate(home+"/_/gallery/cricket/"+scenes[i].Name))
		for _, w := range widths {
			b.Do(t, chromedp.EmulateViewport(w, 800))
			if got := browser.Eval[int64](t, b, `document.documentElement.scrollWidth`); got > w {
				t.Errorf("%s is %d wide on a screen of %d", scenes[i].Name, got, w)
			}
		}
	}
	if bad := b.Complaints(home); len(bad) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(bad, "\n"))
	}
}

// The scorecards leave no column empty, and a list that continues below its edge fades out there. With -short only a match with
// super overs and a Test are loaded.
func TestWholeRowsInABrowser(t *testing.T) {
	b := browser.Open(t)
	if b == nil {
		return
	}
	cfg, _, _ := config(t)
	cfg.Development = true
	home, _ := start(t, cfg)
	scenes := []string{"superover", "test", "chase", "first"}
	if testing.Short() {
		scenes = scenes[:2]
	}
	for _, scene := range scenes {
		for _, width := range []int64{360, 1280, 1920} {
			b.Do(t, chromedp.EmulateViewport(width, 900))
			b.Do(t, chromedp.Navigate(home+"/_/gallery/cricket/"+scene))
			if !browser.Eval[bool](t, b, `[...document.querySelectorAll(".events")].every((e) => e.scrollHeight <= e.clientHeight || getComputedStyle(e).maskImage.includes("gradient"))`) {
				t.Errorf("%s at %d: the list of events is cut at its edge", scene, width)
			}
			filled := `(() => {
				const rows = new Map();
				for (const card of document.querySelectorAll(".cardrow > .card")) rows.set(card.offsetTop, (rows.get(card.offsetTop) || 0) + card.offsetWidth);
				const all = document.querySelector(".cardrow").offsetWidth;
				return [...rows.values()].every((width) => width > 0.9 * all);
			})()`
			if !browser.Eval[bool](t, b, filled) {
				t.Errorf("%s at %d: a column of the scorecards is empty", scene, width)
			}
		}
	}
}
