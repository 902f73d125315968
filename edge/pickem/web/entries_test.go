package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every entry that pages queue counts once, however late it is sent again, and whoever sends it: a pick that somebody has changed on another
// device meanwhile stays changed.
func TestQueuedEntriesCountOnce(t *testing.T) {
	r := newRig(t)
	ids := r.card()
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"gus","name":"Gus"}`)
	var third struct{ ID string }
	const newMatch = `{"name":"Third","points":5,"teams":[{"members":["F"]},{"members":["G"]}]}`
	if err := json.Unmarshal([]byte(r.want(201, "", "admin", "POST", "/admin/events/"+event+"/matches", newMatch)), &third); err != nil {
		t.Fatal(err)
	}
	r.want(201, "", "admin", "POST", "/admin/events", `{"date":"2024-04-01","startsAt":"2024-04-01T20:00:00Z","name":"Old"}`)
	const users, events, one, picks = "/admin/users/:id", "/admin/events", "/admin/events/:id", "/app/events/:id/predictions"
	const match = one + "/matches/:match"
	at, mine := "/admin/events/"+event, "/app/events/"+event+"/predictions"
	pick := func(team int) string { return fmt.Sprintf(`{"predictions":{%q:%d}}`, ids[1], team) }
	result := func(team int) string { return fmt.Sprintf(`{"results":{%q:0,%q:%d}}`, ids[0], ids[1], team) }
	entries := web.ReadEntries(
		"admin key POST /admin/users /admin/users "+`{"userId":"kim","name":"Kim"}`,
		"admin key PATCH "+users+" /admin/users/max "+`{"name":"Max"}`,
		"admin key POST "+events+" "+events+" "+`{"date":"2024-05-01","startsAt":"2024-05-01T20:00:00Z","name":"New"}`,
		"admin key DELETE "+one+" /admin/events/2024-04-01-old",
		"admin key PATCH "+one+" "+at+" "+`{"name":"Revolution"}`,
		"admin key DELETE "+match+" "+at+"/matches/"+third.ID,
		"admin key PUT "+one+"/order "+at+"/order "+fmt.Sprintf(`{"matchIds":[%q,%q]}`, ids[1], ids[0]),
		"admin key PATCH "+match+" "+at+"/matches/"+ids[0]+" "+`{"name":"Tag Teams"}`,
		"sam - PUT "+picks+" "+mine+" "+pick(0),
		"sam - PUT "+picks+" "+mine+" "+pick(1),
		"admin key PUT "+one+"/state "+at+"/state "+`{"state":"broadcast"}`,
		"admin key PUT "+one+"/state "+at+"/state "+`{"state":"upcoming"}`,
		"sam - PUT "+picks+" "+mine+" "+pick(0),
		"admin key POST "+one+"/matches "+at+"/matches "+newMatch,
		"admin key POST "+one+"/card "+at+"/card Fourth,5,false,,H|I",
		"admin key PUT "+one+"/state "+at+"/state "+`{"state":"broadcast"}`,
		"admin key PUT "+one+"/results "+at+"/results "+result(0),
		"admin key PUT "+one+"/results "+at+"/results "+result(1),
	)
	var routes []string
	for _, route := range r.app.Routes {
		routes = append(routes, route.Method+" "+route.Path)
	}
	web.CheckCovered(t, routes, entries, map[string]string{
		"DELETE " + users: "no page deletes a user", "POST " + one + "/score": "it counts anew, from the picks and results",
	})
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	all := web.Entries{
		Handler: r.server.Handler(), Seq: r.store.Seq, Mount: "/pickem", Devices: [2]string{phone, handover.NewDevice()}, Hash: hash,
		As: func(who string) (name, value string) {
			if who == "key" {
				return "X-API-Key", "key"
			}
			return "Authorization", "Bearer " + who
		},
	}
	all.CheckOnce(t, entries)
}
