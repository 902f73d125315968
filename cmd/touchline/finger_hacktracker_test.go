//go:build long && linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// fingerHackTracker is a game of HackTracker. Plays are known by their keys, which are their ids, and runs by the ends of theirs.
type fingerHackTracker struct {
	team, game string
}

func (f *fingerHackTracker) scope() string { return "/hacktracker/-/" }

func (f *fingerHackTracker) page(p *fingerPhone) string {
	to := f.scope() + "games/" + f.game
	if p.user == "fan" {
		return to
	}
	return to + "/score"
}

func (f *fingerHackTracker) begin(g *fingerSeed) {
	g.t.Helper()
	n := g.hall.nodes[0]
	made := func(user, method, path, body, name string) string {
		g.t.Helper()
		var out map[string]any
		if err := json.Unmarshal([]byte(g.want(n, user, method, "/hacktracker"+path, body)), &out); err != nil {
			g.t.Fatal(err)
		}
		return fmt.Sprint(out[name])
	}
	f.team = made("boss", http.MethodPost, "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId")
	var slots []string
	for i, user := range []string{"keeper", "fan", ""} {
		player := made("boss", http.MethodPost, "/teams/"+f.team+"/players", fmt.Sprintf(`{"firstName":"Player","playerNumber":%d}`, i), "playerId")
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, player, i+1))
		if user == "" {
			continue
		}
		role := ""
		if user == "keeper" {
			role = `,"role":"scorekeeper"`
		}
		g.want(n, user, http.MethodGet, "/hacktracker/users/context", "")
		g.want(n, "boss", http.MethodPost, "/hacktracker/teams/"+f.team+"/players/"+player+"/link", `{"userId":"`+user+`"`+role+`}`)
	}
	f.game = made("boss", http.MethodPost, "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, f.team, strings.Join(slots, ",")), "gameId")
	for _, n := range g.hall.nodes {
		for _, user := range []string{"keeper", "boss", "fan"} {
			g.want(n, user, http.MethodGet, "/hacktracker/games/"+f.game, "")
		}
	}
}

func fingerResults() []string {
	return []string{"1B", "2B", "3B", "HR", "K", "BB", "FO", "GO", "SF", "DP", "E"}
}

func (f *fingerHackTracker) tap(g *fingerSeed) (tap *fingerTap, script string) {
	const press = `(async () => {
		const key = document.querySelector(%q);
		if (!key.checkVisibility()) return "the game is over";
		if (key.closest("[inert]")) return "the keys are set aside";
		await rig.calm();
		%s
		key.click();
		return "";
	})()`
	if g.rng.IntN(4) == 0 {
		side := []string{"teamScore", "opponentScore"}[g.rng.IntN(2)]
		return &fingerTap{kind: "run", what: "a run, " + side, fields: map[string]string{"side": side}}, fmt.Sprintf(press, `[data-run="`+side+`"]`, "")
	}
	result, rbis := fingerResults()[g.rng.IntN(len(fingerResults()))], "0"
	choose := ""
	if g.rng.IntN(3) == 0 {
		rbis, choose = "2", `document.getElementById("rbi-2").click();`
	}
	tap = &fingerTap{kind: "play", what: result + ", " + rbis + " RBI", fields: map[string]string{"result": result, "tapped": result, "rbis": rbis}}
	return tap, fmt.Sprintf(press, `[data-result="`+result+`"]`, choose)
}

func (f *fingerHackTracker) keyed() bool { return true }

func (f *fingerHackTracker) finish() []string {
	return []string{`(() => {
		const key = document.querySelector('[data-refresh="finish"] button[value="FINAL"]');
		if (!key || document.querySelector(".scorer__on").hidden) return "the game is over";
		if (document.querySelector("[data-scoring-keys]").inert) return "the keys are set aside";
		key.click();
		return "";
	})()`}
}

// correct changes the result of a play that a phone shows.
func (f *fingerHackTracker) correct(g *fingerSeed, p *fingerPhone) {
	g.t.Helper()
	var plays []*fingerTap
	for _, one := range g.taps {
		if one.kind == "play" && one.fields["corrected"] == "" && fingerEval[bool](g, p, fmt.Sprintf(`document.querySelector('[data-edit="%s"]') !== null`, one.key)) {
			plays = append(plays, one)
		}
	}
	if len(plays) == 0 {
		return
	}
	one := plays[g.rng.IntN(len(plays))]
	_, why := p.press(g, fmt.Sprintf(`(async () => {
		await rig.calm();
		document.querySelector('[data-edit="%s"]').click();
		const edit = document.getElementById("edit");
		if (edit.hidden) return "the form does not open";
		document.getElementById("edit-result").value = "3B";
		edit.requestSubmit();
		return "";
	})()`, one.key))
	g.say("%s corrects tap %d, %s, to 3B: %s", p.name, one.n, one.what, why)
	if why == "" {
		g.strike("a tap corrected after the end")
		one.fields["result"], one.fields["corrected"] = "3B", "yes"
	}
}

// resume opens the game again with a PATCH of a program of somebody who may score.
func (f *fingerHackTracker) resume(g *fingerSeed, p *fingerPhone) bool {
	g.t.Helper()
	status, answer := g.hall.ask(g.t.Context(), p.node, p.user, http.MethodPatch, "/hacktracker/games/"+f.game, `{"status":"IN_PROGRESS"}`)
	if status != http.StatusOK {
		g.say("%s cannot open the game again: %d %s", p.name, status, answer)
	}
	return status == http.StatusOK
}

// effects are the plays in their order, and the runs by the ends of their keys, which only the row in the cloud has.
func (f *fingerHackTracker) effects(g *fingerSeed, n *cloudNode) (marks []string) {
	g.t.Helper()
	for _, play := range f.plays(g, n) {
		marks = append(marks, play.AtBatID)
	}
	row, err := g.hall.foreign().GetItem(g.t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("p-hacktracker"), ConsistentRead: aws.Bool(true), Key: map[string]types.AttributeValue{"PK": s("GAME#" + f.game), "SK": s("METADATA")},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	keys, _ := row.Item["runKeys"].(*types.AttributeValueMemberL)
	if keys != nil {
		for _, key := range keys.Value {
			marks = append(marks, "run "+text(key))
		}
	}
	return marks
}

type fingerPlay struct {
	AtBatID, PlayerID, Result string
	RBIs                      int
}

func (f *fingerHackTracker) plays(g *fingerSeed, n *cloudNode) []fingerPlay {
	g.t.Helper()
	return fingerRead[[]fingerPlay](g, n, "boss", "/hacktracker/games/"+f.game+"/atbats")
}

// fingerFigures counts plays as the rules do.
type fingerFigures struct {
	PA  int
	AB  int
	H   int
	HR  int
	RBI int
	BB  int
	K   int
}

func (f fingerFigures) plus(result string, rbis int) fingerFigures {
	f.PA++
	f.RBI += rbis
	switch result {
	case "BB":
		f.BB++
		return f
	case "SF":
		return f
	case "K":
		f.K++
	case "HR":
		f.HR++
		f.H++
	case "1B", "2B", "3B":
		f.H++
	}
	f.AB++
	return f
}

func (f *fingerHackTracker) recount(g *fingerSeed, n *cloudNode, counted []*fingerTap) error {
	g.t.Helper()
	box := fingerRead[struct {
		Game struct {
			TeamScore, OpponentScore int
			Status                   string
		}
		Batters []struct {
			PlayerID string
			fingerFigures
		}
		Totals fingerFigures
	}](g, n, "boss", "/hacktracker/games/"+f.game+"/boxscore")
	who := map[string]string{}
	for _, play := range f.plays(g, n) {
		who[play.AtBatID] = play.PlayerID
	}
	totals, batters, score := f.figures(counted, who)
	if box.Totals != totals {
		return fmt.Errorf("the box score has %+v, want %+v", box.Totals, totals)
	}
	for _, b := range box.Batters {
		if b.fingerFigures != batters[b.PlayerID] {
			return fmt.Errorf("the box score has %+v of %s, want %+v", b.fingerFigures, b.PlayerID, batters[b.PlayerID])
		}
	}
	if box.Game.TeamScore != score["teamScore"] || box.Game.OpponentScore != score["opponentScore"] {
		return fmt.Errorf("the score is %d-%d, want %v", box.Game.TeamScore, box.Game.OpponentScore, score)
	}
	if box.Game.Status != "FINAL" {
		return errors.New("the game is not over")
	}
	return nil
}

// figures counts taps: in all, by batter, and the score.
func (f *fingerHackTracker) figures(counted []*fingerTap, who map[string]string) (totals fingerFigures, batters map[string]fingerFigures, score map[string]int) {
	batters, score = map[string]fingerFigures{}, map[string]int{}
	for _, one := range counted {
		if one.kind == "run" {
			score[one.fields["side"]]++
			continue
		}
		rbis := 0
		if one.fields["rbis"] == "2" {
			rbis = 2
		} else if one.fields["tapped"] == "HR" {
			rbis = 1
		}
		totals = totals.plus(one.fields["result"], rbis)
		batters[who[one.key]] = batters[who[one.key]].plus(one.fields["result"], rbis)
	}
	return totals, batters, score
}

func (f *fingerHackTracker) shown(g *fingerSeed, p *fingerPhone, counted []*fingerTap) {
	g.t.Helper()
	totals, _, score := f.figures(counted, nil)
	want := fmt.Sprintf("%d %d, %d %d %d", score["teamScore"], score["opponentScore"], totals.PA, totals.AB, totals.H)
	seen := ""
	g.until(p.name+" shows "+want, func() bool {
		seen = fingerEval[string](g, p, `[...document.querySelectorAll(".head__figure")].map((f) => f.textContent).join(" ") + ", " +
			[1, 2, 4].map((i) => document.querySelector('[data-part="box"] tbody tr:last-child').cells[i].textContent).join(" ")`)
		return seen == want
	}, func() any { return seen })
	for _, one := range g.hall.phones[:2] {
		want := fmt.Sprintf("%d %d %d", score["teamScore"], score["opponentScore"], totals.PA)
		g.until(one.name+" shows "+want, func() bool {
			seen = fingerEval[string](g, one, `["teamScore", "opponentScore"].map((side) => document.querySelector('[data-s="' + side + '"]').textContent).join(" ") + " " +
				JSON.parse(document.querySelector("[data-book]").dataset.book).plays.length`)
			return seen == want
		}, func() any { return seen })
	}
}
