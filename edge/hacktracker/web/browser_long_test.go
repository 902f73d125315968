//go:build long

package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/web"
)

// away starts a server that drops its connections while gone is set.
func (r *rig) away() (url string, gone *atomic.Bool) {
	gone = &atomic.Bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if gone.Load() {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			return
		}
		r.server.Handler().ServeHTTP(w, req)
	}))
	r.t.Cleanup(server.CloseClientConnections)
	r.t.Cleanup(server.Close)
	return server.URL, gone
}

// contrast returns the lowest contrast of a text with its background on a page and the text's element, or "" if it is at least 7.
const contrast = `(() => {
	const rgb = (c) => { const v = c.match(/[\d.]+/g).map(Number); return v.length < 4 || v[3] > 0 ? v : null; };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	let worst = [99, ""];
	for (const el of document.querySelectorAll(".scorer *")) {
		if (![...el.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !el.checkVisibility({ visibilityProperty: true }) || el.closest("svg, .vh, :disabled")) continue;
		let at = el, on = null;
		while (at && !(on = rgb(getComputedStyle(at).backgroundColor))) at = at.parentElement;
		const [a, b] = [light(rgb(getComputedStyle(el).color)), light(on ?? [255, 255, 255])].sort((x, y) => y - x);
		const c = (a + 0.05) / (b + 0.05);
		if (c < worst[0]) worst = [c, el.outerHTML.slice(0, 120)];
	}
	return worst[0] >= 7 ? "" : worst.join(" ");
})()`

// A scorer records thirty plate appearances on a phone 360 pixels wide. The node is unreachable for ten of them, and the page is reopened
// meanwhile. Each arrives once, as tapped, and the inning, outs and batter sent with it equal the derived ones.
func TestThirtyPlateAppearancesWithTheNodeGoneForTen(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "owner"}}})
	r.now = time.Now().UTC()
	team, players := r.team("owner", "manager", "scorekeeper", "player")
	bench := id(r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Bench","playerNumber":77}`), "playerId")
	game := r.game("owner", team, players...)
	url, gone := r.away()

	b := chromium.Open(t)
	if b == nil {
		return
	}
	address := url + "/hacktracker/-/games/" + game + "/score"
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(address))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null`)
	if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	if low := chromium.Eval[float64](t, b, `document.querySelector('[data-result="K"]').getBoundingClientRect().bottom`); low > 740 {
		t.Errorf("the keys end at %.0f of 740 pixels", low)
	}
	if small := chromium.Eval[float64](t, b, `Math.min(...[...document.querySelectorAll(".tap")].flatMap((k) => [k.offsetWidth, k.offsetHeight]))`); small < 44 {
		t.Errorf("a key of %.0f pixels", small)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Scheme(t, scheme)
		if low := chromium.Eval[string](t, b, contrast); low != "" {
			t.Errorf("%s: contrast %s", scheme, low)
		}
	}
	b.Scheme(t, "light")

	results := strings.Fields("K BB 1B FO 2B GO HR K E FC DP 3B BB PO LO SF SH HBP TP 1B K BB OUT 2B K GO BB HR K 1B")
	wait := func(n int) {
		b.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-refresh="plays"] [data-edit]').length === %d && document.querySelectorAll(".waits").length === 0`, n))
	}
	press := func(selector string) {
		b.WaitFor(t, fmt.Sprintf(`performance.now() - (globalThis.pressed ?? 0) > 300 && document.querySelector(%q) !== null`, selector))
		chromium.Eval[bool](t, b, fmt.Sprintf(`((k) => { k.click(); globalThis.pressed = performance.now(); return true })(document.querySelector(%q))`, selector))
	}
	play := func(i int) {
		if i%3 == 0 {
			press("#rbi-1")
		}
		if results[i] != "K" && results[i] != "BB" && results[i] != "HBP" {
			chromium.Eval[bool](t, b, `((f) => { const at = f.getBoundingClientRect(); f.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: at.x + at.width / 2, clientY: at.y + at.height / 2 })); return true })(document.querySelector("#field"))`)
		}
		press(`[data-result="` + results[i] + `"]`)
		b.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('#waits li').length + document.querySelectorAll('[data-refresh="plays"] [data-edit]').length >= %d`, i+1))
	}
	for i := range 10 {
		play(i)
	}
	wait(10)
	gone.Store(true)
	for i := 10; i < 20; i++ {
		play(i)
		if i == 14 { // the phone was put away, and the page is reopened from the cache
			b.Do(t, chromedp.Navigate(address))
			b.WaitFor(t, `document.querySelectorAll("#waits li").length === 5`)
		}
	}
	b.WaitFor(t, `document.querySelectorAll('.waits[data-state="queued"]').length === 10`)
	press("[data-undo]") // an unsent play is taken back without a trace, then tapped again
	b.WaitFor(t, `document.querySelectorAll('.waits').length === 9 && document.querySelectorAll("#waits li").length === 9`)
	play(19)
	b.WaitFor(t, `document.querySelectorAll('.waits[data-state="queued"]').length === 10`)
	chromium.Shoot(t, b, "hacktracker-waiting")
	b.Do(t, chromedp.EmulateViewport(360, 740))
	gone.Store(false)
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	wait(20)
	for i := 20; i < 30; i++ {
		play(i)
	}
	wait(30)

	atBats := r.list("owner", "/games/"+game+"/atbats")
	if len(atBats) != 30 {
		t.Fatalf("%d at-bats", len(atBats))
	}
	for i, at := range atBats {
		if at["result"] != results[i] || at["playerId"] != players[i%3] {
			t.Errorf("at-bat %d is %v of %v, want %s of %s", i, at["result"], at["playerId"], results[i], players[i%3])
		}
		if _, placed := at["hitLocation"]; placed == strings.Contains("K BB HBP", results[i]) {
			t.Errorf("at-bat %d, %s, has a hit location: %v", i, results[i], placed)
		}
	}
	r.want(200, `"mismatch":[],"possibleDoubles":[]`, "owner", "GET", "/games/"+game+"/state", "")
	chromium.Shoot(t, b, "hacktracker-scored")
	b.Do(t, chromedp.EmulateViewport(360, 740))

	press("[data-undo]") // take back the last one, correct one, add runs, and substitute the batter who is up first
	wait(29)
	press(`[data-refresh="plays"] li:last-child [data-edit]`)
	chromium.Eval[bool](t, b, `document.querySelector("#edit-result").value = "HR", document.querySelector("#edit").requestSubmit(), true`)
	r.wantSoon(b, `[data-refresh="plays"] li:last-child`, "home run")
	press(`[data-run="teamScore"]`)
	press(`[data-run="teamScore"]`)
	press(`[data-run="opponentScore"]`)
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0 && JSON.parse(document.querySelector("[data-book]").dataset.book).teamScore === 2`)
	chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector("#sub-out").value = %q, document.querySelector("#sub-in").value = %q, document.querySelector("#sub").requestSubmit(), document.activeElement.blur(), true`, players[0], bench))
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0 && document.querySelector("[data-book]").dataset.book.includes("77 Bench")`)
	r.want(200, `"teamScore":2,"opponentScore":1,"lineup":[{"playerId":"`+bench+`"`, "owner", "GET", "/games/"+game, "")
	for _, said := range b.Complaints(url) {
		if !strings.Contains(said, "ERR_") && !strings.Contains(said, "Failed to load") {
			t.Errorf("browser message: %s", said)
		}
	}
}

// A play comes after those that the page shows, also if the phone's clock was set back since.
func TestPlayAfterTheClockWasSetBack(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "owner"}}})
	r.now = time.Now().UTC()
	team, players := r.team("owner", "manager", "scorekeeper")
	game := r.game("owner", team, players...)
	url, _ := r.away()

	b := chromium.Open(t)
	if b == nil {
		return
	}
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(url+"/hacktracker/-/games/"+game+"/score"))
	played := []string{"1B", "2B", "3B"}
	for i, result := range played {
		b.WaitFor(t, fmt.Sprintf(`performance.now() - (globalThis.pressed ?? 0) > 300 && document.querySelectorAll('[data-refresh="plays"] [data-edit]').length === %d`, i))
		if i == 1 {
			chromium.Eval[bool](t, b, `((now) => { Date.now = () => now() - 3600000; return true })(Date.now)`)
		}
		chromium.Eval[bool](t, b, fmt.Sprintf(`((k) => { k.click(); globalThis.pressed = performance.now(); return true })(document.querySelector('[data-result="%s"]'))`, result))
	}
	b.WaitFor(t, `document.querySelectorAll('[data-refresh="plays"] [data-edit]').length === 3 && document.querySelectorAll(".waits").length === 0`)
	for i, at := range r.list("owner", "/games/"+game+"/atbats") {
		if at["result"] != played[i] {
			t.Errorf("play %d is %v, want %s", i+1, at["result"], played[i])
		}
	}
}

// A lineup is set by taps and keys, copied from the last game, and the game starts. A second scorer records the same play, which is reported
// and taken back. A spectator's page follows by its stream.
func TestLineupSecondScorerAndSpectator(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "owner"}}})
	r.now = time.Now().UTC()
	team, players := r.team("owner", "manager", "scorekeeper", "player")
	before := r.game("owner", team, players[2], players[0])
	r.want(200, "", "owner", "PATCH", "/games/"+before, `{"status":"FINAL"}`)
	game := id(r.want(201, "", "owner", "POST", "/games", `{"teamId":"`+team+`"}`), "gameId")
	url, _ := r.away()
	pages := url + "/hacktracker/-/games/" + game

	b := chromium.Open(t)
	if b == nil {
		return
	}
	ordered := func(want ...string) {
		b.WaitFor(t, fmt.Sprintf(`[...document.querySelectorAll("#order li")].map((li) => li.dataset.player).join() === %q`, strings.Join(want, ",")))
	}
	click := func(selector string) {
		chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector(%q).click() ?? true`, selector))
	}
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(pages+"/lineup"))
	for _, p := range players {
		click(`#bench [data-player="` + p + `"] span`)
	}
	ordered(players...)
	click(`[data-player="` + players[1] + `"] [data-up]`)
	ordered(players[1], players[0], players[2])
	if at := chromium.Eval[string](t, b, `document.activeElement.closest("li").dataset.player + Object.keys(document.activeElement.dataset)`); at != players[1]+"up" {
		t.Errorf("the keyboard focus is at %s", at)
	}
	click("[data-copy]")
	ordered(players[2], players[0])
	click("[data-save]")
	b.WaitFor(t, `document.getElementById("said").textContent === "Lineup saved." && document.querySelectorAll(".waits").length === 0`)

	b.Do(t, chromedp.Navigate(pages+"/score"))
	click(`[data-when="off"] .pad__key`)
	b.WaitFor(t, `document.querySelector("[data-result]").checkVisibility() && document.querySelector('[data-s="up"]').textContent === "2 Player"`)
	watcher := b.Another(t)
	watcher.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(pages))
	watcher.WaitFor(t, `document.querySelector(".head__line").textContent === "2 Player is up"`)
	if !watcher.Asked("/games/" + game + "/stream") {
		t.Error("the page of the game does not follow its stream")
	}
	click(`[data-result="2B"]`)
	watcher.WaitFor(t, `document.querySelector(".events")?.textContent.includes("2 Player: double") && document.querySelector(".head__line").textContent === "0 Player is up"`)
	r.want(201, "", "scorekeeper", "POST", "/games/"+game+"/atbats", atBat(players[2], "2B", 1, 0, 1))
	b.WaitFor(t, `document.querySelector('[data-refresh="look"]').textContent.includes("entered twice within a minute. Did two scorers enter it?")`)
	chromium.Shoot(t, b, "hacktracker-double")
	click(`[data-refresh="look"] [data-queue="DELETE"] button`)
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0 && !document.querySelector('[data-refresh="look"]').textContent.includes("Did two scorers enter it?")`)
	if n := len(r.list("owner", "/games/"+game+"/atbats")); n != 1 {
		t.Errorf("%d at-bats, want the one that both recorded", n)
	}
	for _, path := range []string{"", "/overlay", "/lineup", "/../../teams/" + team, "/../../teams/" + team + "/roster", "/../../teams/" + team + "/schedule"} {
		b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(pages+path))
		if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d pixels wide", path, wide)
		}
		chromium.Shoot(t, b, "hacktracker"+strings.ReplaceAll(strings.ReplaceAll(path, team, ""), "/", "-"))
	}
}

// A manager links a user to a player by the ID, after a wrong one was refused and while the node is unreachable, changes the positions and
// the status, and unlinks the user with a second tap.
func TestLinkAndUnlinkAUser(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "manager"}}})
	r.now = time.Now().UTC()
	team, _ := r.team("owner", "manager")
	ghost := id(r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Bench","playerNumber":77}`), "playerId")
	newcomer := strings.Repeat("newcomer", 8) // the longest ID
	r.want(200, "", newcomer, "PUT", "/users/"+newcomer, `{"firstName":"Nia","lastName":"Cole"}`)
	url, gone := r.away()
	pages, at := url+"/hacktracker/-", "/teams/"+team+"/players/"+ghost

	b := chromium.Open(t)
	if b == nil {
		return
	}
	click := func(selector string) {
		chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector(%q).click() ?? true`, selector))
	}
	link := func(user string) {
		chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector("#user").value = %q, document.querySelector("#role-scorekeeper").click(), document.querySelector('[data-key="link"]').requestSubmit(), true`, user))
	}
	narrow := func(name string) {
		t.Helper()
		if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s: the page is %d pixels wide", name, wide)
		}
		chromium.Shoot(t, b, "hacktracker-"+name)
		b.Do(t, chromedp.EmulateViewport(360, 740))
	}
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(pages+at))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null`)
	link("nobody")
	r.wantSoon(b, `.waits[data-state="refused"]`, "User not found")
	narrow("link-refused")
	click(`.waits [data-discard]`)
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0`)
	gone.Store(true)
	link(newcomer)
	r.wantSoon(b, `.waits[data-state="queued"]`, "Link Bench to a user")
	gone.Store(false)
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	r.wantSoon(b, `[data-refresh="account"]`, "Linked to Nia, scorekeeper.")
	r.want(200, `"userId":"`+newcomer+`"`, "owner", "GET", at, "")
	r.want(200, `"role":"scorekeeper"`, newcomer, "GET", "/teams/"+team, "")

	chromium.Eval[bool](t, b, `document.querySelector("#position").value = "SS", document.querySelector("#position").form.requestSubmit(), true`)
	r.wantSoon(b, `[data-refresh="positions"]`, "Positions: SS")
	click(`[name="positions"]`)
	r.wantSoon(b, `[data-refresh="positions"]`, "Positions: none")
	click(`[name="status"][value="sub"]`)
	b.WaitFor(t, `document.querySelector('[value="sub"]').getAttribute("aria-pressed") === "true"`)
	click(`[data-refresh="account"] summary`)
	narrow("linked")
	click(`[data-refresh="account"] [data-queue] button`)
	b.WaitFor(t, `document.querySelector('[data-key="link"]') !== null && document.querySelectorAll(".waits").length === 0`)
	r.want(200, `"status":"sub","isGhost":true,"userId":null`, "owner", "GET", at, "")
	narrow("unlinked")
	b.Do(t, chromedp.Navigate(pages+"/teams/"+team+"/roster"))
	narrow("roster")
	b.Do(t, chromedp.Navigate(pages+"/"))
	chromium.Eval[bool](t, b, `document.querySelectorAll("details").forEach((d) => { d.open = true }) ?? true`)
	narrow("join")
	click(`[data-key^="offer"] [action$="/accept"] button`)
	b.WaitFor(t, `document.querySelector('[data-key^="offer"]') === null && document.querySelectorAll(".waits").length === 0`)
	r.want(200, `"acceptedAt"`, "manager", "POST", "/teams/"+team+"/accept", "")
	narrow("accepted")
}

// Every scene of the gallery fits every width without horizontal scrolling, a scorer's texts have enough contrast for sunlight, and the
// browser reports nothing.
func TestScenesInABrowser(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{}, Development: true})
	url, _ := r.away()
	b := chromium.Open(t)
	if b == nil {
		return
	}
	for _, scene := range fixed(t) {
		name := scene.Name
		b.Do(t, chromedp.EmulateViewport(320, 640), chromedp.Navigate(url+"/_/gallery/hacktracker/"+name))
		for _, w := range []int64{320, 360, 719, 720, 1200, 1920} {
			b.Do(t, chromedp.EmulateViewport(w, 800))
			if got := chromium.Eval[int64](t, b, `document.documentElement.scrollWidth`); got > w {
				t.Errorf("%s is %d wide on a screen of %d", name, got, w)
			}
		}
		for _, scheme := range []string{"light", "dark"} {
			b.Scheme(t, scheme)
			if faint := chromium.Eval[string](t, b, contrast); faint != "" {
				t.Errorf("%s, %s: too faint: %s", name, scheme, faint)
			}
		}
		chromium.Shoot(t, b, "hacktracker-scene-"+name)
	}
	if bad := b.Complaints(url); len(bad) > 0 {
		t.Errorf("browser messages:\n%s", strings.Join(bad, "\n"))
	}
}

// list returns an answer that is a bare array.
func (r *rig) list(who, path string) (out []map[string]any) {
	r.t.Helper()
	if err := json.Unmarshal(r.ask(who, "GET", path, "").Body.Bytes(), &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// wantSoon waits until an element contains a text.
func (r *rig) wantSoon(b *chromium.Tab, selector, text string) {
	r.t.Helper()
	b.WaitFor(r.t, fmt.Sprintf(`document.querySelector(%q)?.textContent.includes(%q)`, selector, text))
}
