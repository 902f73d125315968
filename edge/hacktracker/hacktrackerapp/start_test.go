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

// twoStarts is a team whose second game starts at node a and whose third one starts at node b, and is played there, while both are cut off.
type twoStarts struct {
	name    string
	made    bool   // the third game is made as it starts, not before
	acts    string // what is done to the third game then, one behind the other
	status  string // its status in the end; empty: it is gone
	atBats  int
	refused bool // it names the second game as the one for which its start was refused

	apart
	order attr.Value // the lineup that it started with
	runs  int
}

// Two nodes that are cut off start different games: the second one to reach the cloud is played on if it has plate appearances, whatever
// became of it meanwhile, and is as it was if it has none. It says so, and nobody is asked. Each case is another team of one world.
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
		}
		var names []string
		for _, w := range all {
			w.Apart = world
			w.newTeam()
			w.Want("a", "ana", "PATCH", w.path(0), `{"status":"FINAL"}`)
		}
		world.Settle()
		world.Cut()
		for _, w := range all {
			w.Want("a", "ana", "PATCH", w.path(1), `{"status":"IN_PROGRESS"}`)
			w.begin()
			names = append(names, w.games[2], "G of "+w.name, w.games[1], "O of "+w.name, w.team, "T of "+w.name)
		}
		world.Heal("a")
		world.Pass(time.Minute)
		cloud := world.Joined()
		for _, w := range all {
			w.check(cloud)
		}
		for _, c := range world.Asked() {
			world.Bad("asked: %s", &c)
		}
		if wrong := world.Told(names...); wrong != "" {
			t.Error(wrong)
		}
	})
}

func (w *twoStarts) path(game int) string { return "/hacktracker/games/" + w.games[game] }

// begin starts the third game and does the acts, at b, which comes to the cloud second.
func (w *twoStarts) begin() {
	if w.made {
		w.games[2] = w.makes("b", "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":%s}`, w.team, w.lineup(0)), "gameId", "made for "+w.team)
	} else {
		w.Want("b", "ana", "PATCH", w.path(2), fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":%s}`, w.lineup(1)))
	}
	w.order = w.Rows("b", prod)["GAME#"+w.games[2]+" METADATA"]["lineup"]
	var id string
	for i, act := range strings.Fields(w.acts) {
		w.Pass(time.Second)
		switch act {
		case "score":
			id = w.makes("b", "/games/"+w.games[2]+"/atbats", fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1}`, w.players[0]), "atBatId", "")
		case "correct":
			w.Want("b", "ana", "PUT", w.path(2)+"/atbats/"+id, `{"result":"HR"}`)
		case "undo":
			w.Want("b", "ana", "DELETE", w.path(2)+"/atbats/"+id, "")
		case "run":
			w.runs++
			w.makes("b", "/games/"+w.games[2]+"/runs", `{"teamScore":1}`, "gameId", fmt.Sprintf("01JT6XQ0Z8M1C3V5N7B9D1F3H%d", i))
		case "place":
			w.Want("b", "ana", "PATCH", w.path(2), `{"location":"Pier Field"}`)
		case "final":
			w.Want("b", "ana", "PATCH", w.path(2), `{"status":"FINAL"}`)
		case "start":
			w.Want("b", "ana", "PATCH", w.path(2), `{"status":"IN_PROGRESS"}`)
		case "delete":
			w.Want("b", "ana", "DELETE", w.path(2), "")
		}
	}
}

// check notes what is not as it is to be once both nodes have what the cloud has.
func (w *twoStarts) check(cloud map[string]attr.Item) {
	g, atBats := cloud["GAME#"+w.games[2]+" METADATA"], 0
	for k := range cloud {
		if strings.HasPrefix(k, "GAME#"+w.games[2]+" ATBAT#") {
			atBats++
		}
	}
	if g["status"].Str() != w.status || atBats != w.atBats || (g["startRefused"].Str() == w.games[1]) != w.refused {
		w.Bad("%s: %d at-bats of %v", w.name, atBats, g)
	}
	if n, _ := g["teamScore"].Int(); g != nil && (int(n) != w.runs || !g["lineup"].Equal(w.order) || strings.Contains(w.acts, "place") != (g["location"].Str() != "")) {
		w.Bad("%s: %d runs: %v", w.name, w.runs, g)
	}
	if live := cloud["TEAM#"+w.team+" LIVE#GAME"]["gameId"].Str(); live != w.games[1] {
		w.Bad("%s: the marker is that of %s", w.name, live)
	}
}
