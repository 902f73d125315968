package app

import "testing"

// An application cannot be mounted on the node's own paths.
func TestMount(t *testing.T) {
	for mount, good := range map[string]bool{
		"/cricket": true, "/": true, "/api/v1": true, "/hubs": true, "/api/hub": true,
		"": false, "cricket": false, "/cricket/": false, "/a b": false, "/:id": false, "/_": false, "/_/x": false, "/hub": false, "/hub/x": false, "/docs": false,
		"/replay": false, "/matches": false, "/matches/x": false, "/metrics": false, "/livez": false, "/readyz": false, "/statusz": false,
		"/signin": false, "/signout": false,
		"/..": false, "/a/../hub": false, "/./a": false, "//a": false, "/a//b": false, `/a\\b`: false, "/é": false,
	} {
		if got := MountProblem("cricket", mount) == ""; got != good {
			t.Errorf("%q: %t", mount, got)
		}
	}
}
