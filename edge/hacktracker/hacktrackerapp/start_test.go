package hacktrackerapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// twoStarts is a team of which one game starts at node a and another one at node b, where it is played, while both are cut off.
type twoStarts struct {
	name    string
	again   string // "a" or "b": the game that was on before is ended at both nodes, and is the one that starts there
	same    bool   // both nodes start a's game
	made    bool   // b's game is made as it starts, not before
	acts    string // what is done to b's game then, one behind the other
	status  string // its status in the end; empty: it is gone
	atBats  int
	ended   bool // a's game, by b's end, which comes late: the marker is that of b's
	refused bool // it names a's game as the one for which its start was refused

	apart
	theirs, ours string     // the games, a's and b's
	order        attr.Value // the lineup that b's started with
	runs         int
}

// Two nodes that are cut off start different games: the second one to reach the cloud is played on if it has plate appearances, whatever
// became of it meanwhile, and is as it was if it has none. It says so, and nobody is asked. What goes on gets the marker in the end. Each case is another team of one world.
func TestTwoStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seldom := func(p *node.Parts) { p.Cloud.Config.Poll.Live = time.Minute } // with so many games on, each look costs
		world := nodes.NewApart(t, nodes.Options{App: New, Parts: seldom}, prod)
		all := []*twoStarts{
			{name: "runs and a place", acts: "run place run", status: "SCHEDULED", refused: true},
			{name: "at-bats, and what is", acts: "score run place score correct undo", status: "IN_PROGRESS", atBats: 1, refused: true},
			{name: "a whole game", acts: "score score run final", status: "FINAL", atBats: 2},
			{name: "a game that goes on", acts: "score final start score", status: "IN_PROGRESS", atBats: 2, refused: true},
			{name: "deleted", acts: "score delete"},
			{name: "made, runs and a place", made: true, acts: "run place", status: "SCHEDULED", refused: true},
			{name: "made, with at-bats", made: true, acts: "score score correct", status: "IN_PROGRESS", atBats: 2, refused: true},
			{name: "made, a game that is on", made: true, acts: "final start score", status: "IN_PROGRESS", atBats: 1, refused: true},
			{name: "behind one that runs again", again: "a", acts: "place", status: "IN_PROGRESS", ended: true},
			{name: "at-bats behind one that runs again", again: "a", acts: "score score", status: "IN_PROGRESS", atBats: 2, ended: true},
			{name: "ended and started again", again: "b", acts: "place", status: "FINAL", refused: true},
			{name: "ended and started again, at-bats", again: "b", acts: "score", status: "IN_PROGRESS", atBats: 1, refused: true},
			{name: "the same game", same: true, acts: "score run", status: "IN_PROGRESS", atBats: 1},
			{name: "the same game again", again: "a", same: true, acts: "score", status: "IN_PROGRESS", atBats: 1},
		}
		var names []string
		for _, w := range all {
			w.Apart = world
			w.newTeam()
			if w.again == "" {
				w.sets("a", w.games[0], "FINAL")
			}
		}
		world.Settle()
		world.Cut()
		for _, w := range all {
			w.begin()
			w.act()
			names = append(names, w.theirs, "a's of "+w.name, w.ours, "b's of "+w.name, w.team, "T of "+w.name)
		}
		world.Heal("a")
		world.Pass(time.Minute)
		cloud := world.Joined()
		for _, w := range all {
			w.check(cloud)
		}
		for _, w := range all {
			w.end()
		}
		world.Settle()
		for _, c := range world.Asked() {
			world.Bad("asked: %s", &c)
		}
		if wrong := world.Told(names...); wrong != "" {
			t.Error(wrong)
		}
	})
}

// sets says at a node that a game has a status.
func (w *twoStarts) sets(at, game, status string) {
	w.T.Helper()
	w.Want(at, "ana", "PATCH", "/hacktracker/games/"+game, fmt.Sprintf(`{"status":%q}`, status))
}

// begin starts the games.
func (w *twoStarts) begin() {
	w.theirs, w.ours = w.games[1], w.games[2]
	if w.again != "" {
		w.sets("a", w.games[0], "FINAL")
		w.sets("b", w.games[0], "FINAL")
	}
	switch w.again {
	case "a":
		w.theirs = w.games[0]
	case "b":
		w.ours = w.games[0]
	}
	if w.same {
		w.ours = w.theirs
	}
	w.Pass(time.Second)
	w.sets("a", w.theirs, "IN_PROGRESS")
	if w.made {
		w.ours = w.makes("b", "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":%s}`, w.team, w.lineup(0)), "gameId", "made for "+w.team)
	} else {
		w.Want("b", "ana", "PATCH", "/hacktracker/games/"+w.ours, fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":%s}`, w.lineup(1)))
	}
	w.order = w.Rows("b", prod)["GAME#"+w.ours+" METADATA"]["lineup"]
}

// act does what is done to b's game.
func (w *twoStarts) act() {
	var id string
	path := "/hacktracker/games/" + w.ours
	for i, act := range strings.Fields(w.acts) {
		w.Pass(time.Second)
		switch act {
		case "score":
			id = w.makes("b", "/games/"+w.ours+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, w.players[0]), "atBatId", "")
		case "correct":
			w.Want("b", "ana", "PUT", path+"/atbats/"+id, `{"result":"HR"}`)
		case "undo":
			w.Want("b", "ana", "DELETE", path+"/atbats/"+id, "")
		case "run":
			w.runs++
			w.makes("b", "/games/"+w.ours+"/runs", `{"teamScore":1}`, "gameId", fmt.Sprintf("01JT6XQ0Z8M1C3V5N7B9D1F3H%d", i))
		case "place":
			w.Want("b", "ana", "PATCH", path, `{"location":"Pier Field"}`)
		case "final":
			w.sets("b", w.ours, "FINAL")
		case "start":
			w.sets("b", w.ours, "IN_PROGRESS")
		case "delete":
			w.Want("b", "ana", "DELETE", path, "")
		}
	}
}

// check notes what is not as it is to be once both nodes have what the cloud has.
func (w *twoStarts) check(cloud map[string]attr.Item) {
	g, atBats := cloud["GAME#"+w.ours+" METADATA"], 0
	for k := range cloud {
		if strings.HasPrefix(k, "GAME#"+w.ours+" ATBAT#") {
			atBats++
		}
	}
	other := ""
	if w.refused {
		other = w.theirs
	}
	if g["status"].Str() != w.status || atBats != w.atBats || g["startRefused"].Str() != other {
		w.Bad("%s: %d at-bats of %v", w.name, atBats, g)
	}
	if n, _ := g["teamScore"].Int(); g != nil && (int(n) != w.runs || !g["lineup"].Equal(w.order) || strings.Contains(w.acts, "place") != (g["location"].Str() != "")) {
		w.Bad("%s: %d runs: %v", w.name, w.runs, g)
	}
	if live := cloud["TEAM#"+w.team+" LIVE#GAME"]["gameId"].Str(); live != map[bool]string{true: w.ours, false: w.theirs}[w.ended] {
		w.Bad("%s: the marker is that of %s", w.name, live)
	}
	if (cloud["GAME#"+w.theirs+" METADATA"]["status"].Str() == "FINAL") != w.ended {
		w.Bad("%s: a's game: %v", w.name, cloud["GAME#"+w.theirs+" METADATA"])
	}
}

// end ends a's game, and notes where the marker is not that of b's if this goes on.
func (w *twoStarts) end() {
	w.sets("a", w.theirs, "FINAL")
	live, on := w.Rows("a", prod)["TEAM#"+w.team+" LIVE#GAME"], w.status == "IN_PROGRESS" && !w.same
	if on && live["gameId"].Str() != w.ours || !on && live != nil {
		w.Bad("%s: the marker behind the end is %v", w.name, live)
	}
}
