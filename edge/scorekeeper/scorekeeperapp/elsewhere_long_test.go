//go:build long

package scorekeeperapp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
)

// does sends a request that has to work.
func (f *fleet) does(at, user, method, path, body string) string {
	f.t.Helper()
	status, answer := f.ask(at, user, method, path, body)
	if status >= http.StatusBadRequest {
		f.t.Fatalf("%s at %s: %s %s %s: %d %s", user, at, method, path, body, status, answer)
	}
	return answer
}

// sees waits until a node answers with something.
func (f *fleet) sees(at, user, path, part string) {
	f.t.Helper()
	f.until(at+" answers "+path+" with "+part, func() bool {
		_, answer := f.ask(at, user, "GET", path, "")
		return strings.Contains(answer, part)
	})
}

// quiet fails if a person would be asked of anything.
func (f *fleet) quiet() {
	f.t.Helper()
	for at := range f.base {
		if answer := f.does(at, "boss", "GET", "/_/api/conflicts?state=open", ""); !strings.Contains(answer, `"items":[]`) {
			f.t.Errorf("open at %s: %s", at, answer)
		}
	}
}

func (f *fleet) cut() {
	f.links["a"].SetMode(simcloud.NoDNS)
	f.links["b"].SetMode(simcloud.NoDNS)
}

func (f *fleet) heal() {
	f.links["a"].Heal()
	f.links["b"].Heal()
}

// Two admins at two nodes that are cut off take the same third one out: the team counts two admins, and nobody is asked.
func TestAdminTakenOutAtTwoNodes(t *testing.T) {
	f := newFleet(t)
	var team struct {
		ID string `json:"team_id"`
	}
	if err := json.Unmarshal([]byte(f.does("a", "u1", "POST", "/team", `{"team_name":"Wizards"}`)), &team); err != nil {
		t.Fatal(err)
	}
	of := func(user string) string {
		return fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":"admin"}`, team.ID, user)
	}
	f.does("a", "u1", "PUT", "/team/teammate", of("u2"))
	f.does("a", "u1", "PUT", "/team/teammate", of("u3"))
	f.sees("b", "u3", "/team?team_id="+team.ID, `"user_id":"u3"`)

	f.cut()
	f.does("a", "u1", "DELETE", "/team/teammate", of("u2"))
	f.does("b", "u3", "DELETE", "/team/teammate", of("u2"))
	f.heal()
	admins := func() string {
		return f.cloud.Item("scorekeeper-prod", attr.Item{"pk": attr.S("TEAM#" + team.ID), "sk": attr.S("METADATA")})["admins"].Text()
	}
	f.until("the cloud counts two admins", func() bool { return admins() == "2" })
	f.sees("a", "u1", "/team?team_id="+team.ID, `"user_id":"u3"`)
	f.until("the writes of both are settled", func() bool {
		for _, at := range []string{"a", "b"} {
			if status, _ := f.ask(at, "u1", "PUT", "/profile", `{"displayName":"Ann"}`, "Prefer", "wait=20"); status != http.StatusOK {
				return false
			}
		}
		return true
	})
	if n := admins(); n != "2" {
		t.Errorf("the cloud counts %s admins", n)
	}
	f.quiet()
	f.does("a", "u1", "DELETE", "/team/teammate", of("u1"))
	if status, answer := f.ask("a", "u3", "DELETE", "/team/teammate", of("u3")); status != http.StatusForbidden && status != http.StatusConflict {
		t.Errorf("the last admin leaves: %d %s", status, answer)
	}
}
