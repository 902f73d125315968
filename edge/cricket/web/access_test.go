package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every route is requested by every kind of caller. New routes are included without a change here.
func TestEveryRoute(t *testing.T) {
	for _, mount := range []string{"/cricket", "/"} {
		cfg, _, _ := config(t)
		cfg.Auth, cfg.App.Mount = web.Verifier(t), mount
		s := newServer(t, cfg)
		all := web.NewCallers(t)
		levels := map[httpapi.Access]string{httpapi.Public: "public", httpapi.Optional: "public", httpapi.User: "user", httpapi.Admin: "admin", httpapi.NodeAdmin: "admin"}
		base := strings.TrimSuffix(mount, "/")
		for _, r := range cfg.Apps[0].Routes {
			all.Ask(t, s.Handler(), r.Method, base+web.Filled(r.Path, finalID), levels[r.Access])
		}
		for _, r := range cfg.Apps[0].Pages {
			all.Ask(t, s.Handler(), r.Method, base+"/-"+web.Filled(r.Path, finalID), levels[r.Access])
		}
	}
}

// Routes that change something or show private data are not public.
func TestLevels(t *testing.T) {
	cfg, _, _ := config(t)
	newServer(t, cfg)
	for _, r := range cfg.Apps[0].Routes {
		switch staff := strings.HasPrefix(r.Path, "/admin/") || r.Path == "/hub"; {
		case r.Access < httpapi.Public || r.Access > httpapi.NodeAdmin:
			t.Errorf("%s %s has no level", r.Method, r.Path)
		case staff && r.Access < httpapi.Admin:
			t.Errorf("%s %s is not for admins only", r.Method, r.Path)
		case r.Method != http.MethodGet && r.Access < httpapi.User:
			t.Errorf("%s %s changes something and is public", r.Method, r.Path)
		case (r.Method == http.MethodPatch || r.Method == http.MethodPut || r.Method == http.MethodDelete) &&
			r.Access < httpapi.Admin && !strings.HasPrefix(r.Path, "/user/") && !strings.HasPrefix(r.Path, "/devices/"):
			t.Errorf("%s %s lets users change more than their own data", r.Method, r.Path)
		}
	}
	for _, r := range cfg.Apps[0].Pages {
		if r.Access < httpapi.User {
			t.Errorf("%s shows matches to the public", r.Path)
		}
	}
}

// A user's data is neither shown to nor changed by another, whichever user their requests name.
func TestUsersApart(t *testing.T) {
	cfg, _, _ := config(t)
	cfg.Auth, cfg.Tokens = web.Verifier(t), true
	s := newServer(t, cfg)
	as := func(user string) []string {
		return []string{"Authorization", "Bearer " + web.Token(user), "Content-Type", "application/json"}
	}
	device := `{"deviceToken":"` + strings.Repeat("ab", 32) + `","deviceId":"phone-1","platform":"ios","userId":"u2"}`
	if w := web.Ask(s.Handler(), "POST", "/cricket/user/device?userId=u2", device, as("u1")...); w.Code >= 300 && w.Code != http.StatusBadRequest {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	device = strings.Replace(device, `,"userId":"u2"`, "", 1)
	if w := web.Ask(s.Handler(), "POST", "/cricket/user/device", device, as("u1")...); w.Code >= 300 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	own := web.Ask(s.Handler(), "GET", "/cricket/user/device", "", as("u1")...)
	if !strings.Contains(own.Body.String(), "phone-1") {
		t.Errorf("u1 has %d %s", own.Code, own.Body)
	}
	if w := web.Ask(s.Handler(), "GET", "/cricket/user/device?userId=u1", "", append(as("u2"), "X-User-Id", "u1")...); strings.Contains(w.Body.String(), "phone-1") {
		t.Errorf("u2 sees %s", w.Body)
	}
	web.Ask(s.Handler(), "DELETE", "/cricket/devices/"+strings.Repeat("ab", 32), "", as("u2")...)
	web.Ask(s.Handler(), "DELETE", "/cricket/user/device?deviceToken="+strings.Repeat("ab", 32), "", as("u2")...)
	if w := web.Ask(s.Handler(), "GET", "/cricket/user/device", "", as("u1")...); !strings.Contains(w.Body.String(), "phone-1") {
		t.Errorf("u2 has removed u1's device: %d %s", w.Code, w.Body)
	}
	if w := web.Ask(s.Handler(), "GET", "/cricket/user/device", "", "X-API-Key", web.Key); w.Code != http.StatusForbidden {
		t.Errorf("the API key has a device: %d %s", w.Code, w.Body)
	}
}
