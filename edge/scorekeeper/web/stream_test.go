package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/testrig/web"
)

// A player's stream reports changes in the teams they are in at the time, and in no others, both live and after a last event ID.
func TestStreamIsOfOwnTeams(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	base, _ := web.Run(t, r.server)
	open := func(who, behind string) *web.Stream {
		return web.Open(t, base+"/scorekeeper/stream", map[string]string{"Authorization": "Bearer " + who, "Last-Event-ID": behind})
	}
	behind := fmt.Sprint(r.store.Seq())
	teams := map[string]string{}
	found := func(who string) {
		var team struct {
			ID string `json:"team_id"`
		}
		if err := json.Unmarshal(r.want(201, "", who, "POST", "/team", `{"team_name":"Wizards"}`).Body.Bytes(), &team); err != nil {
			t.Fatal(err)
		}
		teams[who] = team.ID
	}
	mate := func(method, team, user string) {
		r.want(200, "", team, method, "/team/teammate", fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":"member"}`, teams[team], user))
	}
	plays := func(who, date string) {
		r.answer(date, "manna")
		r.want(200, "", who, "POST", "/guess", fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":"crane"}`, date))
	}
	// A stream's events come in order: the next event that arrives proves that there was none before it.
	told := func(who string, s *web.Stream, want string) {
		t.Helper()
		seen := s.Until(func(m web.Message) bool { return m.Name != "" })
		if m := seen[len(seen)-1]; m.Name != "board" || m.Data != want {
			t.Fatalf("%s: %+v, want %s", who, m, want)
		}
	}
	next := func(who string, s *web.Stream, field, is string) {
		t.Helper()
		told(who, s, fmt.Sprintf(`{%q:%q}`, field, is))
	}
	streams := map[string]*web.Stream{}
	for _, who := range []string{"ann", "ben", "cid"} {
		streams[who] = open(who, "")
		told(who, streams[who], "{}") // the first event names nothing; from here on each change is reported
	}
	team := func(who, of string) { t.Helper(); next(who, streams[who], "team_id", teams[of]) }
	played := func(who, date string) { t.Helper(); next(who, streams[who], "puzzle_date_iso_day", date) }

	plays("ann", "2026-01-01") // ann is in no team yet: nobody is notified
	found("ann")
	team("ann", "ann")
	found("cid")
	team("cid", "cid")
	mate("PUT", "ann", "ben")
	team("ann", "ann")
	team("ben", "ann")
	plays("ben", "2026-01-06") // ben has not accepted: ann is not told that they have played
	played("ben", "2026-01-06")
	r.want(200, "", "ben", "POST", "/team/accept", fmt.Sprintf(`{"team_id":%q}`, teams["ann"]))
	team("ann", "ann")
	team("ben", "ann")
	plays("cid", "2026-01-02")
	played("cid", "2026-01-02")
	r.want(200, "", "guest", "POST", "/guess", guessBody("crane"))
	plays("ben", "2026-01-03")
	played("ann", "2026-01-03")
	played("ben", "2026-01-03")
	mate("PUT", "cid", "ben") // ben is in two teams now: ann hears nothing of the other one
	team("ben", "cid")
	team("cid", "cid")
	mate("DELETE", "ann", "ben")
	team("ann", "ann")
	team("ben", "ann")
	plays("ann", "2026-01-04")
	played("ann", "2026-01-04")
	plays("cid", "2026-01-05")
	played("cid", "2026-01-05")
	played("ben", "2026-01-05")

	again := open("ben", behind) // a reader who reconnects is sent what they missed and may see now
	next("ben", again, "puzzle_date_iso_day", "2026-01-06")
	next("ben", again, "puzzle_date_iso_day", "2026-01-02")
	next("ben", again, "puzzle_date_iso_day", "2026-01-03")
	next("ben", again, "team_id", teams["cid"])
	next("ben", again, "team_id", teams["ann"])
	next("ben", again, "puzzle_date_iso_day", "2026-01-05")
}
