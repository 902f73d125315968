package edge

import (
	"slices"
	"testing"
)

// What the node itself answers cannot be the application's.
func TestMount(t *testing.T) {
	for mount, good := range map[string]bool{
		"/cricket": true, "/": true, "/api/v1": true, "/hubs": true, "/api/hub": true,
		"": false, "cricket": false, "/cricket/": false, "/a b": false, "/:id": false, "/_": false, "/_/x": false, "/hub": false, "/hub/x": false,
		"/replay": false, "/matches": false, "/matches/x": false, "/metrics": false, "/livez": false, "/readyz": false, "/statusz": false,
		"/signin": false, "/signout": false,
	} {
		c := defaultCricket()
		c.Mount = mount
		if got := !slices.ContainsFunc(c.problems(), func(p Problem) bool { return p.Key == "cricket.mount" }); got != good {
			t.Errorf("%q: %t", mount, got)
		}
	}
}

func TestAppConfig(t *testing.T) {
	for _, tt := range []struct {
		app AppConfig
		bad string
	}{
		{AppConfig{}, ""},
		{AppConfig{MinVersion: "2.14.0", StoreURL: "https://apps.apple.com/app/id123456789", Maintenance: true}, ""},
		{AppConfig{MinVersion: "2"}, ""},
		{AppConfig{MinVersion: "v2"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "2..1"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "1.2.3.4.5"}, "cricket.app.min_version"},
		{AppConfig{MinVersion: "latest"}, "cricket.app.min_version"},
		{AppConfig{StoreURL: "http://apps.example/x"}, "cricket.app.store_url"},
		{AppConfig{StoreURL: "itms-apps://x"}, "cricket.app.store_url"},
	} {
		c := defaultCricket()
		c.App = tt.app
		problems := c.problems()
		if len(problems) > 1 || (len(problems) == 1) != (tt.bad != "") || len(problems) == 1 && problems[0].Key != tt.bad {
			t.Errorf("%+v: %v, want %q", tt.app, problems, tt.bad)
		}
	}
}
