package web

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Each role calls each route, and the resulting table of statuses equals a golden file, so that every change of it shows. Each request is
// one that the owner may make. After a successful change the rows are created anew.
func TestRolesByRoutes(t *testing.T) {
	people := []string{"owner", "manager", "scorekeeper", "player", "gone", "stranger", "admin", "-"}
	routes := []struct{ method, path, body string }{
		{"GET", "/users/{owner}", ""}, {"GET", "/users?cognitoSub={owner}", ""}, {"GET", "/users", ""}, {"PUT", "/users/{owner}", `{"firstName":"Ana"}`},
		{"GET", "/users/context", ""}, {"GET", "/users/{owner}/players", ""}, {"DELETE", "/users/{owner}", ""},
		{"POST", "/teams", `{"name":"Mine","teamType":"MANAGED"}`}, {"GET", "/teams", ""}, {"GET", "/teams/{team}", ""}, {"PUT", "/teams/{team}", `{"name":"Good News"}`},
		{"PUT", "/teams/{team}/members/{player}", `{"role":"manager"}`}, {"POST", "/teams/{team}/accept", ""}, {"POST", "/teams/{team}/leave", ""}, {"GET", "/teams/{team}/games", ""}, {"GET", "/teams/{team}/stats", ""}, {"GET", "/teams/{team}/stats.csv", ""},
		{"POST", "/teams/{team}/players", `{"firstName":"New"}`}, {"GET", "/teams/{team}/players?includeRoles=true", ""}, {"GET", "/teams/{team}/players/{p3}", ""},
		{"PUT", "/teams/{team}/players/{p3}", `{"lastName":"Li"}`}, {"PUT", "/teams/{team}/players/{p3}", `{"status":"sub"}`}, {"POST", "/teams/{team}/players/{p3}/unlink", ""},
		{"POST", "/teams/{team}/players/{ghost}/link", `{"userId":"stranger"}`}, {"DELETE", "/teams/{team}/players/{ghost}", ""},
		{"GET", "/players/{p3}/stats", ""}, {"GET", "/players/{p3}/stats?teamId={team}", ""},
		{"POST", "/games", `{"teamId":"{team}"}`}, {"GET", "/games", ""}, {"GET", "/games/{game}", ""}, {"PATCH", "/games/{game}", `{"teamScore":3}`}, {"PUT", "/games/{game}", `{"teamScore":3}`},
		{"POST", "/games/{game}/runs", `{"teamScore":1}`},
		{"GET", "/games/{game}/state", ""}, {"GET", "/games/{game}/boxscore", ""}, {"POST", "/games/{game}/atbats", atBat("{p3}", "1B", 1, 0, 1)}, {"GET", "/games/{game}/atbats", ""},
		{"GET", "/games/{game}/atbats/{atbat}", ""}, {"PUT", "/games/{game}/atbats/{atbat}", `{"result":"2B"}`}, {"DELETE", "/games/{game}/atbats/{atbat}", ""},
		{"DELETE", "/games/{game}", ""}, {"DELETE", "/teams/{team}", ""}, {"POST", "/teams/{team}/recover", `{"recoveryToken":"{token}"}`},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-55s", "status of the answer")
	for _, who := range people {
		fmt.Fprintf(&b, "%12s", who)
	}
	r := newRig(t)
	var fill *strings.Replacer
	for _, rt := range routes {
		fmt.Fprintf(&b, "\n%-46s", rt.method+" "+rt.path)
		if strings.Contains(rt.body, "status") {
			b.WriteString(" (status)")
		} else {
			b.WriteString("         ")
		}
		if rt.method != "GET" {
			fill = nil
		}
		for _, who := range people {
			if fill == nil {
				fill = cast(r, strings.HasSuffix(rt.path, "/recover"))
			}
			var headers []string
			if strings.HasSuffix(rt.path, "/runs") {
				headers = []string{"Idempotency-Key", "01JT6XQ0Z8M1C3V5N7B9D1F3H5"}
			}
			w := r.ask(who, rt.method, fill.Replace(rt.path), fill.Replace(rt.body), headers...)
			fmt.Fprintf(&b, "%12d", w.Code)
			if rt.method != "GET" && w.Code < 400 {
				fill = nil
			}
		}
	}
	golden(t, "testdata/roles.golden", b.String()+"\n")
}

// golden compares got with a golden file, or writes the file if the flag -update is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// cast creates a team with a user in each role and a game in progress. With deleted, the team is then deleted, to be recovered.
func cast(r *rig, deleted bool) *strings.Replacer {
	team, players := r.team("owner", "manager", "scorekeeper", "gone", "player")
	r.want(200, `"inactive"`, "owner", "PUT", "/teams/"+team+"/members/gone", `{"status":"inactive"}`)
	r.want(200, "", "stranger", "GET", "/users/context", "")
	ghost := id(r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Ghost"}`), "playerId")
	game := r.game("owner", team, players...)
	scored := id(r.want(201, "", "owner", "POST", "/games/"+game+"/atbats", atBat(players[3], "HR", 1, 0, 4)), "atBatId")
	token := ""
	if deleted {
		token = r.ask("owner", "DELETE", "/teams/"+team, "").Header().Get("X-Recovery-Token")
	}
	return strings.NewReplacer("{team}", team, "{p3}", players[3], "{ghost}", ghost, "{game}", game, "{atbat}", scored, "{owner}", "owner", "{player}", "player", "{token}", token)
}
