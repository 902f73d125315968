package httpapi

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

// handIns is a node of the taps, whose taps are handed in as files.
type handIns struct {
	t      *testing.T
	f      *taps
	s      *Server
	device string
	hash   string
}

func newHandIns(t *testing.T, change func(*App)) *handIns {
	t.Helper()
	cfg, f := newTaps(t, storetest.Open(t, handover.Tables()...), "v1")
	a := &cfg.Apps[0]
	for i := range a.Routes {
		switch r := &a.Routes[i]; {
		case r.Path == "/taps":
			r.Say = func(r *Request) (string, error) { return fmt.Sprintf("A tap of %d", r.Body().Whole("by", 9, 1)), nil }
		case r.Method == "POST" && r.Path == "/guesses":
			r.NotHandedIn = "Guesses count as they arrive."
		}
	}
	if change != nil {
		change(a)
	}
	h := &handIns{t: t, f: f, s: newServer(t, cfg), device: handover.NewDevice()}
	h.hash, _ = handover.DeviceHash(h.device)
	return h
}

func (h *handIns) tap(key string, by int, change ...func(e *handover.Entry)) handover.Entry {
	e := handover.Entry{Key: key, Device: h.hash, Method: "POST", Path: "/counter/taps", Body: fmt.Sprintf(`{"by":%d}`, by), At: time.Now().Add(-time.Hour).UnixMilli()}
	for _, do := range change {
		do(&e)
	}
	return e
}

func (h *handIns) file(all ...handover.Entry) string {
	h.t.Helper()
	raw, err := (&handover.File{Scope: "/counter/-/", Entries: all}).Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	return string(raw)
}

// post sends a form with a text or a file from the node's own page or, with an Origin, from another site's.
func (h *handIns) post(field, text string, file bool, headers ...string) *httptest.ResponseRecorder {
	h.t.Helper()
	body, kind := web.Form(h.t, field, text, file)
	headers = append(headers, "Content-Type", kind)
	if !slices.Contains(headers, "Origin") {
		headers = append(headers, "Sec-Fetch-Site", "same-origin")
	}
	return web.Ask(h.s.Handler(), "POST", "/counter/-/handover", body, headers...)
}

var (
	handInRow  = regexp.MustCompile(`(?s)<li class="member" data-state="(\w+)"><b>(.*?)</b>.*?<span>(.*?)</span></li>`)
	handInFile = regexp.MustCompile(`(?s)<textarea name="entries" hidden>(.*?)</textarea>`)
)

// look has the node show a file: its rows as "state: words; why", and the file to confirm.
func (h *handIns) look(file string) (rows []string, confirm string) {
	h.t.Helper()
	w := h.post("file", file, true)
	if w.Code != 200 {
		h.t.Errorf("%d %s", w.Code, w.Body)
	}
	if m := handInFile.FindStringSubmatch(w.Body.String()); m != nil {
		confirm = html.UnescapeString(m[1])
	}
	return rowsOf(w.Body.String()), confirm
}

func rowsOf(body string) (rows []string) {
	for _, m := range handInRow.FindAllStringSubmatch(body, -1) {
		rows = append(rows, strings.Trim(m[1]+": "+m[2]+"; "+m[3], "; "))
	}
	return rows
}

// confirm has the node carry out what it has shown.
func (h *handIns) confirm(file string) []string {
	h.t.Helper()
	w := h.post("entries", file, false)
	if w.Code != 200 {
		h.t.Errorf("%d %s", w.Code, w.Body)
	}
	return rowsOf(w.Body.String())
}

// counted returns the taps that count, in their order.
func (h *handIns) counted() (all []string) {
	h.t.Helper()
	taps, err := h.f.all(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, one := range taps {
		all = append(all, one.By)
	}
	return all
}

func (h *handIns) want(what string, got []string, want ...string) {
	h.t.Helper()
	if !slices.Equal(got, want) {
		h.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// A file is shown before anything is recorded. Confirmed, its entries are carried out in their order, as the device's own: whoever comes second,
// file or device, is told that they count already.
func TestHandIn(t *testing.T) {
	h := newHandIns(t, nil)
	send := func(key string, by int) {
		t.Helper()
		w := web.Ask(h.s.Handler(), "POST", "/counter/taps", fmt.Sprintf(`{"by":%d}`, by), "Idempotency-Key", key, "Cookie", deviceCookie+"="+h.device, "Sec-Fetch-Site", "same-origin")
		if w.Code != 201 {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
	send("k1", 1)
	file := h.file(h.tap("k1", 1), h.tap("k2", 2), h.tap("k3", 9), h.tap("k4", 3))
	rows, confirm := h.look(file)
	h.want("shown", rows, "ready: A tap of 1", "ready: A tap of 2", "ready: A tap of 9", "ready: A tap of 3")
	h.want("not confirmed", h.counted(), "1")
	refused := "refused: A tap of 9; refused: Nobody taps nine times at once."
	h.want("confirmed", h.confirm(confirm), "already: A tap of 1; counted already", "counted: A tap of 2; counted", refused, "counted: A tap of 3; counted")
	h.want("confirmed", h.counted(), "1", "2", "3")
	h.want("handed in twice", h.confirm(confirm), "already: A tap of 1; counted already", "already: A tap of 2; counted already", refused, "already: A tap of 3; counted already")
	send("k2", 2)
	send("k4", 3)
	h.want("the device came back", h.counted(), "1", "2", "3")
	taps, err := h.f.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339Nano, taps[1].At)
	if age := time.Since(at); err != nil || age < time.Hour-time.Second || age > time.Hour+time.Minute {
		t.Errorf("recorded as made %v ago: %v", age, err)
	}
}

// Only entries of the application's own routes are carried out, each for itself. Nothing of a file is shown.
func TestHandInRefusesOtherRequests(t *testing.T) {
	h := newHandIns(t, nil)
	at := func(method, path string) handover.Entry {
		return h.tap(fmt.Sprintf("k%x", method+path), 1, func(e *handover.Entry) { e.Method, e.Path = method, path })
	}
	body := func(text string) handover.Entry {
		return h.tap(fmt.Sprintf("b%x", text), 1, func(e *handover.Entry) { e.Body = text })
	}
	const other, lost = "refused: This cannot be handed in: only the device that made it can send it.", "refused: There is nothing at this address."
	all := []struct {
		e    handover.Entry
		want string
	}{
		{at("POST", "/counter/counts/c1"), other}, {at("DELETE", "/counter/counts/c1"), other}, {at("DELETE", "/counter/admin/things/x"), other},
		{at("POST", "/counter/guesses"), "refused: Guesses count as they arrive."}, {at("POST", "/counter/-/handover"), other}, {at("POST", "/counter/nowhere"), lost},
		{at("PUT", "/counter/taps"), "refused: This address accepts only POST."},
		{at("POST", "/_/people/code"), other}, {at("POST", "/signin"), other}, {at("POST", "/counter/../_/people/code"), other}, {at("POST", "/counter/%2e%2e/signin"), other},
		{at("POST", "/counter/taps%2f"), other}, {at("POST", "/counter//taps"), other}, {at("POST", "//evil.example/counter/taps"), other},
		{at("POST", "https://evil.example/counter/taps"), other}, {at("POST", "/counter/taps?x=1"), other}, {at("POST", "/counter/<script>"), other},
		{body(`{"by":1e999}`), "refused: The request is not valid. body is not JSON."}, {body(`{"by":1e18}`), "refused: The request is not valid. by must be a number from 0 to 9."},
		{body(`{"<script>":1}`), "refused: The request is not valid. A field is not known here, or wrong."},
		{body(`{"by":1,"by":2}`), "refused: The request is not valid. by is given twice."}, {body(`<script>`), "refused: The request is not valid. body is not JSON."},
	}
	var entries []handover.Entry
	var want []string
	for _, one := range append(all, all[0]) {
		entries = append(entries, one.e)
		want = append(want, "refused: An entry; "+one.want)
	}
	entries[len(entries)-1] = h.tap("good", 3)
	want[len(want)-1] = "ready: A tap of 3"
	rows, confirm := h.look(h.file(entries...))
	h.want("shown", rows, want...)
	want[len(want)-1] = "counted: A tap of 3; counted"
	h.want("confirmed", h.confirm(confirm), want...)
	h.want("counted", h.counted(), "3")
	if w := h.post("file", h.file(entries[:len(all)]...), true); strings.Contains(w.Body.String(), "<textarea") || strings.Contains(w.Body.String(), "<script>") || strings.Contains(w.Body.String(), "&lt;script") {
		t.Errorf("%s", w.Body)
	}
}

// Other content with a key that was used is refused.
func TestHandInOfAnotherTap(t *testing.T) {
	h := newHandIns(t, nil)
	h.want("a tap", h.confirm(h.file(h.tap("k1", 1))), "counted: A tap of 1; counted")
	h.want("another tap", h.confirm(h.file(h.tap("k1", 2))), "refused: A tap of 2; refused: This Idempotency-Key was used for another request.")
	h.want("counted", h.counted(), "1")
}

// Files that cannot be read, and requests that our own page did not cause, have no effect.
func TestHandInRefusesFiles(t *testing.T) {
	h := newHandIns(t, nil)
	good := h.file(h.tap("k1", 1))
	many := make([]json.RawMessage, 10_000)
	for i := range many {
		many[i] = json.RawMessage("{}")
	}
	list, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, field, text string
		file              bool
		status            int
		has               string
		headers           []string
	}{
		{name: "no file", field: "file", file: true, status: 400, has: "Choose a file first."},
		{name: "another field", field: "other", text: good, status: 400, has: "Choose a file first."},
		{name: "no entries", field: "file", text: "{}", file: true, status: 400, has: "It is not a file of entries."},
		{name: "10,000 entries", field: "file", text: `{"format":"touchline-entries","version":1,"scope":"/counter/-/","entries":` + string(list) + "}", file: true, status: 413, has: "10000 entries, 500 at most"},
		{name: "another application", field: "file", text: strings.Replace(good, "/counter/-/", "/other/-/", 1), file: true, status: 400, has: "of another application"},
		{name: "too large", field: "file", text: strings.Repeat("x", 2<<20), file: true, status: 413, has: "larger than 1 MB"},
		{name: "a little too large", field: "file", text: strings.Repeat("x", handover.MaxFile+1), file: true, status: 413, has: "larger than 1 MB"},
		{name: "another site", field: "entries", text: good, status: 403, headers: []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}},
		{name: "another host of the site", field: "entries", text: good, status: 403, headers: []string{"Sec-Fetch-Site", "same-site", "Origin", "https://other.example.com"}},
		{name: "another origin", field: "entries", text: good, status: 403, headers: []string{"Origin", "https://evil.example"}},
		{name: "nobody", field: "entries", text: good, status: 401, headers: []string{"Authorization", "Bearer bad"}},
	} {
		w := h.post(tt.field, tt.text, tt.file, tt.headers...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.has) {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
	}
	h.want("counted", h.counted())
	if w := web.Ask(h.s.Handler(), "POST", "/counter/-/handover", good, "Content-Type", "application/json"); w.Code != 400 {
		t.Errorf("no form: %d %s", w.Code, w.Body)
	}
}

// What the node cannot do now is neither counted nor refused: the page offers to hand the same file in again.
func TestHandInLater(t *testing.T) {
	away := true
	h := newHandIns(t, func(a *App) {
		for i := range a.Routes {
			if r := &a.Routes[i]; r.Path == "/taps" {
				do := r.Do
				r.Do = func(c *gin.Context) error {
					if away && strings.HasSuffix(c.GetHeader("Idempotency-Key"), "2") {
						return fault.New(fault.Unavailable, "busy", "Not now.")
					}
					return do(c)
				}
			}
		}
	})
	file := h.file(h.tap("k1", 1), h.tap("k2", 2))
	w := h.post("entries", file, false)
	h.want("not now", rowsOf(w.Body.String()), "counted: A tap of 1; counted", "later: A tap of 2; not yet: hand in the file again. Not now.")
	again := handInFile.FindStringSubmatch(w.Body.String())
	if again == nil {
		t.Fatalf("%s", w.Body)
	}
	away = false
	h.want("again", h.confirm(html.UnescapeString(again[1])), "already: A tap of 1; counted already", "counted: A tap of 2; counted")
}

// The answer comes in time: entries that the node has not come to are to be handed in again.
func TestHandInTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandIns(t, func(a *App) {
			for i := range a.Routes {
				if r := &a.Routes[i]; r.Path == "/taps" {
					do := r.Do
					r.Do = func(c *gin.Context) error {
						if err := clock.Sleep(c.Request.Context(), clock.Real(), handInWithin/2); err != nil {
							return err
						}
						return do(c)
					}
				}
			}
		})
		file := h.file(h.tap("k1", 1), h.tap("k2", 2), h.tap("k3", 3))
		h.want("slowly", h.confirm(file), "counted: A tap of 1; counted", "counted: A tap of 2; counted", "later: An entry; not yet: hand in the file again.")
	})
}

// An application that takes no entries has no page for them, and no request from outside counts as one that is handed in.
func TestHandInOnlyWhereThereAreEntries(t *testing.T) {
	h := newHandIns(t, func(a *App) {
		for i := range a.Routes {
			a.Routes[i].Say, a.Routes[i].NotHandedIn = nil, ""
		}
	})
	if w := h.post("file", h.file(h.tap("k1", 1)), true); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	h = newHandIns(t, nil)
	w := web.Ask(h.s.Handler(), "GET", "/counter/-/handover", "", "Accept", "text/html")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `enctype="multipart/form-data"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
