//go:build long

package web

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/httpapi/auth"
	chromium "github.com/touchline/touchline/internal/testrig/browser"
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

// A pick made while the node is away looks picked, with a mark, also when the page is opened again; the pick before it does not. Neither goes
// back when it arrives. A discarded pick leaves the one that the node has.
func TestUnsentPickLooksPicked(t *testing.T) {
	r := newRigFor(t, auth.Identity{Subject: "sam"})
	r.now = time.Now().UTC() // the page counts down by the node's clock
	begins := r.now.Add(48 * time.Hour)
	event := begins.Format(time.DateOnly) + "-gala"
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"sam","name":"Sam"}`)
	r.want(201, "", "admin", "POST", "/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Gala"}`, begins.Format(time.DateOnly), begins.Format(time.RFC3339)))
	r.want(201, "", "admin", "POST", "/admin/events/"+event+"/matches", `{"name":"Main","points":5,"teams":[{"members":["Ann"]},{"members":["Bo"]}]}`)
	url, gone := r.away()
	b := chromium.Open(t)
	if b == nil {
		return
	}
	b.Do(t, chromedp.EmulateViewport(390, 844), chromedp.Navigate(url+"/pickem/-/events/"+event))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null && document.readyState === "complete"`)
	const picked = `[...document.querySelector(".pad").querySelectorAll('[aria-pressed="true"]')].map((k) => k.value + (k.dataset.unsent ? " " + k.dataset.unsent : "")).join()`
	press := func(value string) {
		chromium.Eval[bool](t, b, `document.querySelector('.pad [value="`+value+`"]').click() ?? true`)
	}
	press("0")
	b.WaitFor(t, picked+` === "0" && document.querySelectorAll(".waits").length === 0`)
	gone.Store(true)
	press("1")
	b.WaitFor(t, picked+` === "1 not sent"`)
	b.Do(t, chromedp.Reload())
	b.WaitFor(t, picked+` === "1 not sent"`)
	chromium.Shoot(t, b, "pickem-unsent")
	chromium.Eval[bool](t, b, `(() => {
		globalThis.seen = [];
		new MutationObserver(() => { const now = document.querySelector('.pad [aria-pressed="true"]')?.value; if (now !== seen.at(-1)) seen.push(now); })
			.observe(document.querySelector("main"), { subtree: true, attributes: true, childList: true });
		return true;
	})()`)
	gone.Store(false)
	chromium.Eval[bool](t, b, `dispatchEvent(new Event("online"))`)
	b.WaitFor(t, picked+` === "1" && document.querySelectorAll(".waits").length === 0`)
	gone.Store(true)
	press("0")
	b.WaitFor(t, picked+` === "0 not sent"`)
	if got := chromium.Eval[string](t, b, `seen.join(" ")`); got != "1 0" {
		t.Errorf("picked was %s", got)
	}
	chromium.Eval[bool](t, b, `document.querySelector("[data-discard]").click() ?? true`)
	b.WaitFor(t, picked+` === "1"`)
}

// An admin's refused match opens as the form of the card, filled in, with the node's words at the field.
func TestRefusedMatchOpensAsItsForm(t *testing.T) {
	r := newRigFor(t, auth.Identity{Subject: "boss", Admin: true})
	r.card()
	url, _ := r.away()
	b := chromium.Open(t)
	if b == nil {
		return
	}
	b.Do(t, chromedp.EmulateViewport(390, 844), chromedp.Navigate(url+"/pickem/-/admin/events/"+event))
	b.WaitFor(t, `navigator.serviceWorker.controller !== null && document.readyState === "complete"`)
	const form = `[...document.forms].find((f) => f.getAttribute("action").endsWith("/matches") && f.dataset.queue === "POST")`
	chromium.Eval[bool](t, b, `((form) => {
		const fill = { name: "Cage", points: "-9", "championships[]": "Steel", "teams.0.members[]": "Fay", "teams.1.members[]": "Gil" };
		for (const [name, value] of Object.entries(fill)) form.querySelector("[name='" + name + "']").value = value;
		form.querySelector("[name='teams.1.champion']").checked = true;
		form.requestSubmit(form.querySelector("button"));
		return true;
	})(`+form+`)`)
	b.WaitFor(t, form+`.querySelector('.told [data-state="refused"]') !== null`)
	chromium.Eval[bool](t, b, `[...`+form+`.querySelectorAll(".told button")].find((k) => k.textContent === "Change").click() ?? true`)
	b.WaitFor(t, form+`.querySelector('[name="points"][aria-invalid]').closest(".field").querySelector(".field__problem") !== null`)
	chromium.Shoot(t, b, "pickem-correct")
	const filled = `["name", "points", "championships[]", "teams.0.members[]", "teams.1.members[]"].map((n) => ` + form + `.querySelector("[name='" + n + "']").value).join() + ` + form + `.querySelector("[name='teams.1.champion']").checked`
	if got := chromium.Eval[string](t, b, filled); got != "Cage,-9,Steel,Fay,Giltrue" {
		t.Errorf("the form has %s", got)
	}
	chromium.Eval[bool](t, b, `((form) => { form.querySelector("[name=points]").value = "9"; form.requestSubmit(form.querySelector("[type=submit]")); return true; })(`+form+`)`)
	b.WaitFor(t, `document.querySelectorAll(".waits").length === 0 && document.body.textContent.includes("Gil (champion)")`)
}
