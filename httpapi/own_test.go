package httpapi

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/testrig/web"
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
