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

// phone is a browser at a node that can be stopped and started.
type phone struct {
	*chromium.Tab
	t    *testing.T
	r    *rig
	node *node
	gone bool
	base string
}

// newPhone returns a phone, or nil without Chromium.
func newPhone(t *testing.T) *phone {
	t.Helper()
	r := newRig(t)
	r.now = time.Time{}
	r.league()
	n := &node{r: r, addr: "127.0.0.1:0"}
	n.start()
	p := &phone{t: t, r: r, node: n, base: "http://" + n.addr + "/3fc/-"}
	t.Cleanup(func() { p.away() })
	if p.Tab = chromium.Open(t); p.Tab == nil {
		return nil
	}
	p.Do(t, chromedp.EmulateViewport(390, 844))
	return p
}

func (p *phone) open(path string) {
	p.t.Helper()
	p.Do(p.t, chromedp.Navigate(p.base+path))
	p.WaitFor(p.t, `navigator.serviceWorker.controller !== null && document.readyState === "complete"`)
	p.WaitFor(p.t, `caches.keys().then(async (all) => (await (await caches.open(all[0])).match(location.href)) !== undefined)`)
}

// signIn opens a page as a user.
func (p *phone) signIn(who, path string) {
	p.t.Helper()
	_, code, _ := strings.Cut(p.r.want(201, "", "boss", "POST", "/v1/leagues/l/sign-in-codes", fmt.Sprintf(`{"email":"%s@example.org"}`, who)), `"code":"`)
	p.Do(p.t, chromedp.Navigate(p.base+"/sign-in?to=/3fc/-"+path))
	p.run(`document.getElementById("code-email").value = "%s@example.org", document.getElementById("code").value = %q, document.getElementById("code").form.requestSubmit()`, who, code[:8])
	p.WaitFor(p.t, fmt.Sprintf(`location.pathname === "/3fc/-%s" && document.readyState === "complete" && navigator.serviceWorker.controller !== null`, path))
}

func (p *phone) run(script string, args ...any) {
	p.t.Helper()
	chromium.Eval[bool](p.t, p.Tab, "("+fmt.Sprintf(script, args...)+", true)")
}

// submit fills in the fields of the form whose address ends so, and sends it.
func (p *phone) submit(action string, fields map[string]string) {
	p.t.Helper()
	form := fmt.Sprintf(`document.querySelector('form[data-queue][action$=%q]')`, action)
	for name, value := range fields {
		p.run(`%s.querySelector('[name=%q]').value = %q`, form, name, value)
	}
	p.run(`(document.activeElement.blur(), %s.requestSubmit(%s.querySelector("button[type=submit]")))`, form, form)
}

// told waits until a form says something of an entry in a state.
func (p *phone) told(action, state, words string) {
	p.t.Helper()
	p.WaitFor(p.t, fmt.Sprintf(`[...document.querySelectorAll('form[action$=%q] .told [data-state=%q]')].some((li) => li.textContent.includes(%q))`, action, state, words))
}

func (p *phone) away() {
	if !p.gone {
		p.node.stop()
	}
	p.gone = true
}

func (p *phone) back() {
	p.node.start()
	p.gone = false
	p.run(`dispatchEvent(new Event("online"))`)
}

func (p *phone) waits(state string, n int) {
	p.t.Helper()
	p.WaitFor(p.t, fmt.Sprintf(`document.querySelectorAll('.waits[data-state=%q]').length === %d`, state, n))
}

func (p *phone) tap(selector string) {
	p.t.Helper()
	p.WaitFor(p.t, fmt.Sprintf(`document.querySelector(%q).disabled === false && document.querySelector(%q).checkVisibility()`, selector, selector))
	p.run(`document.querySelector(%q).click()`, selector)
}

// What is entered while the node is stopped is shown at its form, with what became of it and where the new thing is. The same entry once
// more is not sent before its reader says so; each entry has an ID of its own.
func TestFormsSayWhatBecameOfAnEntry(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	p.signIn("boss", "/seasons/s/admin")
	p.away()
	const days, games = "/seasons/s/sessions", "/sessions/aug/games"
	p.submit(days, map[string]string{"sessionDate": "2026-08-01", "sessionId": "aug"})
	p.told(days, "queued", "Add match day: 2026-08-01. Not sent yet. It is sent as soon as the node can be reached.")
	p.submit(days, map[string]string{"sessionDate": "2026-08-01"})
	p.told(days, "again", "is waiting to be sent already.")
	p.waits("queued", 1)
	p.submit(days, map[string]string{"sessionDate": "2026-08-02"})
	p.waits("queued", 2)
	chromium.Shoot(t, p.Tab, "threefc-form-waits")
	p.back()
	p.told(days, "done", "Add match day: 2026-08-01. The match day is added")
	p.told(days, "done", "Add match day: 2026-08-02. The match day is added")
	if n := strings.Count(p.r.want(200, "", "boss", "GET", "/v1/seasons/s/sessions", ""), `"2026-08-0`); n != 2 {
		t.Errorf("%d match days, want 2", n)
	}
	p.WaitFor(t, fmt.Sprintf(`document.querySelector('form[action$=%q]') !== null`, games))
	p.run(`document.querySelector('form[action$=%q]').closest("details").open = true`, games)
	p.submit(games, map[string]string{"gameId": "new/game"})
	p.told(games, "done", "The game is created.")
	p.submit(games, nil)
	p.told(games, "again", "is there already. To make another one like it, send it again.")
	chromium.Shoot(t, p.Tab, "threefc-form-done")
	p.run(`document.querySelector('form[action$=%q] .told a').click()`, games)
	p.WaitFor(t, `location.pathname === "/3fc/-/games/new%2Fgame/teams"`)
}

// Somebody joins once: the page says so at once, while the node is stopped, and when it is opened again. Another player of the same device
// can join too.
func TestJoinOnce(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	_, after, _ := strings.Cut(p.r.want(200, "", "boss", "GET", "/v1/games/g", ""), `"joinCode":"`)
	join := "/join/" + after[:8]
	closed := `document.querySelector('form[data-once] .once')?.checkVisibility() && !document.querySelector("#nickname").checkVisibility()`
	p.open(join)
	p.away()
	p.submit(join, map[string]string{"nickname": "Zed"})
	p.told(join, "queued", "Join the game: Zed. Not sent yet.")
	p.WaitFor(t, closed)
	p.run(`location.reload()`)
	p.told(join, "queued", "Join the game: Zed. Not sent yet.")
	p.WaitFor(t, closed)
	chromium.Shoot(t, p.Tab, "threefc-join-waits")
	p.back()
	p.told(join, "done", "You are in the game")
	p.WaitFor(t, closed)
	p.open(join)
	p.WaitFor(t, closed+` && document.querySelector(".once").textContent.includes("Join the game: Zed. You are in the game")`)
	chromium.Shoot(t, p.Tab, "threefc-joined")
	p.tap(".once button")
	p.submit(join, map[string]string{"nickname": "Yan"})
	p.told(join, "done", "Join the game: Yan. You are in the game")
	p.WaitFor(t, closed)
	roster := p.r.want(200, "", "boss", "GET", "/v1/games/g/roster", "")
	for _, who := range []string{"Zed", "Yan"} {
		if n := strings.Count(roster, `"nickname":"`+who+`"`); n != 1 {
			t.Errorf("%s is in the game %d times", who, n)
		}
	}
}

// Before a third runs a goal cannot be entered, and the page says why. Goals that are not sent count in the figures, with a mark, and no
// figure goes back when they arrive.
func TestFiguresCountUnsentGoals(t *testing.T) {
	p := newPhone(t)
	if p == nil {
		return
	}
	p.signIn("keeper", "/games/g/score")
	p.WaitFor(t, `document.querySelector('[data-scoring="red"]').disabled && document.querySelector("[data-why]").textContent === "Start third 1 first."`)
	p.away()
	p.tap(`[data-step="0"] button`)
	p.tap(`[data-step="0"] button`)
	p.WaitFor(t, `document.querySelector("[data-why]").hidden`)
	chromium.Eval[bool](t, p.Tab, `((figure) => {
		globalThis.seen = [figure().firstChild.data];
		new MutationObserver(() => { if (figure().firstChild.data !== seen.at(-1)) seen.push(figure().firstChild.data); })
			.observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });
		return true;
	})(() => document.querySelector('[data-count="against-blue"].head__figure'))`)
	goal := func() {
		p.tap(`[data-scoring="red"]`)
		p.tap(`[data-conceding="blue"]`)
		p.tap(`[data-scorer="r1"]`)
		p.tap(`[data-goal] [type="submit"]`)
	}
	goal()
	goal()
	p.WaitFor(t, `document.querySelector('[data-count="against-blue"]').dataset.unsent === "2 not sent" && document.querySelector('[data-count="for-red"]').textContent === "2"`)
	chromium.Shoot(t, p.Tab, "threefc-figures")
	p.back()
	p.waits("queued", 0)
	p.WaitFor(t, `document.querySelector('[data-count="against-blue"]').dataset.unsent === undefined && document.querySelector("[data-last]").textContent.includes("third 1, 00:")`)
	if got := chromium.Eval[string](t, p.Tab, `seen.join(" ")`); got != "0 1 2" {
		t.Errorf("the figure was %s", got)
	}
	p.away()
	p.tap("[data-undo] button")
	p.tap("[data-undo] button")
	p.WaitFor(t, `document.querySelector('[data-count="against-blue"]').textContent === "1" && document.querySelector("[data-undo] button").disabled`)
	p.tap(`[data-step="1"] button`)
	p.tap(`[data-step="1"] button`)
	p.WaitFor(t, `document.querySelector("[data-why]").textContent === "Start third 2 first." && document.querySelector('[data-own="red"]').disabled`)
}
