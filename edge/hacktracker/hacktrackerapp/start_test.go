package hacktrackerapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Two nodes that are cut off start different games: the second one to reach the cloud is played on if it has plate appearances, whatever
// became of it meanwhile, and is as it was if it has none. It says so, and nobody is asked.
func TestTwoStarts(t *testing.T) {
	const on, over = `{"status":"IN_PROGRESS"}`, `{"status":"FINAL"}`
	for name, tt := range map[string]struct {
		made    bool   // it is made as it starts
		acts    string // at it, one behind the other
		status  string // in the end; empty: it is gone
		atBats  int
		refused bool
	}{
		"runs and a place":        {false, "run place run", "SCHEDULED", 0, true},
		"at-bats, and what is":    {false, "score run place score correct undo", "IN_PROGRESS", 1, true},
		"a whole game":            {false, "score score run final", "FINAL", 2, false},
		"a game that goes on":     {false, "score final start score", "IN_PROGRESS", 2, true},
		"deleted":                 {false, "score delete", "", 0, false},
		"made, runs and a place":  {true, "run place", "SCHEDULED", 0, true},
		"made, with at-bats":      {true, "score score correct", "IN_PROGRESS", 2, true},
		"made, a game that is on": {true, "final start score", "IN_PROGRESS", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newApart(t)
				path := func(i int) string { return "/hacktracker" + "/games/" + w.games[i] }
				w.Want("a", "ana", "PATCH", path(0), over)
				w.Settle()
				w.Cut()
				w.Want("a", "ana", "PATCH", path(1), on)
				if tt.made {
					w.games[2] = w.makes("b", "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":%s}`, w.team, w.lineup(0)), "gameId", "k")
				} else {
					w.Want("b", "ana", "PATCH", path(2), fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":%s}`, w.lineup(1)))
				}
				lineup := w.Rows("b", prod)["GAME#"+w.games[2]+" METADATA"]["lineup"]
				var id string
				runs := 0
				for i, act := range strings.Fields(tt.acts) {
					w.Pass(time.Second)
					switch act {
					case "score":
						id = w.makes("b", "/games/"+w.games[2]+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, w.players[0]), "atBatId", "")
					case "correct":
						w.Want("b", "ana", "PUT", path(2)+"/atbats/"+id, `{"result":"HR"}`)
					case "undo":
						w.Want("b", "ana", "DELETE", path(2)+"/atbats/"+id, "")
					case "run":
						runs++
						w.makes("b", "/games/"+w.games[2]+"/runs", `{"teamScore":1}`, "gameId", fmt.Sprintf("01JT6XQ0Z8M1C3V5N7B9D1F3H%d", i))
					case "place":
						w.Want("b", "ana", "PATCH", path(2), `{"location":"Pier Field"}`)
					case "final", "start":
						w.Want("b", "ana", "PATCH", path(2), map[string]string{"final": over, "start": on}[act])
					case "delete":
						w.Want("b", "ana", "DELETE", path(2), "")
					}
				}
				w.Heal("a")
				w.Pass(time.Minute)
				cloud := w.Joined()
				g, atBats := cloud["GAME#"+w.games[2]+" METADATA"], 0
				for k := range cloud {
					if strings.HasPrefix(k, "GAME#"+w.games[2]+" ATBAT#") {
						atBats++
					}
				}
				if g["status"].Str() != tt.status || atBats != tt.atBats || (g["startRefused"].Str() == w.games[1]) != tt.refused {
					w.Bad("%d at-bats of %v", atBats, g)
				}
				if n, _ := g["teamScore"].Int(); g != nil && (int(n) != runs || !g["lineup"].Equal(lineup) || strings.Contains(tt.acts, "place") != (g["location"].Str() != "")) {
					w.Bad("%d runs: %v", runs, g)
				}
				if live := cloud["TEAM#"+w.team+" LIVE#GAME"]["gameId"].Str(); live != w.games[1] {
					w.Bad("the marker is that of %s", live)
				}
				for _, c := range w.Asked() {
					w.Bad("asked: %s", &c)
				}
				if wrong := w.Told(w.games[2], "G", w.games[1], "O", w.team, "T"); wrong != "" {
					t.Error(wrong)
				}
			})
		})
	}
}
