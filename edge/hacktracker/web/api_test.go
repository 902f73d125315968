package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/contract"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store/attr"
)

// A user's first request creates their profile; a refused change names the fields.
func TestUsers(t *testing.T) {
	r := newRig(t)
	r.want(404, "User not found", "ana", "GET", "/users/ben", "")
	r.want(200, `"lastName":"User"`, "ana", "GET", "/users/ana", "")
	row := r.rows("USER#ana")["METADATA"]
	for name, want := range map[string]string{"GSI1PK": "COGNITO#ana", "GSI1SK": "USER", "GSI2PK": "ENTITY#USER", "GSI2SK": "METADATA#ana", "createdAt": "2026-05-01T18:00:00.000Z"} {
		if row[name].Str() != want {
			t.Errorf("%s is %v", name, row[name])
		}
	}
	r.want(400, `"readOnlyFields":["email","userId"]`, "ana", "PUT", "/users/ana", `{"userId":"x","email":"y","lastName":"Z"}`)
	r.want(400, `"allowedFields":["firstName","lastName","phoneNumber"],"error":"Invalid fields","invalidFields":["age"]`, "ana", "PUT", "/users/ana", `{"age":3}`)
	r.want(400, "firstName must not be empty", "ana", "PUT", "/users/ana", `{"firstName":" "}`)
	r.want(400, "No fields to update", "ana", "PUT", "/users/ana", `{}`)
	r.want(200, `"phoneNumber":"+1555"`, "ana", "PUT", "/users/ana", `{"phoneNumber":"+1555"}`)
	if _, ok := r.want(200, "", "ana", "PUT", "/users/ana", `{"phoneNumber":null,"firstName":"Ana"}`)["phoneNumber"]; ok {
		t.Error("the phone number is still there")
	}
	r.want(200, `{"has_personal_context":false,"has_managed_context":false}`, "ana", "GET", "/users/context", "")
	r.want(201, `"team_type":"PERSONAL"`, "ana", "POST", "/teams", `{"name":"Default","teamType":"personal"}`)
	r.want(200, `{"has_personal_context":true,"has_managed_context":false}`, "ana", "GET", "/users/context", "")
	r.want(200, `"count":1`, "ana", "GET", "/users/ana/players", "")
	r.want(204, "", "ana", "DELETE", "/users/ana", "")
	r.want(401, "User ID not found. Authentication required.", "-", "GET", "/users/context", "")
	r.want(400, "nextToken is invalid", "admin", "GET", "/users?nextToken=x", "")
	r.want(400, "Invalid nextToken", "admin", "GET", "/users?nextToken="+url.QueryEscape(`{"PK":{"S":"a"}}`), "")
}

// The original's test header names the user on a development node, and is ignored elsewhere.
func TestUserHeader(t *testing.T) {
	for development, want := range map[bool]int{true: 200, false: 401} {
		r := newRigWith(t, httpapi.Config{Auth: web.ByName{}, Tokens: development})
		r.want(want, "", "-", "GET", "/users/ana", "", "X-User-Id", "ana")
		r.want(200, `"userId":"ben"`, "ben", "GET", "/users/ben", "", "X-User-Id", "ana")
		if was := len(r.rows("USER#ana")) > 0; was != development {
			t.Errorf("development %t: profile created: %t", development, was)
		}
	}
}

// Index 2 is read page by page: 250 teams in five pages of 50, without PERSONAL and deleted ones.
func TestTeamsByPages(t *testing.T) {
	r := newRig(t)
	for i := range 250 {
		r.want(201, "", []string{"ana", "eve"}[i%2], "POST", "/teams", fmt.Sprintf(`{"name":"Team %03d","teamType":"MANAGED"}`, i))
	}
	r.want(201, "", "ben", "POST", "/teams", `{"name":"Default","teamType":"PERSONAL"}`)
	seen, pages, token := map[string]bool{}, 0, ""
	for {
		list := r.want(200, "", "ben", "GET", "/teams?nextToken="+url.QueryEscape(token), "")
		teams, _ := list["teams"].([]any)
		for _, one := range teams {
			team, _ := one.(map[string]any)
			seen[id(team, "name")] = true
		}
		pages++
		if token, _ = list["nextToken"].(string); token == "" {
			break
		}
	}
	if len(seen) != 250 || seen["Default"] || pages != 6 { // 251 rows
		t.Errorf("%d teams on %d pages", len(seen), pages)
	}
	r.want(200, `"count":0`, "ben", "GET", "/teams?ownerId=ana&team_type=PERSONAL", "")
	r.want(200, `"count":1`, "ana", "GET", "/teams?userId=ben&team_type=PERSONAL", "")
	r.want(200, `"role":"owner"`, "ana", "GET", "/teams?userId=ana", "")
	r.want(400, "cannot be given together", "ana", "GET", "/teams?userId=ana&ownerId=ana", "")
}

// A team is three rows in one transaction. A deleted team is hidden, and its owner can recover it for thirty days.
func TestTeam(t *testing.T) {
	r := newRig(t)
	r.want(400, "name must have 3 to 50", "ana", "POST", "/teams", `{"name":"a-b","teamType":"MANAGED"}`)
	r.want(400, "teamType is required", "ana", "POST", "/teams", `{"name":"abc"}`)
	body := `{"name":" Bad  News ","teamType":"MANAGED","description":"x"}`
	team := id(r.want(201, `"name":"Bad News"`, "ana", "POST", "/teams", body, "Idempotency-Key", "k1"), "teamId")
	if again := id(r.want(201, "", "ana", "POST", "/teams", body, "Idempotency-Key", "k1"), "teamId"); again != team {
		t.Errorf("%s was created too", again)
	}
	r.want(409, "was used for another request", "ana", "POST", "/teams", `{"name":"Other","teamType":"MANAGED"}`, "Idempotency-Key", "k1")
	if once := r.rows("IDEMPOTENCY#ana#k1")["METADATA"]; once["createdAt"].Str() != "2026-05-01T18:00:00.000Z" || once["updatedAt"].Str() != once["createdAt"].Str() {
		t.Errorf("%v", once)
	}
	r.remove("IDEMPOTENCY#ana#k1", "METADATA")
	r.want(409, "Team creation conflict", "ana", "POST", "/teams", body, "Idempotency-Key", "k1")
	r.want(200, `"description":"one\ntwo"`, "ana", "PUT", "/teams/"+team, `{"description":" one\ntwo"}`)
	rows := r.rows("TEAM#" + team)
	if len(rows) != 2 || r.rows("USER#ana")["TEAM#"+team]["invitedBy"].Kind() != attr.KindNull {
		t.Errorf("%v", rows)
	}
	if _, ok := r.want(200, "", "ana", "PUT", "/teams/"+team, `{"description":null}`)["description"]; ok {
		t.Error("the description is still there")
	}
	w := r.ask("ana", "DELETE", "/teams/"+team, "")
	token := w.Header().Get("X-Recovery-Token")
	for _, path := range []string{"", "/players", "/games", "/stats"} {
		r.want(404, "Team not found", "ana", "GET", "/teams/"+team+path, "")
	}
	r.want(200, `"count":1`, "ana", "GET", "/users/ana/players", "")
	r.want(404, "", "ana", "POST", "/teams/"+team+"/recover", `{"recoveryToken":"x"}`)
	r.now = r.now.Add(30*24*time.Hour + time.Minute)
	r.want(404, "", "ana", "POST", "/teams/"+team+"/recover", `{"recoveryToken":"`+token+`"}`)
	r.now = r.now.Add(-2 * time.Minute)
	r.want(200, `"active"`, "ana", "POST", "/teams/"+team+"/recover", `{"recoveryToken":"`+token+`"}`)
	r.want(200, "", "ana", "GET", "/teams/"+team, "")

	own := id(r.want(201, "", "ana", "POST", "/teams", `{"name":"Default","teamType":"PERSONAL"}`), "teamId")
	r.want(403, "Cannot manage team on personal stats team", "ana", "PUT", "/teams/"+own, `{"name":"Other"}`)
	r.want(403, "Cannot delete team on personal stats team", "ana", "DELETE", "/teams/"+own, "")
	r.want(400, "Cannot add players to personal teams.", "ana", "POST", "/teams/"+own+"/players", `{"firstName":"X"}`)
	r.want(201, `"teamId":"`+own+`"`, "ana", "POST", "/games", `{"opponentName":"Them"}`)
	r.want(400, "teamId is required", "ben", "POST", "/games", `{}`)
}

// A number belongs to one player. A marker is taken over if no player on the roster has its number, because a program deleted only the player.
func TestNumbers(t *testing.T) {
	r := newRig(t)
	team, _ := r.team("ana")
	path := "/teams/" + team + "/players"
	a := id(r.want(201, "", "ana", "POST", path, `{"firstName":"Abe","playerNumber":12}`), "playerId")
	r.want(409, "Player number 12 is already taken", "ana", "POST", path, `{"firstName":"Bob","playerNumber":12}`)
	b := id(r.want(201, "", "ana", "POST", path, `{"firstName":"Bob","playerNumber":0}`), "playerId")
	r.want(409, "Player number 12 is already taken", "ana", "PUT", path+"/"+b, `{"playerNumber":12}`)
	r.want(200, `"playerNumber":13`, "ana", "PUT", path+"/"+a, `{"playerNumber":13}`)
	r.want(200, `"playerNumber":12`, "ana", "PUT", path+"/"+b, `{"playerNumber":12}`)
	r.want(200, "", "ana", "PUT", path+"/"+b, `{"playerNumber":12}`)
	r.want(200, "", "ana", "PUT", path+"/"+a, `{"playerNumber":null,"positions":["ss","SS"]}`)
	r.want(400, `"readOnlyFields":["isGhost"]`, "ana", "PUT", path+"/"+a, `{"isGhost":false}`)
	if rows := r.rows("TEAM#" + team); rows["JERSEY#0"] != nil || rows["JERSEY#13"] != nil || rows["JERSEY#12"]["playerId"].Str() != b {
		t.Errorf("%v", rows)
	}
	r.put(`{"PK":{"S":"TEAM#` + team + `"},"SK":{"S":"PLAYER#foreign"},"playerNumber":{"N":"44"},"firstName":{"S":"Far"}}`)
	r.want(409, "44 is already taken", "ana", "PUT", path+"/"+a, `{"playerNumber":44}`)
	r.put(`{"PK":{"S":"TEAM#` + team + `"},"SK":{"S":"JERSEY#7"},"playerId":{"S":"gone"}}`)
	r.want(200, `"playerNumber":7`, "ana", "PUT", path+"/"+a, `{"playerNumber":7}`)
	r.want(204, "", "ana", "DELETE", path+"/"+a, "")
	if r.rows("TEAM#" + team)["JERSEY#7"] != nil {
		t.Error("the number was not released")
	}
	var list struct{ Players []struct{ FirstName string } }
	if err := json.Unmarshal(r.ask("ana", "GET", path+"?isGhost=true", "").Body.Bytes(), &list); err != nil || len(list.Players) != 2 || list.Players[0].FirstName != "Bob" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestLinks(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben")
	path := "/teams/" + team + "/players/" + players[0]
	r.want(400, "Cannot delete linked player. Use unlink operation instead.", "ana", "DELETE", path, "")
	r.want(400, "already linked", "ana", "POST", path+"/link", `{"userId":"ben"}`)
	r.want(404, "User not found", "ana", "POST", path+"/link", `{"userId":"nobody"}`)
	r.want(400, "userId is required", "ana", "POST", path+"/link", `{}`)
	r.want(400, "owner's membership", "ana", "PUT", "/teams/"+team+"/members/ana", `{"role":"player"}`)
	r.want(404, "Member not found", "ana", "PUT", "/teams/"+team+"/members/eve", `{"role":"player"}`)
	r.want(400, "role must be one of", "ana", "PUT", "/teams/"+team+"/members/ben", `{"role":"owner"}`)
	r.want(200, `"lastName":"Li"`, "ben", "PUT", path, `{"lastName":"Li"}`)
	r.want(403, "Required: owner, manager", "ben", "PUT", path, `{"status":"sub"}`)
	r.want(200, `"role":"player"`, "ana", "GET", "/teams/"+team+"/players?includeRoles=true", "")
	r.want(200, `"isGhost":true,"userId":null,"linkedAt":null`, "ana", "POST", path+"/unlink", "")
	r.want(403, "Team membership is not active", "ben", "GET", "/teams/"+team, "")
	r.want(403, "User is not a member of this team", "eve", "GET", "/teams/"+team, "")
	r.want(200, `"count":0`, "ben", "GET", "/users/ben/players", "")
	r.want(200, `"userId":"ben"`, "ana", "POST", path+"/link", `{"userId":"ben","role":"scorekeeper"}`)
	if m := r.rows("USER#ben")["TEAM#"+team]; m["role"].Str() != "scorekeeper" || m["status"].Str() != "active" || m["invitedBy"].Str() != "ana" {
		t.Errorf("%v", m)
	}
}

// A manager may link a former member again with their old role. Only an owner may give them another role.
func TestRolesByLink(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "manager", "player")
	path := "/teams/" + team + "/players/" + players[1]
	role := func(want string) {
		t.Helper()
		if m := r.rows("USER#player")["TEAM#"+team]; m["role"].Str() != want {
			t.Errorf("the member is %v", m)
		}
	}
	r.want(200, "", "manager", "POST", path+"/unlink", "")
	r.want(403, "Insufficient permissions. Required: owner", "manager", "POST", path+"/link", `{"userId":"player","role":"manager"}`)
	role("player")
	r.want(200, `"isGhost":false`, "manager", "POST", path+"/link", `{"userId":"player","role":"player"}`)
	r.want(200, "", "manager", "POST", path+"/unlink", "")
	r.want(200, "", "manager", "POST", path+"/link", `{"userId":"player"}`)
	role("player")
	r.want(200, "", "manager", "POST", path+"/unlink", "")
	r.want(200, "", "ana", "POST", path+"/link", `{"userId":"player","role":"scorekeeper"}`)
	role("scorekeeper")
}

// A team has one game in progress at a time. A marker is taken over if its game is not in progress.
func TestOneGameInProgress(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben")
	r.want(400, "A lineup is required before you can start the game.", "ana", "POST", "/games", `{"teamId":"`+team+`","status":"IN_PROGRESS"}`)
	r.want(400, "is not on the team", "ana", "POST", "/games", `{"teamId":"`+team+`","lineup":[{"playerId":"x","battingOrder":1}]}`)
	first := r.game("ana", team, players...)
	second := id(r.want(201, `"status":"SCHEDULED"`, "ana", "POST", "/games", fmt.Sprintf(`{"teamId":%q,"scheduledStart":"2026-06-01T10:00:00Z"}`, team)), "gameId")
	lineup := fmt.Sprintf(`"lineup":[{"playerId":%q,"battingOrder":1}]`, players[0])
	r.want(400, "A lineup is required", "ana", "PATCH", "/games/"+second, `{"status":"IN_PROGRESS"}`)
	r.want(400, "A game is already in progress.", "ana", "PUT", "/games/"+second, `{"status":"IN_PROGRESS",`+lineup+`}`)
	r.want(400, "A lineup is required while", "ana", "PUT", "/games/"+first, `{"lineup":[]}`)
	r.want(200, `"finalAt":"2026-05-01T18:00:00.000Z"`, "ana", "PATCH", "/games/"+first, `{"status":"FINAL","location":"","opponentName":"Them"}`)
	if r.rows("TEAM#" + team)["LIVE#GAME"] != nil {
		t.Error("the marker is still there")
	}
	r.put(`{"PK":{"S":"TEAM#` + team + `"},"SK":{"S":"LIVE#GAME"},"gameId":{"S":"` + first + `"}}`)
	r.want(200, `"IN_PROGRESS"`, "ana", "PATCH", "/games/"+second, `{"status":"IN_PROGRESS",`+lineup+`}`)
	if got := r.rows("TEAM#" + team)["LIVE#GAME"]["gameId"].Str(); got != second {
		t.Errorf("%s is in progress", got)
	}
	r.now = r.now.Add(time.Hour)
	r.want(200, `"finalAt":"2026-05-01T18:00:00.000Z"`, "ana", "PATCH", "/games/"+first, `{"status":"FINAL"}`)
	var games []struct{ GameID string }
	if err := json.Unmarshal(r.ask("ana", "GET", "/teams/"+team+"/games", "").Body.Bytes(), &games); err != nil || len(games) != 2 || games[1].GameID != first {
		t.Errorf("%+v, %v", games, err)
	}
	row := r.rows("GAME#" + second)["METADATA"]
	for name, want := range map[string]string{"GSI2PK": "ENTITY#GAME", "GSI2SK": "METADATA#" + second, "GSI3PK": "TEAM#" + team, "GSI3SK": "GAME#" + second} {
		if row[name].Str() != want {
			t.Errorf("%s is %v", name, row[name])
		}
	}
}

func TestAtBats(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben", "cy")
	game := r.game("ana", team, players...)
	path := "/games/" + game + "/atbats"
	r.want(400, "Player is not in the lineup", "ana", "POST", path, atBat("x", "K", 1, 0, 1))
	r.want(400, "result must be one of", "ana", "POST", path, atBat(players[0], "X", 1, 0, 1))
	r.want(400, "must be a ULID", "ana", "POST", path, atBat(players[0], "K", 1, 0, 1), "Idempotency-Key", "k")
	r.want(201, "", "eve", "POST", "/teams", `{"name":"Default","teamType":"PERSONAL"}`)
	own := id(r.want(201, "", "eve", "POST", "/games", `{"status":"IN_PROGRESS"}`), "gameId")
	r.want(400, "is not on the team", "eve", "POST", "/games/"+own+"/atbats", atBat(players[0], "K", 1, 0, 1))
	r.want(200, `"PA":0`, "ana", "GET", "/players/"+players[0]+"/stats", "")
	const key = "01JT6XQ0Z8M1C3V5N7B9D1F3H5"
	body := strings.TrimSuffix(atBat(players[0], "2B", 1, 0, 1), "}") + `,"hitLocation":{"x":0.25,"y":0.5},"hitType":"ground_ball","rbis":0}`
	for range 2 {
		r.want(201, `"atBatId":"`+key+`"`, "ana", "POST", path, body, "Idempotency-Key", strings.ToLower(key), "Touchline-Occurred-Ago", "60")
	}
	r.want(201, `"result":"2B"`, "ana", "POST", path, body, "Idempotency-Key", key, "Touchline-Occurred-Ago", "50000")
	r.want(409, "used for another at-bat", "ana", "POST", path, atBat(players[0], "K", 1, 0, 1), "Idempotency-Key", key)
	row := r.rows("GAME#" + game)["ATBAT#"+key]
	if row["GSI5PK"].Str() != "PLAYER#"+players[0] || row["GSI5SK"].Str() != "ATBAT#"+key || row["hitType"].Str() != "ground_out" {
		t.Errorf("%v", row)
	}
	tapped, err := time.Parse(time.RFC3339, row["createdAt"].Str())
	if before := r.now.Sub(tapped); err != nil || before.Truncate(time.Minute) != time.Minute { // and as long as the request took
		t.Errorf("tapped %v ago: %v", before, err)
	}
	second := id(r.want(201, "", "ana", "POST", path, atBat(players[1], "HR", 1, 0, 2)), "atBatId")
	r.want(200, `"hitType"`, "ana", "GET", path+"/"+key, "")
	if _, ok := r.want(200, `"result":"3B"`, "ana", "PUT", path+"/"+key, `{"result":"3B","hitType":null,"hitLocation":null,"rbis":2}`)["hitType"]; ok {
		t.Error("the hit's type is still there")
	}
	for _, ago := range []string{"90", "50000"} { // repeats of a corrected at-bat, however late
		r.want(201, `"result":"3B"`, "ana", "POST", path, body, "Idempotency-Key", key, "Touchline-Occurred-Ago", ago)
	}
	r.want(409, "more than 12 hours", "ana", "POST", path, body, "Touchline-Occurred-Ago", "50000")
	r.want(200, `"inning":1,"outs":0,"batter":{"playerId":"`+players[0], "ana", "GET", "/games/"+game+"/state", "")
	r.want(200, `"runsDiffer":true`, "ana", "GET", "/games/"+game+"/boxscore", "")
	r.want(200, "", "ana", "PATCH", "/games/"+game, `{"status":"FINAL","teamScore":2}`)
	r.want(200, `"runsDiffer":false`, "ana", "GET", "/games/"+game+"/boxscore", "")
	r.want(400, "Game must be IN_PROGRESS to record at-bats", "ana", "POST", path, atBat(players[0], "K", 1, 0, 1))
	r.want(200, `"result":"1B"`, "ana", "PUT", path+"/"+second, `{"result":"1B"}`)
	r.want(204, "", "ana", "DELETE", path+"/"+second, "")
	r.want(404, "At-bat not found", "ana", "GET", path+"/"+second, "")
	w := r.ask("ana", "GET", "/teams/"+team+"/stats.csv", "")
	if !strings.Contains(w.Body.String(), "\n0,Player,1,1,1,1.000,1.000,3.000,4.000,1,0,0,1,0,2,0,0,0,0,0,3,2.000,1.000\n") {
		t.Errorf("%s", w.Body)
	}
	r.want(200, "", "ana", "POST", "/teams/"+team+"/players/"+players[0]+"/unlink", "{}")
	r.want(204, "", "ana", "DELETE", "/teams/"+team+"/players/"+players[0], "")
	stats := "/players/" + players[0] + "/stats" // of a former player
	for who, status := range map[string]int{"ana": 200, "cy": 200, "dan": 403} {
		r.want(status, "", who, "GET", stats, "")
		r.want(status, "", who, "GET", stats+"?teamId="+team, "")
	}
	r.want(404, "Player not found", "ana", "GET", stats+"?teamId=other", "")
	r.want(400, "teamId is longer", "ana", "GET", "/players/none/stats?teamId="+strings.Repeat("o", 200), "")
	r.want(200, `"name":"","batting":{"PA":1,`, "ana", "GET", stats, "")
	r.page("ana", "/teams/"+team+"/players/"+players[0], 200, "former player")
	r.want(204, "", "ana", "DELETE", "/games/"+game, "")
	r.empty()
	if rows := r.rows("GAME#" + game); len(rows) != 1 || rows["DELETED"] == nil {
		t.Errorf("%v", rows)
	}
	r.want(404, "Game not found", "ana", "GET", path, "")
	r.want(200, `"PA":0`, "cy", "GET", "/players/"+players[1]+"/stats", "")
	r.want(404, "Player not found", "ana", "GET", stats, "")
}

// A tap adds runs to the current score and counts once, however often it is sent.
func TestRuns(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "scorekeeper")
	game := r.game("ana", team, players...)
	path := "/games/" + game + "/runs"
	const tap = "01JT6XQ0Z8M1C3V5N7B9D1F3H"
	r.want(400, "Runs need an Idempotency-Key", "ana", "POST", path, `{"teamScore":1}`)
	r.want(400, "The Idempotency-Key of runs must be a ULID", "ana", "POST", path, `{"teamScore":1}`, "Idempotency-Key", "k")
	r.want(400, "teamScore must be an integer from 1 to 20", "ana", "POST", path, `{"teamScore":0}`, "Idempotency-Key", tap+"0")
	r.want(400, "No fields to update", "ana", "POST", path, `{"location":"x"}`, "Idempotency-Key", tap+"0")
	r.want(200, `"teamScore":1,"opponentScore":0`, "ana", "POST", path, `{"teamScore":1}`, "Idempotency-Key", tap+"1")
	r.want(200, `"teamScore":2,"opponentScore":0`, "scorekeeper", "POST", path, `{"teamScore":1}`, "Idempotency-Key", tap+"2")
	r.want(200, `"teamScore":7`, "ana", "PATCH", "/games/"+game, `{"teamScore":7}`)
	for range 2 {
		r.want(200, `"teamScore":8,"opponentScore":4`, "ana", "POST", path, `{"teamScore":1,"opponentScore":4}`, "Idempotency-Key", strings.ToLower(tap)+"3")
	}
	r.want(200, `"teamScore":8`, "ana", "POST", path, `{"teamScore":1}`, "Idempotency-Key", tap+"1")
	r.put(`{"PK":{"S":"GAME#far"},"SK":{"S":"METADATA"},"teamId":{"S":"` + team + `"},"teamScore":{"N":"3.0"}}`)
	r.want(200, `"teamScore":4,"opponentScore":2`, "ana", "POST", "/games/far/runs", `{"teamScore":1,"opponentScore":2}`, "Idempotency-Key", tap+"1")
}

// The rows that a request names are fetched, as another node may have written them. That includes users in the path and in the body.
func TestWhatIsAskedFor(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben")
	game := r.game("ana", team, players...)
	var asked []string
	app, err := New(Config{Service: &hacktracker.Service{Handle: hacktracker.Rows(tableName)}, Mount: "/hacktracker", Node: r.store.Node(), Scorers: presence.NewBoard(clock.Real()), Ensure: func(_ context.Context, _ string, keys ...attr.Item) error {
		for _, k := range keys {
			asked = append(asked, k["PK"].Str())
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	app.Name, app.Title, app.Mount = "hacktracker", "HackTracker", "/hacktracker"
	if r.server, err = httpapi.New(httpapi.Config{Auth: web.ByName{}, Apps: []httpapi.App{app}, Store: r.store, Clock: clock.Real()}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ method, path, body, want string }{
		{"GET", "/users/cy", "", "TEAM#" + team + " USER#ana USER#cy"},
		{"GET", "/users/context", "", "TEAM#" + team + " USER#ana"},
		{"GET", "/games/" + game, "", "GAME#" + game + " TEAM#" + team + " USER#ana"},
		{"PUT", "/teams/" + team + "/members/ben", `{"role":"manager"}`, "TEAM#" + team + " USER#ana USER#ben"},
		{"POST", "/teams/" + team + "/players/" + players[0] + "/link", `{"userId":"cy"}`, "TEAM#" + team + " USER#ana USER#cy"},
	} {
		asked = nil
		r.ask("ana", tt.method, tt.path, tt.body)
		if got := strings.Join(asked, " "); got != tt.want {
			t.Errorf("%s %s fetches %s, want %s", tt.method, tt.path, got, tt.want)
		}
	}
}

// A game's stream tells members of its team that the game has changed, and nothing else.
func TestStream(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben")
	game := r.game("ana", team, players...)
	other := id(r.want(201, "", "ana", "POST", "/games", `{"teamId":"`+team+`"}`), "gameId")
	base, stop := web.Run(t, r.server)
	for who, want := range map[string]int{"eve": 403, "-": 401} {
		s, err := web.Try(t, base+"/hacktracker/games/"+game+"/stream", map[string]string{"Authorization": "Bearer " + who})
		if who == "-" {
			s, err = web.Try(t, base+"/hacktracker/games/"+game+"/stream", nil)
		}
		if err != nil || s.Resp.StatusCode != want {
			t.Errorf("%s: %v %v", who, s.Resp, err)
		}
	}
	s := web.Open(t, base+"/hacktracker/games/"+game+"/stream", map[string]string{"Authorization": "Bearer ben", "Last-Event-ID": fmt.Sprint(r.store.Seq())})
	r.want(200, "", "ana", "PATCH", "/games/"+other, `{"location":"elsewhere"}`)
	fresh := web.Open(t, base+"/hacktracker/games/"+game+"/stream", map[string]string{"Authorization": "Bearer ben"})
	if seen := fresh.Until(web.Named("game")); seen[len(seen)-1].Data != `{"gameId":"`+game+`"}` {
		t.Errorf("the stream starts with %v", seen)
	}
	path := "/games/" + game + "/atbats"
	scored := id(r.want(201, "", "ana", "POST", path, atBat(players[0], "1B", 1, 0, 1)), "atBatId")
	steps := []func(){
		func() { r.want(200, "", "ana", "PUT", path+"/"+scored, `{"result":"2B"}`) },
		func() { r.want(204, "", "ana", "DELETE", path+"/"+scored, "") },
		func() { r.want(200, "", "ana", "PATCH", "/games/"+game, `{"teamScore":1}`) },
		func() {},
	}
	for i, do := range steps { // each event must arrive before the next step
		seen := s.Until(web.Named("game"))
		if len(seen) == 0 || seen[len(seen)-1].Data != `{"gameId":"`+game+`"}` {
			t.Fatalf("change %d: %v", i, seen)
		}
		do()
	}
	s.Close()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// Rows of the original are read, counted and corrected: without index keys, with their time as key, with a lineup of ids.
func TestForeignRows(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben")
	p := players[0]
	r.put(`{"PK":{"S":"GAME#far"},"SK":{"S":"METADATA"},"gameId":{"S":"far"},"teamId":{"S":"` + team + `"},"status":{"S":"FINAL"},"teamScore":{"N":"3"},"opponentScore":{"N":"2"},
		"lineup":{"L":[{"S":"` + p + `"}]},"createdAt":{"S":"2025-10-25T12:00:00.000Z"},"updatedAt":{"S":"x"},"GSI3PK":{"S":"TEAM#` + team + `"},"GSI3SK":{"S":"GAME#far"}}`)
	for i, result := range []string{"1B", "SAC"} {
		r.put(fmt.Sprintf(`{"PK":{"S":"GAME#far"},"SK":{"S":"ATBAT#2025-10-25T12:0%d:00.000Z"},"atBatId":{"S":"u%d"},"playerId":{"S":%q},"result":{"S":%q},"hitType":{"S":"fly_ball"},"inning":{"N":"1"},"outs":{"N":"0"},"battingOrder":{"N":"1"},"rbis":{"N":"1"},"createdAt":{"S":"2025-10-25T12:0%d:00.000Z"},"updatedAt":{"S":"x"}}`, i, i, p, result, i))
	}
	r.want(200, `"lineup":[{"playerId":"`+p+`","battingOrder":1}]`, "ana", "GET", "/games/far", "")
	stats := `"PA":2,"AB":1,"H":1,"2B":0,"3B":0,"HR":0,"RBI":2,"BB":0,"HBP":0,"K":0,"SF":1,"SH":0,"TB":1,"AVG":1.000,"OBP":0.500`
	r.want(200, stats, "ben", "GET", "/players/"+p+"/stats", "")
	r.want(200, `"wins":1,"losses":0,"ties":0,"runsFor":3,"runsAgainst":2,"lastFive":["W"],"batting":{`+stats, "ana", "GET", "/teams/"+team+"/stats", "")
	r.want(200, `"lineScore":[2]`, "ana", "GET", "/games/far/boxscore", "")
	r.want(200, `"result":"2B"`, "ana", "PUT", "/games/far/atbats/u0", `{"result":"2B"}`)
	r.want(200, `"atBatId":"u0"`, "ana", "GET", "/games/far/atbats/u0", "")
	r.want(204, "", "ana", "DELETE", "/games/far/atbats/u1", "")
	r.want(200, `"PA":1`, "ben", "GET", "/players/"+p+"/stats?teamId="+team, "")
	r.put(`{"PK":{"S":"TEAM#` + team + `"},"SK":{"S":"PLAYER#far"},"firstName":{"S":"Far"},"userId":{"S":"ben"},"isGhost":{"BOOL":false}}`)
	r.want(200, `"count":2`, "ben", "GET", "/users/ben/players", "")
	r.want(200, `"PA":0`, "ben", "GET", "/players/far/stats", "")
	if w := r.ask("ana", "GET", "/teams/"+team+"/stats.csv", ""); !strings.Contains(w.Body.String(), "\n,Far,0,0,0,,,,,0,0,0,0,0,0,0,0,0,0,0,0,,\n") {
		t.Errorf("averages of nothing: %s", w.Body)
	}
	for i, result := range []string{"SAC", "SB"} {
		r.put(fmt.Sprintf(`{"PK":{"S":"GAME#far"},"SK":{"S":"ATBAT#z%d"},"playerId":{"S":%q},"result":{"S":%q},"rbis":{"N":"1e30"}}`, i, p, result))
	}
	r.page("ana", "/games/far", 200, "sacrifice", ": SB<")
	r.page("ana", "/games/far/score", 200, `<option value="SAC">`)
}

// Whatever is scored, corrected and taken back, state and statistics equal those of the remaining rows.
func TestEdits(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "ben", "cy", "di")
	game := r.game("ana", team, players...)
	path := "/games/" + game + "/atbats"
	results := strings.Fields("1B K BB HR OUT 2B DP SF E FC 3B HBP GO SH TP")
	var ids []string
	for i := range 40 {
		r.now = r.now.Add(time.Minute)
		switch {
		case i%7 == 5:
			n := i * 5 % len(ids)
			r.want(204, "", "ana", "DELETE", path+"/"+ids[n], "")
			ids = slices.Delete(ids, n, n+1)
		case i%5 == 4:
			r.want(200, "", "ana", "PUT", path+"/"+ids[i*3%len(ids)], fmt.Sprintf(`{"result":%q}`, results[i*7%len(results)]))
		default:
			ids = append(ids, id(r.want(201, "", "ana", "POST", path, atBat(players[len(ids)%3], results[i%len(results)], 1, 0, 1)), "atBatId"))
		}
	}
	var all []struct{ PlayerID, Result string }
	if err := json.Unmarshal(r.ask("ana", "GET", path, "").Body.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	outs, inning, pa := 0, 1, map[string]int{}
	for _, a := range all { // recounted here from the rules
		pa[a.PlayerID]++
		switch a.Result {
		case "K", "OUT", "GO", "SF", "SH":
			outs++
		case "DP":
			outs += 2
		case "TP":
			outs += 3
		}
		if outs >= 3 {
			inning, outs = inning+1, 0
		}
	}
	r.want(200, fmt.Sprintf(`"inning":%d,"outs":%d,"batter":{"playerId":%q`, inning, outs, players[len(all)%3]), "ana", "GET", "/games/"+game+"/state", "")
	var stats struct {
		Players []struct {
			PlayerID string
			PA       int
		}
	}
	if err := json.Unmarshal(r.ask("ana", "GET", "/teams/"+team+"/stats", "").Body.Bytes(), &stats); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, p := range stats.Players {
		if p.PA > 0 {
			got[p.PlayerID] = p.PA
		}
	}
	if diff := cmp.Diff(pa, got); diff != "" || len(all) != len(ids) {
		t.Errorf("%d at-bats of %d (-want +got):\n%s", len(all), len(ids), diff)
	}
}

// The operations of the OpenAPI document are the handlers.
func TestOperationsAreHandlers(t *testing.T) {
	contract.Read(t, document).CheckOperations(t, (&handlers{}).routes())
}
