package web

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every entry that pages queue counts once, however late it is sent again, and whoever sends it.
func TestQueuedEntriesCountOnce(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "boss", "POST", "/v1/leagues/l/access", `{"userId":"keeper@example.org","role":"admin"}`)
	_, after, _ := strings.Cut(r.want(200, "", "boss", "GET", "/v1/games/g", ""), `"joinCode":"`)
	code := after[:8]
	for _, player := range []string{"p1", "p2"} {
		r.want(201, "", "keeper", "POST", "/v1/games/g/players", `{"playerId":"`+player+`","nickname":"Player"}`)
	}
	r.want(200, "", "keeper", "PUT", "/v1/games/g/roster/p1", `{"teamId":"red"}`)
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	gone, undone, changed := r.goal(redGoal), r.goal(redGoal), r.goal(redGoal)
	const game, player, third = "/v1/games/:game", "/v1/games/:game/roster/:player", "/v1/games/:game/thirds/:third"
	const g = "/v1/games/g"
	entries := web.ReadEntries(
		"boss keeper POST /v1/leagues /v1/leagues "+`{"leagueId":"m","name":"Mine"}`,
		"boss keeper POST /v1/leagues/:league/seasons /v1/leagues/l/seasons "+`{"seasonId":"t","name":"Next","slug":"nx","startsOn":null}`,
		"boss keeper POST /v1/leagues/:league/access /v1/leagues/l/access "+`{"userId":"other@example.org","role":"scorekeeper"}`,
		"boss keeper POST /v1/seasons/:season/sessions /v1/seasons/s/sessions "+`{"sessionId":"e","sessionDate":"2026-07-11"}`,
		"boss keeper POST /v1/sessions/:session/games /v1/sessions/d/games "+`{"gameId":"h","gameStartTs":"2026-07-04T12:00:00Z"}`,
		"boss keeper PUT /v1/seasons/:season/teams/:team /v1/seasons/s/teams/red "+`{"name":"Reds"}`,
		"boss keeper PUT "+game+"/teams/:team "+g+"/teams/blue "+`{"name":"Blues"}`,
		"- - POST /v1/join/:code /v1/join/"+code+` {"nickname":"Zed"}`,
		"keeper boss POST "+game+"/players "+g+"/players "+`{"playerId":"p3","nickname":"New"}`,
		"keeper boss PUT "+player+" "+g+"/roster/p2 "+`{"teamId":"red"}`,
		"keeper boss PUT "+player+" "+g+"/roster/p2 "+`{"teamId":"blue"}`,
		"keeper boss DELETE "+player+" "+g+"/roster/p1",
		"boss keeper DELETE "+game+"/players/:player "+g+"/players/p1",
		"keeper boss POST "+game+"/goals/undo-last "+g+"/goals/undo-last "+`{"expectedEventId":"`+changed+`"}`,
		"keeper boss PATCH "+game+"/goals/:event "+g+"/goals/"+undone+" "+ownGoal,
		"keeper boss DELETE "+game+"/goals/:event "+g+"/goals/"+gone,
		"keeper boss POST "+game+"/goals "+g+"/goals "+redGoal,
		"keeper boss POST "+third+"/finish "+g+"/thirds/1/finish",
		"keeper boss POST "+third+"/start "+g+"/thirds/2/start",
		"keeper boss POST "+third+"/finish "+g+"/thirds/2/finish",
		"keeper boss POST "+third+"/start "+g+"/thirds/3/start",
		"keeper boss POST "+third+"/finish "+g+"/thirds/3/finish",
		"keeper boss POST "+game+"/finish "+g+"/finish",
	)
	var routes []string
	for _, route := range (&handlers{}).routes() {
		routes = append(routes, route.Method+" "+route.Path)
	}
	const waits, none = "somebody waits for its answer (data-now)", "no page does it"
	web.CheckCovered(t, routes, entries, map[string]string{
		"POST /v1/auth/magic/start": waits, "POST /v1/auth/magic/complete": waits, "POST /v1/auth/code/complete": waits, "POST /v1/auth/logout": waits,
		"DELETE /v1/auth/sessions": waits, "DELETE /v1/auth/sessions/:id": waits, "POST /v1/leagues/:league/sign-in-codes": waits,
		"POST /v1/leagues/:league/access/accept": waits, "POST /v1/leagues/:league/organiser-invites": waits, "POST /v1/invites/:code/accept": waits,
		"POST /v1/conflicts/:conflict/discard": waits, "POST " + game + "/conflicts/:conflict/retry": waits, "POST " + game + "/conflicts/:conflict/discard": waits,
		"DELETE /v1/leagues/:league": waits, "DELETE /v1/seasons/:season": waits, "DELETE " + game: waits,
		"PATCH " + game: none, "POST /v1/players/:player/claim": none,
	})
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	all := web.Entries{
		Handler: r.server.Handler(), Seq: r.store.Seq, Mount: "/3fc", Devices: [2]string{phone, handover.NewDevice()}, Hash: hash, After: r.export,
		As: func(who string) (name, value string) {
			if c := r.cookies[who]; c != "" {
				return "Cookie", cookieName + "=" + c
			}
			return "", ""
		},
	}
	all.CheckOnce(t, entries)
}
