package web

import (
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every entry that pages queue counts once, however late it is sent again, and whoever sends it.
func TestQueuedEntriesCountOnce(t *testing.T) {
	r := newRig(t)
	team, players := r.team("ana", "manager", "scorekeeper", "leaver")
	game := r.game("ana", team, players...)
	other := id(r.want(201, "", "ana", "POST", "/games", `{"teamId":"`+team+`"}`), "gameId")
	ghost := func(name string) string {
		return id(r.want(201, "", "ana", "POST", "/teams/"+team+"/players", `{"firstName":"`+name+`"}`), "playerId")
	}
	linked, gone := ghost("Kim"), ghost("Gus")
	r.want(200, "", "kim", "GET", "/users/context", "")
	score := func(key string) string {
		r.want(201, "", "ana", "POST", "/games/"+game+"/atbats", atBat(players[0], "1B", 1, 0, 1), "Idempotency-Key", key)
		return key
	}
	changed, removed := score("01K4D2Z9C0AAAAAAAAAAAAAAA1"), score("01K4D2Z9C0AAAAAAAAAAAAAAA2")
	const user, teams, player, games, atBats = "/users/:user", "/teams/:team", "/teams/:team/players/:player", "/games/:game", "/games/:game/atbats"
	at, on := "/teams/"+team, "/games/"+game
	entries := web.ReadEntries(
		"ana - PUT "+user+" /users/ana "+`{"firstName":"Ana"}`,
		"ana manager POST /teams /teams "+`{"name":"Another","teamType":"MANAGED"}`,
		"ana manager PUT "+teams+" "+at+" "+`{"name":"Good News"}`,
		"leaver - POST "+teams+"/accept "+at+"/accept {}",
		"leaver - POST "+teams+"/leave "+at+"/leave {}",
		"ana manager PUT "+teams+"/members/:user "+at+"/members/scorekeeper "+`{"role":"manager"}`,
		"ana manager POST "+teams+"/players "+at+"/players "+`{"firstName":"Eve"}`,
		"ana manager PUT "+player+" "+at+"/players/"+linked+" "+`{"playerNumber":44}`,
		"ana manager POST "+player+"/link "+at+"/players/"+linked+"/link "+`{"userId":"kim"}`,
		"ana manager POST "+player+"/unlink "+at+"/players/"+linked+"/unlink {}",
		"ana manager DELETE "+player+" "+at+"/players/"+gone,
		"ana manager POST /games /games "+`{"teamId":"`+team+`"}`,
		"ana manager POST "+games+"/runs "+on+"/runs "+`{"teamScore":1}`,
		"ana manager POST "+atBats+" "+on+"/atbats "+atBat(players[0], "HR", 1, 0, 1),
		"ana manager PUT "+atBats+"/:atbat "+on+"/atbats/"+changed+" "+`{"result":"2B"}`,
		"ana manager PUT "+atBats+"/:atbat "+on+"/atbats/"+changed+" "+`{"result":"3B"}`,
		"ana manager DELETE "+atBats+"/:atbat "+on+"/atbats/"+removed,
		"ana manager PATCH "+games+" "+on+" "+`{"status":"FINAL"}`,
		"ana manager PATCH "+games+" "+on+" "+`{"status":"IN_PROGRESS"}`,
		"ana manager PUT "+games+" "+on+" "+`{"opponentName":"Rivals"}`,
		"ana manager DELETE "+games+" /games/"+other,
	)
	var routes []string
	for _, route := range r.app.Routes {
		routes = append(routes, route.Method+" "+route.Path)
	}
	web.CheckCovered(t, routes, entries, map[string]string{
		"DELETE /users/:user": "no page deletes a user", "DELETE /teams/:team": "no page deletes a team", "POST /teams/:team/recover": "no page recovers a team",
	})
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	all := web.Entries{
		Handler: r.server.Handler(), Seq: r.store.Seq, Mount: "/hacktracker", Devices: [2]string{phone, handover.NewDevice()}, Hash: hash,
		As: func(who string) (name, value string) { return "Authorization", "Bearer " + who },
	}
	all.CheckOnce(t, entries)
	r.want(200, `"IN_PROGRESS"`, "ana", "GET", on, "")
	r.want(200, `"3B"`, "ana", "GET", on+"/atbats/"+changed, "")
}
