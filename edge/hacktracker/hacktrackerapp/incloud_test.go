package hacktrackerapp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// Pages of a game say whether all of it is in the cloud. Cut off, they say that it is not and why; with a play that the cloud has refused and
// that nobody has decided, they and the Status page name that, until it is decided.
func TestGameSaysWhetherItIsInTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const whole = "All of it is in the cloud."
		f, _, game, players := newTeam(t)
		page := func(at, path string) string {
			return f.Want(at, "ana", "GET", mount+"/-/games/"+game+path, "", "Accept", "text/html")
		}
		listed := func() bool {
			return strings.Contains(f.Want("b", nodes.Boss, "GET", "/_/hub", "", "Accept", "text/html"), "Bad News v Opponent: ")
		}
		has := func(at, text string) func() bool {
			return func() bool { return strings.Contains(page(at, ""), text) && strings.Contains(page(at, "/score"), text) }
		}
		f.Until("all of the new game is in the cloud", func() bool { return has("a", whole)() && has("b", whole)() })
		f.Cut("b")
		f.score("b", game, players[0], "1B", 1)
		if !has("b", "Not all of it is in the cloud: 1 write to go, the oldest from ")() || !listed() {
			t.Errorf("cut off: %s", page("b", ""))
		}
		f.Pass(time.Second)
		f.Want("a", "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)
		f.inCloud("GAME#"+game, "METADATA", "status", "FINAL")
		f.score("b", game, players[1], "2B", 2) // after the finish
		f.Heal("b")
		f.Until("the refused play is named", func() bool {
			return has("b", "Not all of it is in the cloud. The cloud refused a write: ")() && listed()
		})
		f.Until("the other node has all of its own", has("a", whole))
		_, after, _ := strings.Cut(f.Want("b", nodes.Boss, "GET", "/_/api/conflicts?state=open", ""), `"id":`)
		id, _, _ := strings.Cut(after, ",")
		f.Want("b", nodes.Boss, "POST", "/_/api/conflicts/"+id+"/discard", "")
		f.Until("nothing is missing once that is decided", func() bool { return has("b", whole)() && !listed() })
	})
}
