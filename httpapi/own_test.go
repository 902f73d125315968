package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/testrig/wait"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/storetest"
)

var followed = regexp.MustCompile(`data-stream="([^"]*)"`)

// An application with its own sign-in accepts no other, redirects to its own page, and has open streams if it says so.
func TestOwnSignInAndOpenPages(t *testing.T) {
	cfg, f := config(t)
	cfg.Auth = web.ByName{}
	app := f.app(t, "/own")
	app.SignIn = SignIn{Page: "/enter", Own: func(c *gin.Context) (string, error) {
		who, _ := c.Cookie("who")
		return who, nil
	}}
	app.Pages = append(app.Pages, Route{Method: "GET", Path: "/all/:id", Access: Optional, Do: func(c *gin.Context) error { return PageAs(c, c.Param("id"), "count") }})
	app.Open = true
	cfg.Apps = []App{app}
	s := newServer(t, cfg)
	html := []string{"Accept", "text/html"}
	w := web.Ask(s.Handler(), "GET", "/own/-/counts/c1", "", append(html, "Authorization", "Bearer sam")...)
	if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || at != "/own/-/enter?to=%2Fown%2F-%2Fcounts%2Fc1" {
		t.Errorf("one of the node's people: %d %s", w.Code, at)
	}
	w = web.Ask(s.Handler(), "GET", "/own/-/counts/c1", "", append(html, "Cookie", "who=ann")...)
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `<a href="/own/-/enter">Sign out</a>`) {
		t.Errorf("one of its own: %d %s", w.Code, body)
	}
	w = web.Ask(s.Handler(), "GET", "/own/-/all/c1", "", html...)
	at := followed.FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || at == nil || !strings.HasPrefix(at[1], "/own/-/stream?") {
		t.Fatalf("anybody: %d %s", w.Code, w.Body)
	}
	base, _ := web.Run(t, s)
	stream := web.Open(t, base+strings.ReplaceAll(at[1], "&amp;", "&"), map[string]string{"Last-Event-ID": "1"})
	stream.Until(web.Named("parts"))
	if s, err := web.Try(t, base+"/_/stream?app=counter&page=c1", nil); err != nil || s.Resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the node's stream: %v %v", s.Resp, err)
	}
}

// Pages and their parts have a version, which grows with each commit, and with each life of the node.
func TestVersionsOfPages(t *testing.T) {
	st := storetest.Open(t)
	cfg, _ := newTaps(t, st, "one")
	s := newServer(t, cfg)
	tap := func() {
		web.Ask(s.Handler(), "POST", "/counter/taps", `{"by":1}`, "Content-Type", "application/json", "Idempotency-Key", fmt.Sprint(st.Seq()))
	}
	open := func() (version, stream string) {
		t.Helper()
		w := web.Ask(s.Handler(), "GET", "/counter/-/", "", "Accept", "text/html")
		version = w.Header().Get(headerVersion)
		if want := fmt.Sprintf(` data-node="%s" data-version="%s"`, st.Node(), version); w.Header().Get(headerNode) != st.Node() || !strings.Contains(w.Body.String(), want) {
			t.Fatalf("%v, and not %s in %.300s", w.Header(), want, w.Body)
		}
		return version, followed.FindStringSubmatch(w.Body.String())[1]
	}
	next := func(last string) (version, stream string) {
		tap()
		wait.Until(t, "a version after "+last, func() bool { // a view is used for a moment
			version, stream = open()
			return version != last
		})
		return version, stream
	}
	first, _ := open()
	tapped, _ := next(first)
	if _, err := st.BeginIncarnation(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	again, at := next(tapped)
	var versions [3][2]uint64
	for i, text := range []string{first, tapped, again} {
		if _, err := fmt.Sscanf(text, "%d.%d", &versions[i][0], &versions[i][1]); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	before, after := versions[0], versions[1]
	if after[0] != before[0] || after[1] <= before[1] || versions[2][0] != st.Incarnation() || versions[2][0] <= after[0] {
		t.Errorf("before and after a tap, and in the next incarnation: %v", versions)
	}
	base, _ := web.Run(t, s)
	said := web.Open(t, base+strings.ReplaceAll(at, "&amp;", "&"), map[string]string{"Last-Event-ID": "1"}).Until(web.Named("parts"))
	var parts pageParts
	if err := json.Unmarshal([]byte(said[len(said)-1].Data), &parts); err != nil {
		t.Fatal(err)
	}
	if parts.Node != st.Node() || parts.Version != again {
		t.Errorf("parts of %s, version %s, want %s", parts.Node, parts.Version, again)
	}
}
