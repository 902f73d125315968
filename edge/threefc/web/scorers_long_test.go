//go:build long

package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	chromium "github.com/touchline/touchline/internal/testrig/browser"
)

// Two phones score a game: each sees the other, and one tap hands the scoring over and back. The keys of the phone that gave it away are set
// aside. If the node is unreachable it takes the scoring back with one tap all the same, and what it enters arrives later.
func TestTwoPhonesHandOver(t *testing.T) {
	r := newRig(t)
	r.now = time.Time{}
	r.league()
	n := &node{r: r, addr: "127.0.0.1:0"}
	n.start()
	defer func() { n.stop() }()
	base := "http://" + n.addr
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")

	phone := func(who string) *chromium.Tab {
		t.Helper()
		b := chromium.Open(t)
		if b == nil {
			t.Skip("no Chromium")
		}
		b.Do(t, chromedp.EmulateViewport(360, 740))
		_, code, _ := strings.Cut(r.want(201, "", "boss", "POST", "/v1/leagues/l/sign-in-codes", fmt.Sprintf(`{"email":"%s@example.org"}`, who)), `"code":"`)
		b.Do(t, chromedp.Navigate(base+"/3fc/-/games/g/score"))
		chromium.Eval[bool](t, b, fmt.Sprintf(`(() => {
			document.getElementById("code-email").value = "%s@example.org";
			document.getElementById("code").value = %q;
			document.getElementById("code").form.requestSubmit();
			return true;
		})()`, who, code[:8]))
		b.WaitFor(t, `location.pathname === "/3fc/-/games/g/score" && document.readyState === "complete" && document.querySelector("[data-goal]") !== null`)
		return b
	}
	has := func(b *chromium.Tab, text string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`document.querySelector("main").textContent.includes(%q)`, text))
	}
	aside := func(b *chromium.Tab, is bool) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`[...document.querySelectorAll("[data-scoring-keys]")].every((el) => el.inert === %t)`, is))
	}
	does := func(b *chromium.Tab, what string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`document.querySelector('form[data-scorers=%q] button') !== null`, what))
		chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector('form[data-scorers=%q] button').click() ?? true`, what))
	}

	ann, ben := phone("keeper"), phone("boss")
	has(ann, "boss has this page open, since")
	has(ben, "keeper has this page open, since")
	chromium.Shoot(t, ann, "scorers-both")
	does(ann, "give")
	has(ann, "boss scores now, since")
	aside(ann, true)
	has(ben, "You score now, since")
	aside(ben, false)
	chromium.Shoot(t, ann, "scorers-away")
	chromium.Shoot(t, ben, "scorers-mine")
	does(ben, "give")
	has(ben, "keeper scores now, since")
	aside(ben, true)
	aside(ann, false)

	n.stop()
	does(ben, "take")
	aside(ben, false)
	for _, key := range []string{`[data-scoring="red"]`, `[data-conceding="blue"]`, `[data-scorer="r1"]`, `[data-goal] [type="submit"]`} {
		chromium.Eval[bool](t, ben, fmt.Sprintf(`document.querySelector(%q).click() ?? true`, key))
	}
	ben.WaitFor(t, `document.querySelectorAll('.waits[data-state="queued"]').length === 1`)
	n.start()
	ben.WaitFor(t, `[...document.querySelectorAll(".head__figure")].map((f) => f.textContent).join(" ") === "0 1 0"`)
	has(ann, "boss scores this game too, since")
	for name, b := range map[string]*chromium.Tab{"ann": ann, "ben": ben} {
		b.Do(t, chromedp.EmulateViewport(360, 740))
		if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("the page of %s is %d pixels wide", name, wide)
		}
	}
	chromium.Shoot(t, ann, "scorers-too")
}
