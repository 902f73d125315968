package web

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

// page requests a page as a browser does, and checks that it has the parts.
func (r *rig) page(who, path string, status int, has ...string) string {
	r.t.Helper()
	w := web.Ask(r.server.Handler(), "GET", "/hacktracker/-"+path, "", "Accept", "text/html", "Sec-Fetch-Mode", "navigate", "Authorization", "Bearer "+who)
	if w.Code != status {
		r.t.Errorf("%s: %s: %d, want %d", who, path, w.Code, status)
	}
	for _, part := range has {
		if !strings.Contains(w.Body.String(), part) {
			r.t.Errorf("%s: %s has no %s", who, path, part)
		}
	}
	return w.Body.String()
}

// A game from planning to end, on the pages of its scorer and of spectators.
func TestGamePages(t *testing.T) {
	r := newRig(t)
	r.page("owner", "/", 200, "You are not on a team yet.", "No game in progress.")
	team, players := r.team("owner", "manager", "scorekeeper", "player")
	game := id(r.want(201, "", "owner", "POST", "/games", fmt.Sprintf(`{"teamId":%q,"opponentName":"Rivals","scheduledStart":"2026-05-02T18:00:00Z"}`, team)), "gameId")
	at := "/games/" + game
	r.page("player", "/", 200, "Bad News v Rivals", "Scheduled", `datetime="2026-05-02T18:00:00Z">Sat 2 May 18:00 UTC`)
	r.page("scorekeeper", at+"/score", 200, "No lineup yet. Set it first.", `value="IN_PROGRESS" disabled`)
	var slots []string
	for i, p := range players {
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, p, i+1))
	}
	lineup := "[" + strings.Join(slots, ",") + "]"
	r.want(200, "", "owner", "PATCH", at, `{"lineup":`+lineup+`}`)
	r.page("scorekeeper", at+"/score", 200, "0 Player", `data-when="on" hidden`)
	r.want(200, "", "owner", "PATCH", at, `{"status":"IN_PROGRESS"}`)
	r.page("scorekeeper", at+"/score", 200, `data-when="off" hidden`, `data-result="K"`, "then 1 Player, 2 Player", "&#34;teamScore&#34;:0")

	r.want(201, "", "scorekeeper", "POST", at+"/atbats", `{"playerId":"`+players[0]+`","result":"HR","inning":1,"outs":0,"battingOrder":1,"rbis":1,"hitLocation":{"x":0.2,"y":0.3}}`)
	r.want(201, "", "owner", "POST", at+"/atbats", `{"playerId":"`+players[0]+`","result":"HR","inning":1,"outs":0,"battingOrder":1,"rbis":1}`)
	r.page("owner", at+"/score", 200, "entered twice within a minute. Did two scorers enter it?", "Remove the second", "1 play does not fit the plays before", "2 runs were batted in, but the score is 0.", "Set our score to 2")
	watching := r.page("player", at, 200, "0 Player: home run, 1 RBI", "entered as inning 1, 0 out, batter 1", "2 Player is up", "Bases", "home run to left", `<svg xmlns="http://www.w3.org/2000/svg"`, "<td class=\"num\">1.000</td>")
	if strings.Contains(watching, "/score\"") || strings.Contains(watching, "data-queue") {
		t.Error("a player gets a link to the scorer's page")
	}
	r.page("player", at+"/overlay", 200, "Bad News", "overlay__bases", "2 Player")
	r.page("player", "/teams/"+team, 200, "My stats", "0–0–0, runs 0–0, AVG 1.000, 2 HR", "stats.csv", "ball--hit")
	r.page("owner", "/teams/"+team+"/players/"+players[0], 200, "By game", "Spray chart", "Change the number")
	r.want(200, "", "owner", "PATCH", at, `{"status":"FINAL","teamScore":2}`)
	r.page("owner", at+"/score", 200, "The game is over. You can still correct plays.")
	r.page("player", "/teams/"+team+"/schedule", 200, "W Bad News v Rivals", "Final 2–0")
	r.page("owner", "/teams/"+team+"/roster", 200, "0 Player", "New player")

	next := id(r.want(201, "", "owner", "POST", "/games", `{"teamId":"`+team+`"}`), "gameId")
	r.page("owner", "/games/"+next+"/lineup", 200, `&#34;playerId&#34;:&#34;`+players[0], "Copy last game")
	refused := `{"PK":{"S":"GAME#two"},"SK":{"S":"METADATA"},"teamId":{"S":"` + team + `"},"startRefused":{"S":"one"},"status":{"S":"`
	r.put(refused + `SCHEDULED"}}`)
	r.page("owner", "/games/two", 200, "The start of this game was undone, because another game of this team was in progress. Finish that game first.")
	r.put(refused + `IN_PROGRESS"}}`)
	r.want(200, `"startRefused":"one"`, "owner", "PATCH", "/games/two", `{"status":"IN_PROGRESS"}`) // changes nothing
	r.page("owner", "/games/two/score", 200, "Another game of this team was in progress when this one was started. Finish whichever of the two is over.")
	if _, ok := r.want(200, "", "owner", "PATCH", "/games/two", `{"status":"FINAL"}`)["startRefused"]; ok {
		t.Error("a finished game still reports its refused start")
	}
	r.page("stranger", at, 403)
	r.page("player", at+"/score", 403)
	r.page("owner", "/games/none", 404)
}

// A manager sees on the roster who is linked to which player. On the player's page they link a user by the ID on the user's own page,
// and unlink them. Members and the page of the owner's player have no such forms.
func TestLinkPages(t *testing.T) {
	r := newRig(t)
	team, players := r.team("owner", "manager", "player")
	ghost := id(r.want(201, "", "owner", "POST", "/teams/"+team+"/players", `{"firstName":"Bench","positions":["SS","OF"]}`), "playerId")
	roster, at := "/teams/"+team+"/roster", "/teams/"+team+"/players/"+ghost
	r.page("newcomer", "/", 200, "Join a team", ">newcomer</p>")
	r.want(200, "", "newcomer", "PUT", "/users/newcomer", `{"firstName":"Nia","lastName":"Cole"}`)
	r.page("manager", roster, 200, "linked to Player User, owner", "linked to Player User, manager", "linked to Player, player", "SS, OF, active, ghost: no account", "New player")
	r.page("manager", at, 200, `action="/hacktracker`+at+`/link"`, `name="userId"`, "Positions: SS, OF", `value="active" aria-pressed="true"`)
	r.want(200, "", "manager", "POST", at+"/link", `{"userId":"newcomer","role":"scorekeeper"}`)
	r.page("player", roster, 200, "linked to Nia, scorekeeper")
	r.page("manager", at, 200, "Linked to <b>Nia</b>, scorekeeper.", `action="/hacktracker`+at+`/unlink"`, "Unlink Nia")
	r.want(200, "", "newcomer", "POST", "/teams/"+team+"/accept", "")
	r.page("player", roster, 200, "linked to Nia Cole, scorekeeper")
	r.page("manager", at, 200, "Linked to <b>Nia Cole</b>, scorekeeper.", "Unlink Nia Cole")
	r.remove("USER#newcomer", "METADATA")
	r.page("manager", roster, 200, "linked to newcomer, scorekeeper")

	_, own, _ := strings.Cut(r.ask("owner", "GET", "/users/owner/players", "").Body.String(), `"playerId":"`)
	own, _, _ = strings.Cut(own, `"`)
	for who, player := range map[string]string{"player": players[1], "owner": own} {
		path := "/teams/" + team + "/players/" + player
		if strings.Contains(r.page(who, path, 200, "By game"), `link" data-queue`) {
			t.Errorf("%s: %s has a form that links or unlinks", who, path)
		}
	}
	if strings.Contains(r.page("player", roster, 200), "New player") {
		t.Error("a player may add players")
	}
}

// fixed returns the scenes of the gallery.
func fixed(t *testing.T) []page.Scene {
	t.Helper()
	look, err := page.New("/hacktracker/-", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := (&handlers{look: look}).scenes()
	if err != nil {
		t.Fatal(err)
	}
	return scenes
}

// The text of each gallery scene equals the golden file.
func TestScenes(t *testing.T) {
	scenes := fixed(t)
	picture, tag, space := regexp.MustCompile(`(?s)<svg.*?</svg>`), regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\s+`)
	var got strings.Builder
	for i := range scenes {
		_, main, _ := strings.Cut(string(scenes[i].Page), "<main")
		main, _, _ = strings.Cut("<main"+main, "</main>")
		text := html.UnescapeString(space.ReplaceAllString(tag.ReplaceAllString(picture.ReplaceAllString(main, ""), " "), " "))
		fmt.Fprintf(&got, "%s: %s\n", scenes[i].Name, strings.TrimSpace(text))
	}
	golden(t, "testdata/scenes.golden", got.String())
}

// A game with as many at-bats as it may have, all the same and within a minute, has a page of bounded size: each is compared with its
// nearest earlier one, and the latest are listed.
func TestPagesOfManyDoubles(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "scorekeeper")
	game := r.game("ana", team, players...)
	write := func(tx *store.Tx) error {
		service := hacktracker.Service{Handle: hacktracker.Rows(tableName)}
		b := service.Open(tx, "ana")
		for i := range hacktracker.MaxAtBats {
			body := fmt.Sprintf(`{"playerId":%q,"result":"HR","inning":1,"outs":0,"battingOrder":1}`, players[0])
			var in hacktracker.Input
			if err := json.Unmarshal([]byte(body), &in); err != nil {
				return err
			}
			b.NewAtBat(game, "", r.now.Add(time.Duration(i)*100*time.Millisecond), nil, in)
		}
		return b.Err()
	}
	if err := r.store.Update(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	state := r.want(200, "", "ana", "GET", "/games/"+game+"/state", "")
	if pairs, _ := state["possibleDoubles"].([]any); len(pairs) != hacktracker.MaxAtBats-1 {
		t.Errorf("%d pairs", len(pairs))
	}
	for _, path := range []string{"/games/" + game, "/games/" + game + "/score"} {
		body := r.page("ana", path, 200, "489 earlier plays may have been entered twice too")
		if n := strings.Count(body, "entered twice within a minute"); n != 10 || len(body) > 1<<20 {
			t.Errorf("%s: %d listed, %d bytes", path, n, len(body))
		}
	}
}

// What cannot be done now is disabled, with its reason.
func TestWhatCannotBeDoneNow(t *testing.T) {
	r := newRig(t)
	team, players := r.team("owner", "scorekeeper")
	var games []string
	for range 2 {
		game := r.game("owner", team, players...)
		r.want(200, "", "owner", "PATCH", "/games/"+game, `{"status":"SCHEDULED"}`)
		games = append(games, game)
	}
	first, second := games[0], games[1]
	const start = `value="IN_PROGRESS"`
	r.page("owner", "/games/"+second+"/score", 200, start+"><b>Start the game</b></button>", `data-undo disabled>Undo last<small>no plays yet</small>`)
	r.want(200, "", "owner", "PATCH", "/games/"+first, `{"status":"IN_PROGRESS","opponentName":"Rivals"}`)
	r.page("owner", "/games/"+second+"/score", 200, start+` disabled><b>Start the game</b><small>Finish the game against Rivals first.</small>`)
	r.want(201, "", "owner", "POST", "/games/"+first+"/atbats", atBat(players[0], "K", 1, 0, 1))
	r.page("owner", "/games/"+first+"/score", 200, `data-undo>Undo last</button>`)
}
