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

// twoStarts is a team with two games: while both nodes are disconnected, one starts at node a, the other starts and is played at node b.
type twoStarts struct {
	name    string
	again   string // "a" or "b": the game in progress before is ended at both nodes and started again at that node
	same    bool   // both nodes start a's game
	made    bool   // b's game is created with its start, not before
	acts    string // later actions on b's game, in order
	status  string // its final status; empty: it is deleted
	atBats  int
	ended   bool // a's game is ended by b's late end; the marker belongs to b's game
	refused bool // b's game names a's as the reason why its start was refused

	apart
	theirs, ours string     // a's game and b's
	order        attr.Value // the lineup with which b's game started
	runs         int
}

// Two disconnected nodes start different games. The second to reach the cloud stays started if it has plate appearances, whatever happened to
// it meanwhile; without any, it returns to its old status and records why. No person is asked. The game in progress gets the marker in the
// end. Each case is a team of its own in one world.
func TestTwoStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seldom := func(p *node.Parts) { p.Cloud.Config.Poll.Live = time.Minute } // with so many games in progress, each poll takes time
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
			world.Bad("a person was asked: %s", &c)
		}
		if wrong := world.Report(names...); wrong != "" {
			t.Error(wrong)
		}
	})
}

// sets sets a game's status at a node.
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

// act performs the actions on b's game.
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

// check reports what differs from the case once both nodes have the cloud's rows.
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

// end ends a's game. Then b's game must have the marker if it is in progress, and no game otherwise.
func (w *twoStarts) end() {
	w.sets("a", w.theirs, "FINAL")
	live, on := w.Rows("a", prod)["TEAM#"+w.team+" LIVE#GAME"], w.status == "IN_PROGRESS" && !w.same
	if on && live["gameId"].Str() != w.ours || !on && live != nil {
		w.Bad("%s: after the end the marker is %v", w.name, live)
	}
}
