//go:build long

package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	chromium "github.com/touchline/touchline/internal/testrig/browser"
)

// node runs the application at a fixed address, where it can be stopped and restarted.
type node struct {
	r    *rig
	addr string
	stop func()
}

func (n *node) start() {
	n.r.t.Helper()
	var lc net.ListenConfig
	ln, err := lc.Listen(n.r.t.Context(), "tcp", n.addr)
	if err != nil {
		n.r.t.Fatal(err)
	}
	n.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	server := n.r.serve()
	go func() { done <- server.Run(ctx, ln) }()
	n.stop = func() {
		cancel()
		if err := <-done; err != nil {
			n.r.t.Error(err)
		}
	}
}

// A game is scored on a phone 360 pixels wide: a second tap confirms a third, a goal takes four taps and an own goal three. While the node is
// stopped, goals wait, even across a reload, and one is undone. After its restart the others arrive. A goal is changed on its page. A goal
// after the end is refused with the reason, and discarded. A goal refused for a reason that is then resolved is sent again. A public page
// follows all of it. Then an admin sees who has access, and deletes the game, the season and the league.
func TestScoringOnAPhoneWithTheNodeStoppedAndStarted(t *testing.T) {
	r := newRig(t)
	r.now = time.Time{}
	r.league()
	n := &node{r: r, addr: "127.0.0.1:0"}
	n.start()
	defer func() { n.stop() }()
	base := "http://" + n.addr

	b := chromium.Open(t)
	if b == nil {
		t.Skip("no Chromium")
	}
	signIn := func(who, path string) {
		t.Helper()
		_, code, _ := strings.Cut(r.want(201, "", "boss", "POST", "/v1/leagues/l/sign-in-codes", fmt.Sprintf(`{"email":"%s@example.org"}`, who)), `"code":"`)
		b.Do(t, chromedp.Navigate(base+"/3fc/-"+path)) // which redirects to the sign-in page
		chromium.Eval[bool](t, b, fmt.Sprintf(`(() => {
			document.getElementById("code-email").value = "%s@example.org";
			document.getElementById("code").value = %q;
			document.getElementById("code").form.requestSubmit();
			return true;
		})()`, who, code[:8]))
		b.WaitFor(t, fmt.Sprintf(`location.pathname === "/3fc/-%s" && document.readyState === "complete"`, path))
	}
	b.Do(t, chromedp.EmulateViewport(360, 740))
	signIn("keeper", "/games/g/score")
	b.WaitFor(t, `document.querySelector("[data-goal]") !== null`)
	narrow := func(what string) {
		if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d pixels wide", what, wide)
		}
	}
	taps := 0
	tap := func(selector string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`(() => { const el = document.querySelector(%q); return el && !el.disabled && el.getClientRects().length > 0; })()`, selector))
		chromium.Eval[bool](t, b, fmt.Sprintf(`document.querySelector(%q).click() ?? true`, selector))
		taps++
	}
	shows := func(conceded string) { // and nothing of it is unsent
		t.Helper()
		b.WaitFor(t, `document.querySelector('[data-unsent], .waits:is([data-state="queued"], [data-state="sending"])') === null && `+fmt.Sprintf(`[...document.querySelectorAll(".head__figure")].map((f) => f.textContent).join(" ") === %q`, conceded))
	}
	waits := func(n int, state string) {
		t.Helper()
		b.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('.waits[data-state=%q]').length === %d`, state, n))
	}
	goal := func(scoring, conceding, scorer string) {
		t.Helper()
		taps = 0
		tap(`[data-scoring="` + scoring + `"]`)
		tap(`[data-conceding="` + conceding + `"]`)
		tap(`[data-scorer="` + scorer + `"]`)
		b.WaitFor(t, `document.querySelector('[data-goal] [type="submit"]').getClientRects().length > 0`)
		if below := chromium.Eval[float64](t, b, `document.querySelector('[data-goal] [type="submit"]').getBoundingClientRect().bottom - innerHeight`); below > 0.5 {
			t.Errorf("the save button is %v pixels below the screen", below)
		}
		tap(`[data-goal] [type="submit"]`)
		if taps > 4 {
			t.Errorf("a goal took %d taps", taps)
		}
	}
	narrow("the scorer's page")

	tap(`[data-step="0"] button`)
	b.WaitFor(t, `document.querySelector('[data-step="0"] button').classList.contains("is-armed")`)
	if _, board := r.board(); len(board) != 0 {
		t.Error("a single tap started a third")
	}
	tap(`[data-step="0"] button`)
	b.WaitFor(t, `document.querySelector('[data-step="1"]').hidden === false`)
	b.WaitFor(t, `/^0\d:[0-5]\d$/.test(document.querySelector(".clock:not([hidden]) .clock__time").textContent)`)
	goal("red", "blue", "r1")
	shows("0 1 0")
	taps = 0
	tap(`[data-own="yellow"]`)
	tap(`[data-scorer="y1"]`)
	tap(`[data-goal] [type="submit"]`)
	if taps != 3 {
		t.Errorf("an own goal took %d taps", taps)
	}
	shows("0 1 1")
	narrow("the page with goals")
	if said := b.Complaints(base); len(said) > 0 {
		t.Errorf("browser messages: %v", said)
	}

	n.stop()
	goal("blue", "red", "b1")
	goal("yellow", "red", "y1")
	waits(2, "queued")
	b.WaitFor(t, `document.querySelector('[data-plus="red"]').textContent === "+2"`)
	b.Do(t, chromedp.Reload()) // the copy cached by its service worker
	waits(2, "queued")
	b.WaitFor(t, `document.querySelector("[data-last]").textContent.includes("not sent")`)
	tap("[data-undo] button")
	tap("[data-undo] button")
	waits(1, "queued")
	for _, step := range []string{"1", "2"} { // the third ends and the next begins
		tap(`[data-step="` + step + `"] button`)
		tap(`[data-step="` + step + `"] button`)
	}
	b.WaitFor(t, `document.querySelector(".clock[data-queued]:not([hidden])")?.textContent.startsWith("Third 2 00:0")`)
	goal("red", "blue", "r1")
	waits(4, "queued")
	narrow("the page with what waits")
	if goals, _ := r.board(); goals != 2 {
		t.Errorf("the node has %d goals, want the two from before", goals)
	}
	n.start()
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	shows("1 2 1")
	waits(0, "queued")
	b.WaitFor(t, `document.querySelector(".clock[data-start]:not([data-queued])").textContent.startsWith("Third 2 00:")`)

	change := "/games/g/goals/" + r.last()
	b.Do(t, chromedp.Navigate(base+"/3fc/-"+change))
	narrow("the page that changes a goal")
	b.WaitFor(t, `document.querySelector("[data-say]").textContent === "Player r (Red) against Blue"`)
	goal("blue", "red", "b1")
	b.WaitFor(t, `location.pathname === "/3fc/-/games/g/results"`)
	shows("2 1 1")
	r.want(200, "", "keeper", "PATCH", "/v1"+change, redGoal)
	b.Do(t, chromedp.Navigate(base+"/3fc/-/games/g/score"))
	shows("1 2 1")

	place := func() { r.want(200, "", "keeper", "PUT", "/v1/games/g/roster/z1", `{"teamId":"red"}`) }
	r.want(201, "", "keeper", "POST", "/v1/games/g/players", `{"playerId":"z1","nickname":"Zoe"}`)
	place()
	b.WaitFor(t, `document.querySelector('[data-scorer="z1"]') !== null`)
	n.stop()
	goal("red", "yellow", "z1")
	waits(1, "queued")
	r.want(204, "", "keeper", "DELETE", "/v1/games/g/roster/z1", "")
	n.start()
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	waits(1, "refused")
	b.WaitFor(t, `document.querySelector(".waits__words").textContent.includes("The scorer is not in a team of this game.")`)
	place()
	chromium.Eval[bool](t, b, `document.querySelector("#waiting details").open = true`)
	tap(".waits [data-retry]")
	shows("1 2 2")
	waits(0, "refused")
	r.want(200, "", "boss", "DELETE", "/v1/games/g/goals/"+r.last(), "")
	shows("1 2 1")

	n.stop()
	for _, third := range []string{"2/finish", "3/start", "3/finish"} {
		r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/"+third, "")
	}
	r.export()
	r.want(200, "", "keeper", "POST", "/v1/games/g/finish", "")
	goal("red", "yellow", "r1")
	waits(1, "queued")
	n.start()
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	waits(1, "refused")
	b.WaitFor(t, `document.querySelector(".waits__words").textContent.includes("The game is finished.")`)
	chromium.Eval[bool](t, b, `document.querySelector("#waiting details").open = true`)
	tap(`.waits[data-state="refused"] [data-discard]`)
	waits(0, "refused")
	if goals, _ := r.board(); goals != 4 {
		t.Errorf("%d goals, want 4", goals)
	}

	b.Do(t, chromedp.Navigate(base+"/3fc/-/lg/sn/g"))
	shows("1 2 1")
	narrow("the page of the game")
	var goals struct {
		Timeline []struct{ EventID, ConcedingTeamID string }
	}
	if err := json.Unmarshal([]byte(r.want(200, "", "boss", "GET", "/v1/games/g/goals", "")), &goals); err != nil {
		t.Fatal(err)
	}
	for _, one := range goals.Timeline {
		if one.ConcedingTeamID == "red" {
			r.want(200, "", "boss", "DELETE", "/v1/games/g/goals/"+one.EventID, "")
		}
	}
	shows("0 2 1") // updated by its stream, without a reload
	for _, path := range []string{"/", "/leagues/l", "/seasons/s", "/games/g/teams", "/games/g/results", "/sign-in"} {
		b.Do(t, chromedp.Navigate(base+"/3fc/-"+path))
		narrow(path)
	}

	tap(`[action$="/logout"] button`)
	b.WaitFor(t, `location.pathname === "/3fc/-/"`)
	signIn("boss", "/seasons/s/admin")
	b.Do(t, chromedp.Navigate(base+"/3fc/-/leagues/l"))
	shown := func(text string) string {
		return fmt.Sprintf(`document.querySelector('[data-show="access"] output').textContent.includes(%q)`, text)
	}
	tap(`[data-show="access"] button`)
	b.WaitFor(t, shown("keeper@example.org: scorekeeper"))
	narrow("the page that shows who has access")
	chromium.Shoot(t, b, "threefc-access")
	chromium.Eval[bool](t, b, `document.addEventListener("touchline:refreshed", () => { globalThis.refreshed = true; }) ?? true`)
	b.WaitFor(t, `globalThis.refreshed === true && `+shown("watcher@example.org: viewer")) // a refresh keeps the list
	chromium.Eval[bool](t, b, `(document.getElementById("user").value = "zoe@example.org") !== ""`)
	tap(`form[data-queue][action$="/access"] button`)
	b.WaitFor(t, shown("zoe@example.org: scorekeeper"))

	// Deletions, each on its own page.
	deletes := func(path, to string) {
		t.Helper()
		b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(base+"/3fc/-"+path))
		n.stop()
		tap(`[data-method="DELETE"] button`)
		b.WaitFor(t, `document.querySelector(".is-armed .confirm")?.getClientRects().length > 0`)
		narrow(path + " before the second tap")
		chromium.Shoot(t, b, "threefc-delete"+strings.ReplaceAll(path, "/", "-"))
		tap(`[data-method="DELETE"] button`)
		b.WaitFor(t, `document.querySelector('[data-method="DELETE"] output').textContent === "The node does not answer. Try again."`)
		n.start()
		tap(`[data-method="DELETE"] button`)
		tap(`[data-method="DELETE"] button`)
		b.WaitFor(t, fmt.Sprintf(`location.pathname === "/3fc/-%s" && document.readyState === "complete"`, to))
	}
	deletes("/games/g/results", "/seasons/s/admin")
	deletes("/seasons/s/admin", "/leagues/l")
	deletes("/leagues/l", "/")
	b.WaitFor(t, `document.querySelector("main .none").textContent === "No leagues yet."`)
}

// board returns the number of goals and the start times of the thirds.
func (r *rig) board() (goals int, thirds []string) {
	r.t.Helper()
	goals = strings.Count(r.want(200, "", "boss", "GET", "/v1/games/g/goals", ""), `"eventId":"`)
	for _, part := range strings.Split(r.want(200, "", "boss", "GET", "/v1/games/g", ""), `"startedAt":"`)[1:] {
		thirds = append(thirds, part[:24])
	}
	return goals, thirds
}
