package web

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every entry that pages queue counts once, however late it is sent again, and whoever sends it.
func TestQueuedEntriesCountOnce(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.ask("guest", "POST", "/guess", guessBody("crane"))
	team, old := r.team("u1", "u2"), r.team("u1")
	mate := func(user string) string { return fmt.Sprintf(`{"team_id":%q,"user_id":%q}`, team, user) }
	of := func(team string) string { return fmt.Sprintf(`{"team_id":%q}`, team) }
	entries := web.ReadEntries(
		"u1 - POST /guess /guess "+guessBody("crane"),
		"u1 - POST /guess /guess "+guessBody("manna"),
		"u1 - PUT /profile /profile "+`{"displayName":"One"}`,
		"u1 - PUT /profile /profile "+`{"displayName":"Two"}`,
		"u3 - POST /convert-session /convert-session "+fmt.Sprintf(`{"session_id":%q}`, guest),
		"admin u2 PUT /puzzles /puzzles "+`{"date":"2026-02-20","word":"crane"}`,
		"admin u2 PUT /puzzles /puzzles "+`{"date":"2026-02-20","word":"slate"}`,
		"u1 u2 POST /team /team "+`{"team_name":"Third"}`,
		"u2 - POST /team/accept /team/accept "+of(team),
		"u1 u2 PUT /team/teammate /team/teammate "+mate("u4")[:len(mate("u4"))-1]+`,"role":"member"}`,
		"u1 u2 DELETE /team/teammate /team/teammate "+mate("u4"),
		"u2 - DELETE /team/teammate /team/teammate "+mate("u2"),
		"u1 u2 DELETE /team /team "+of(old),
	)
	var routes []string
	for _, route := range r.app.Routes {
		routes = append(routes, route.Method+" "+route.Path)
	}
	web.CheckCovered(t, routes, entries, map[string]string{
		"POST /session": "a page asks for it when it is opened", "POST /puzzles/cache/clear": "no page clears it",
	})
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	all := web.Entries{
		Handler: r.server.Handler(), Seq: r.store.Seq, Mount: "/scorekeeper", Devices: [2]string{phone, handover.NewDevice()}, Hash: hash,
		As: func(who string) (name, value string) { return "Authorization", "Bearer " + who },
	}
	all.CheckOnce(t, entries)
}
