package cricketapp

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
)

// elsewhere is two nodes and the original program, which writes to their tables.
type elsewhere struct {
	*nodes.Fleet
	original simcloud.Foreign
}

// writes has the original write a row.
func (e *elsewhere) writes(table string, row any) {
	e.T.Helper()
	it, err := attr.Marshal(row)
	if err == nil {
		err = e.original.Put(table, it)
	}
	if err != nil {
		e.T.Fatal(err)
	}
}

// match has the original write a match that is about to begin.
func (e *elsewhere) match(id string) {
	e.T.Helper()
	e.writes(tables.Fixtures, matches.Fixture{
		MatchID: id, LeagueID: 3, LeagueCode: "T20I", StartTime: time.Now().Add(time.Hour), Type: "T20I", Phase: cricket.PhasePrematch, Status: "NS",
	})
}

// want sends a user's request, which must be answered with a status.
func (e *elsewhere) want(status int, at, method, path, body string) {
	e.T.Helper()
	user := "ana"
	if method == http.MethodPatch && !strings.HasPrefix(path, "/user") {
		user = nodes.Boss
	}
	got, h, answer := e.Send(at, user, method, "/cricket"+path, body)
	known := got != http.StatusServiceUnavailable || h.Get("Retry-After") != "" && strings.Contains(answer, "cannot be known now")
	if got != status || !known {
		e.T.Errorf("%s %s at %s: %d %s, want %d", method, path, at, got, answer, status)
	}
}

// What was made at one node, or by another program, is there as soon as the other node is asked for it, which can then be cut off. What nobody
// has is 404, and what a node cannot know because it is cut off is 503.
func TestMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Two(t, nodes.Options{App: New})
		e := &elsewhere{f, simcloud.Foreign{Cloud: f.Cloud, Name: "original"}}
		e.Pass(time.Minute)
		e.want(404, "b", "GET", "/matches/5", "")
		e.match("5")
		e.want(200, "b", "GET", "/matches/5", "")
		e.want(404, "b", "GET", "/user/follow/5", "")
		e.want(201, "a", "POST", "/user/follow/5", "{}")
		e.Pass(time.Second)
		e.want(200, "b", "GET", "/user/follow/5", "")
		e.want(200, "b", "PATCH", "/user/follow/5", `{"teamId":10}`)
		e.Pass(time.Second)
		e.want(204, "b", "DELETE", "/user/follow/5", "")
		e.Pass(time.Second)

		e.want(404, "b", "GET", "/leagues/3", "")
		e.writes(tables.Leagues, map[string]any{"leagueId": "3", "name": "T20 Internationals", "active": true})
		e.want(200, "b", "GET", "/leagues/3", "")
		e.writes(tables.Teams, map[string]any{"teamId": "10", "name": "England"})
		e.want(200, "b", "PATCH", "/teams/10", `{"name":"Lions"}`)
		e.Pass(time.Second)
		e.want(200, "a", "GET", "/teams/10", "")

		device := `{"deviceToken":"` + strings.Repeat("ab", 32) + `","platform":"ios"}`
		e.want(404, "b", "GET", "/user/device", "")
		e.want(201, "a", "POST", "/user/device", device)
		e.Pass(time.Second)
		e.want(200, "b", "GET", "/user/device", "")

		e.Cut("b")
		e.match("6")
		e.want(503, "b", "GET", "/matches/6", "")
		e.want(503, "b", "POST", "/user/follow/6", "{}")
		e.want(503, "b", "GET", "/leagues/9", "")
		e.want(503, "b", "PATCH", "/teams/11", `{"name":"Lions"}`)
		e.want(200, "b", "GET", "/matches/5", "")
		e.want(201, "b", "POST", "/user/follow/5", "{}")
		e.Heal("b")
		e.Pass(time.Minute)
		e.want(201, "b", "POST", "/user/follow/6", "{}")
		e.Pass(time.Second)
		e.want(200, "a", "GET", "/user/follow/6", "")
		e.Quiet()
	})
}
