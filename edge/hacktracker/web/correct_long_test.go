//go:build long

package web

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
	"github.com/touchline/touchline/internal/testrig/web"
)

// A refused player opens as its form, with the node's words at the number. A play of somebody whose role was taken away is kept, with what
// helps. A lineup says whether it was saved.
func TestRefusedEntriesOpenAsTheirForms(t *testing.T) {
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{Silent: auth.Identity{Subject: "owner"}}})
	r.now = time.Now().UTC()
	team, players := r.team("owner", "scorekeeper")
	r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Ann","playerNumber":77}`)
	game := r.game("owner", team, players...)
	url, gone := r.away()
	b := chromium.Open(t)
	if b == nil {
		return
	}
	b.Do(t, chromedp.EmulateViewport(390, 844), chromedp.Navigate(url+"/hacktracker/-/teams/"+team+"/roster"))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null && document.readyState === "complete"`)
	run := func(script string) { chromium.Eval[bool](t, b, "("+script+", true)") }
	gone.Store(true)
	run(`document.getElementById("first").value = "Bo", document.getElementById("number").value = "77", document.getElementById("first").form.requestSubmit()`)
	b.WaitFor(t, `document.querySelector('.told [data-state="queued"]').textContent.includes("Add the player: Bo. Not sent yet.")`)
	gone.Store(false)
	run(`dispatchEvent(new Event("online"))`)
	b.WaitFor(t, `document.querySelector('.told [data-state="refused"]').textContent.includes("Player number 77 is already taken")`)
	run(`document.querySelector(".told button").click()`)
	b.WaitFor(t, `document.querySelector("#number[aria-invalid]").closest(".field").textContent.includes("Player number 77 is already taken") && document.getElementById("first").value === "Bo"`)
	chromium.Shoot(t, b, "hacktracker-correct")
	run(`document.getElementById("number").value = "78", document.getElementById("number").form.requestSubmit()`)
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0 && document.querySelector(".tiles__list").textContent.includes("78 Bo")`)

	b.Do(t, chromedp.Navigate(url+"/hacktracker/-/games/"+game+"/lineup"))
	b.WaitFor(t, `document.querySelector("#bench li button") !== null`)
	gone.Store(true)
	run(`document.querySelector("#bench li button").click(), document.querySelector("[data-save]").click()`)
	b.WaitFor(t, `document.getElementById("said").textContent.startsWith("The lineup is not sent yet.")`)
	b.Do(t, chromedp.Reload())
	b.WaitFor(t, `document.getElementById("said").textContent.startsWith("The lineup is not sent yet.") && document.querySelectorAll("#order li").length === 2`)
	gone.Store(false)
	run(`dispatchEvent(new Event("online"))`)
	b.WaitFor(t, `document.getElementById("said").textContent === "Lineup saved."`)
}
