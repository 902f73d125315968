package threefcapp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node that is cut off counts nothing of what it has not read whole, and the Status page says what counting waits for. It goes on when the
// cloud is back.
func TestCountingWaitsForTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(true)
		page := func() string { return f.Want("b", nodes.Boss, "GET", "/_/hub", "") }
		f.Until("nothing waits", func() bool { return !strings.Contains(page(), "Counting waits") })
		f.Cut("b")
		f.Pass(2 * time.Minute)
		f.want("a", "POST", "/v1/games/g/goals", goal("yellow", "red"))
		f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"))
		f.Pass(2 * time.Minute)
		if shown := page(); !strings.Contains(shown, "Counting waits for the goals of games, and the teams of seasons") {
			t.Errorf("the Status page does not say that counting waits: %s", shown)
		}
		f.Heal("b")
		f.Until("both goals are counted", func() bool {
			return strings.Contains(f.row("GAME#g", "TEAM#red")["data"].Str(), `"scored":1,"conceded":1`)
		})
		f.Until("nothing waits any more", func() bool { return !strings.Contains(page(), "Counting waits") })
		f.Quiet()
	})
}
