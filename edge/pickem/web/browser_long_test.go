//go:build long

package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// On a phone 360 pixels wide, a pick is one tap and shows a tick. While the node is unreachable, a tap waits. If the lock passes before the node
// is back, the page says that the tap is too late, and never sends it.
func TestPicksOnAPhoneWithTheNodeGoneOverTheLock(t *testing.T) {
	r := newRigFor(t, auth.Identity{Subject: "sam"})
	now := time.Now().UTC()
	r.now = now
	lock := now.Add(20 * time.Second).Truncate(time.Second)
	day := lock.Add(time.Hour).Format(time.DateOnly)
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"sam","name":"Sam"}`)
	r.want(201, "", "admin", "POST", "/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Gala"}`, day, lock.Add(time.Hour).Format(time.RFC3339)))
	for _, name := range []string{"First", "Main"} {
		body := fmt.Sprintf(`{"name":%q,"points":5,"teams":[{"members":["%s A"]},{"members":["%s B"]}]}`, name, name, name)
		r.want(201, "", "admin", "POST", "/admin/events/"+day+"-gala/matches", body)
	}
	var away atomic.Bool
	var picks atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if away.Load() {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
			}
			return
		}
		if req.Method == http.MethodPut {
			picks.Add(1)
		}
		r.server.Handler().ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)

	b := chromium.Open(t)
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(server.URL+"/pickem/-/events/"+day+"-gala"))
	narrow(t, b)
	press := func(text string) {
		chromium.Eval[bool](t, b, fmt.Sprintf(`[...document.querySelectorAll(".pad__key")].find((k) => k.textContent.includes(%q)).click() ?? true`, text))
	}
	press("First B")
	b.WaitFor(t, `[...document.querySelectorAll(".pad__key[aria-pressed=true]")].some((k) => k.textContent.includes("First B")) && document.querySelectorAll(".waits").length === 0`)
	away.Store(true)
	press("Main A")
	b.WaitFor(t, `document.querySelectorAll('.waits[data-state="queued"]').length === 1`)
	b.WaitFor(t, `document.querySelector(".countdown time").textContent === "locked"`)
	away.Store(false) // the node's clock stands still, so it would accept the pick
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	b.WaitFor(t, `document.querySelector(".waits__words")?.textContent.includes("too late")`)
	if n := picks.Load(); n != 1 {
		t.Errorf("%d picks were sent, want the one before the lock", n)
	}
}

// A page follows the league's stream: it shows changes at once, and sends no requests while nothing changes.
func TestPagesFollowTheStream(t *testing.T) {
	r := newRigFor(t, auth.Identity{Subject: "sam"})
	r.card()
	base, _ := web.Run(t, r.server)
	b := chromium.Open(t)
	b.Do(t, chromedp.Navigate(base+"/pickem/-/events/"+event))
	const asked = `performance.getEntriesByType("resource").filter((e) => e.name === location.href).length`
	b.WaitFor(t, `performance.getEntriesByType("resource").some((e) => e.name.endsWith("/refresh.js")) && performance.now() > 5000`)
	if n := chromium.Eval[int](t, b, asked); n > 1 {
		t.Errorf("nothing happened, but the page was requested %d times", n)
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	b.WaitFor(t, `document.body.textContent.includes("You did not pick.")`)
	b.WaitFor(t, `performance.now() > 9000`)
	if n := chromium.Eval[int](t, b, asked); n > 3 {
		t.Errorf("one thing happened, but the page was requested %d times", n)
	}
}

// On a phone, an admin adds a title match to the card, marks who holds the title, renames the event, and adds matches from a file. Teams left
// empty in the form are not added. A file with a mistake adds nothing: the page names the match. A second tap deletes an event.
func TestAdminEditsTheCardOnAPhone(t *testing.T) {
	r := newRigFor(t, auth.Identity{Subject: "boss", Admin: true})
	r.card()
	base, _ := web.Run(t, r.server)
	b := chromium.Open(t)
	b.Do(t, chromedp.EmulateViewport(360, 740), chromedp.Navigate(base+"/pickem/-/admin/events/"+event))
	narrow(t, b)
	const fill = `((action, all) => {
		const form = [...document.forms].find((f) => f.getAttribute("action").endsWith(action) && f.className === "form");
		for (const [name, value] of Object.entries(all)) {
			const el = form.querySelector("[name='" + name + "']");
			if (value === true) el.checked = true; else el.value = value;
		}
		form.closest("details")?.setAttribute("open", "");
		form.querySelector("button").click();
		return true;
	})`
	chromium.Eval[bool](t, b, fill+`("/matches", {name: "Cage", points: "9", "championships[]": "Steel", "teams.0.members[]": "Fay", "teams.1.members[]": "Gil", "teams.1.champion": true})`)
	b.WaitFor(t, `document.body.textContent.includes("Gil (champion)") && !document.body.textContent.includes("Fay (champion)")`)
	chromium.Eval[bool](t, b, fill+`("/events/`+event+`", {name: "Renamed"})`)
	b.WaitFor(t, `document.querySelector("h1").textContent.includes("Renamed")`)
	load := func(bytes string) {
		chromium.Eval[bool](t, b, fmt.Sprintf(`(() => {
			const input = document.querySelector("input[type=file]"), files = new DataTransfer();
			files.items.add(new File([Uint8Array.from(%q, (c) => c.charCodeAt(0))], "card.csv"));
			input.files = files.files;
			input.closest("details").open = true;
			input.form.querySelector("button").click();
			return true;
		})()`, bytes))
	}
	load("name,points,preshow,championships,teams\nLadder,5,,,Hal|Ida\nTables,five,,,Joe|Kim\n")
	b.WaitFor(t, `document.querySelector(".waits__words")?.textContent.includes("match 2: points must be a whole number")`)
	narrow(t, b)
	chromium.Eval[bool](t, b, `document.querySelector("[data-discard]").click() ?? true`)
	load("Caf\xe9,5,,,Hal|Ida\n")
	b.WaitFor(t, `document.querySelector(".waiting__say").textContent.includes("card.csv is not UTF-8")`)
	load("Ladder,5,,,Hal & Ivo|Ida\n")
	b.WaitFor(t, `document.body.textContent.includes("Hal & Ivo")`)
	card, err := func() (card pickem.Card, err error) {
		err = r.service.Store.View(t.Context(), func(tx *store.Tx) error { card, err = r.service.Event(tx, event, ""); return err })
		return card, err
	}()
	if err != nil || len(card.Matches) != 4 || len(card.Matches[2].Teams) != 2 || !card.StartsAt.Equal(start) {
		t.Errorf("%+v, %v", card, err)
	}
	r.want(201, "", "admin", "POST", "/admin/events", `{"date":"2024-03-09","startsAt":"2024-03-09T20:00:00Z","name":"Spare"}`)
	b.Do(t, chromedp.Navigate(base+"/pickem/-/admin"))
	const spare = `document.querySelector("[data-key='2024-03-09-spare'] `
	if chromium.Eval[bool](t, b, spare+`button").checkVisibility()`) {
		t.Error("an event is deleted at the first tap")
	}
	chromium.Eval[bool](t, b, spare+`summary").click() ?? true`)
	narrow(t, b)
	chromium.Eval[bool](t, b, spare+`button").click() ?? true`)
	b.WaitFor(t, `!document.body.textContent.includes("Spare") && document.body.textContent.includes("Delete Renamed")`)
}

// narrow checks that nothing on a page is wider than a phone.
func narrow(t *testing.T, b *chromium.Tab) {
	t.Helper()
	if wide := chromium.Eval[int](t, b, `document.documentElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
}

// Three hundred users pick in the last minute before the lock, over sixteen connections: no pick is lost.
func TestThreeHundredInTheLastMinute(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	const people, connections = 300, 16
	for i := range people {
		r.want(201, "", "admin", "POST", "/admin/users", fmt.Sprintf(`{"userId":"u%d","name":"U"}`, i))
	}
	r.now = start.Add(-time.Hour - time.Minute)
	server := httptest.NewServer(r.server.Handler())
	t.Cleanup(server.Close)
	work, took := make(chan int, people), make(chan time.Duration, people)
	for i := range people {
		work <- i
	}
	close(work)
	done := make(chan error, connections)
	for range connections {
		go func() {
			for i := range work {
				began := time.Now()
				if err := pickAt(t.Context(), server.URL, fmt.Sprint("u", i), ids[1]); err != nil {
					done <- err
					return
				}
				took <- time.Since(began)
			}
			done <- nil
		}()
	}
	for range connections {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	close(took)
	var worst time.Duration
	for d := range took {
		worst = max(worst, d)
	}
	r.now = start
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	var n int
	if err := r.service.Store.View(t.Context(), func(tx *store.Tx) error {
		card, err := r.service.Event(tx, event, "sam")
		n = len(card.Predictions)
		return err
	}); err != nil || n != people {
		t.Errorf("%d picks, %v", n, err)
	}
	t.Logf("%d picks at %d connections, the slowest in %v", people, connections, worst)
}

func pickAt(ctx context.Context, base, user, match string) error {
	body := strings.NewReader(fmt.Sprintf(`{"predictions":{%q:1}}`, match))
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, base+"/pickem/app/events/"+event+"/predictions", body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+user)
	resp, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", user, resp.Status)
	}
	return nil
}
