package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/simcloud"
)

// pairOfNodes is a fleet whose requests are expected to be answered with a status.
type pairOfNodes struct{ *fleet }

func newPairOfNodes(t *testing.T) *pairOfNodes {
	t.Helper()
	return &pairOfNodes{newFleet(t)}
}

// want sends the user's request, which must be answered with a status; it returns the answer.
func (f *pairOfNodes) want(status int, at, method, path, body string, headers ...string) string {
	f.T.Helper()
	got, h, answer := f.Send(at, "", method, "/3fc"+path, body, append([]string{"Cookie", f.cookie}, headers...)...)
	known := got != 503 || h.Get("Retry-After") != "" && strings.Contains(answer, `"code":"unknown_now"`)
	if got != status || !known {
		f.T.Errorf("%s %s at %s: %d %s %q, want %d", method, path, at, got, answer, h.Get("Retry-After"), status)
	}
	return answer
}

// made sends the user's request to node a, and lets it reach the cloud.
func (f *pairOfNodes) made(path, body string, headers ...string) string {
	f.T.Helper()
	answer := f.want(201, "a", "POST", path, body, headers...)
	f.Pass(time.Second)
	return answer
}

// game creates a league, a season, a session and a game with a running third, with the names given, and a player of each team.
func (f *pairOfNodes) game(league, game string) {
	f.T.Helper()
	f.made("/v1/leagues", fmt.Sprintf(`{"leagueId":%q,"name":"League"}`, league))
	f.made("/v1/leagues/"+league+"/seasons", fmt.Sprintf(`{"seasonId":"s%s","name":"Season"}`, league))
	f.made("/v1/seasons/s"+league+"/sessions", fmt.Sprintf(`{"sessionId":"d%s","sessionDate":"2026-07-04"}`, league))
	f.made("/v1/sessions/d"+league+"/games", fmt.Sprintf(`{"gameId":%q,"gameStartTs":"2026-07-04T10:00:00Z"}`, game))
	for _, team := range []string{"red", "blue", "yellow"} {
		f.made("/v1/games/"+game+"/players", fmt.Sprintf(`{"playerId":"%s%s","nickname":"P"}`, team, game))
		f.want(200, "a", "PUT", "/v1/games/"+game+"/roster/"+team+game, fmt.Sprintf(`{"teamId":%q}`, team))
	}
	f.want(200, "a", "POST", "/v1/games/"+game+"/thirds/1/start", "")
	f.Pass(time.Second)
}

func goalBy(by, against, scorer string) string {
	return fmt.Sprintf(`{"scoringTeamId":%q,"concedingTeamId":%q,"scorerPlayerId":%q,"ownGoal":false}`, by, against, scorer)
}

// member returns a text member of a JSON answer.
func member(answer, name string) string {
	_, after, _ := strings.Cut(answer, `"`+name+`":"`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

// A node has what another one made as soon as it is asked for it, also in a game that it polls, and can then be cut off. What nobody has
// is 404; what a node cannot know because it is cut off is 503, and what was deleted there is 404 again.
func TestMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.want(404, "b", "GET", "/v1/games/g1", "")
		f.game("l1", "g1")
		f.want(200, "b", "GET", "/v1/games/g1", "")
		f.want(200, "b", "GET", "/-/games/g1", "")
		f.Pass(time.Minute) // b polls the game every five seconds

		goal := member(f.made("/v1/games/g1/goals", goalBy("red", "blue", "redg1")), "eventId")
		f.want(200, "b", "PATCH", "/v1/games/g1/goals/"+goal, `{"assistPlayerIds":[]}`)
		f.made("/v1/games/g1/players", `{"playerId":"late","nickname":"Late"}`)
		f.want(200, "a", "PUT", "/v1/games/g1/roster/late", `{"teamId":"red"}`)
		f.Pass(time.Second)
		f.want(201, "b", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "late"))
		f.Pass(3 * time.Second)
		last := member(f.made("/v1/games/g1/goals", goalBy("red", "blue", "redg1")), "eventId")
		f.want(200, "b", "POST", "/v1/games/g1/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, last))

		f.Cut("b")
		unseen := member(f.made("/v1/games/g1/goals", goalBy("red", "blue", "redg1")), "eventId")
		f.want(201, "b", "POST", "/v1/games/g1/goals", goalBy("yellow", "blue", "yellowg1"))
		f.want(503, "b", "DELETE", "/v1/games/g1/goals/"+unseen, "")
		f.want(503, "b", "POST", "/v1/games/g1/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, unseen))
		f.want(503, "b", "GET", "/v1/games/nowhere", "")
		f.want(503, "b", "GET", "/-/games/nowhere", "")
		f.want(503, "b", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "unheard"))
		f.want(200, "b", "DELETE", "/v1/games/g1/goals/"+goal, "")
		f.want(404, "b", "DELETE", "/v1/games/g1/goals/"+goal, "")
		f.Heal("b")
		f.Pass(time.Minute)
		f.want(200, "b", "DELETE", "/v1/games/g1/goals/"+unseen, "")
		f.Quiet()
	})
}

// An entry that is sent again to the other node, with its key, gets the first answer there, at once.
func TestRepeatedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.want(200, "b", "GET", "/v1/games/g1", "")
		f.Pass(time.Minute)
		for _, one := range []struct {
			status             int
			method, path, body string
		}{
			{201, "POST", "/v1/games/g1/players", `{"playerId":"p1","nickname":"Late"}`},
			{200, "PUT", "/v1/games/g1/roster/p1", `{"teamId":"red"}`},
			{201, "POST", "/v1/games/g1/goals", goalBy("red", "blue", "p1")},
			{201, "POST", "/v1/sessions/dl1/games", `{"gameId":"g2","gameStartTs":"2026-07-04T11:00:00Z"}`},
		} {
			key := []string{"Idempotency-Key", "key of " + one.path}
			first := f.want(one.status, "a", one.method, one.path, one.body, key...)
			f.Pass(time.Second)
			again := f.want(one.status, "b", one.method, one.path, one.body, key...)
			for _, name := range []string{"playerId", "eventId", "gameId", "joinCode"} {
				if tap(member(again, name)) != tap(member(first, name)) { // a goal's id has the time of the node that took it, until that of the first has arrived
					t.Errorf("%s %s: first %s, then %s", one.method, one.path, first, again)
				}
			}
		}
		f.Pass(time.Minute)
		if a, b := f.want(200, "a", "GET", "/v1/games/g1/goals", ""), f.want(200, "b", "GET", "/v1/games/g1/goals", ""); a != b {
			t.Errorf("the goals are %s and %s", a, b)
		}
		f.Quiet()
	})
}

// A node that is cut off takes the join code that its own row of the game shows.
func TestJoinWithoutTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		code := member(f.want(200, "b", "GET", "/v1/games/g1", ""), "joinCode")
		f.Cut("b")
		f.want(201, "b", "POST", "/v1/join/"+code, `{"nickname":"Joe"}`)
		f.want(503, "b", "POST", "/v1/join/ABCDEFGH", `{"nickname":"Joe"}`)
		f.Heal("b")
		f.Pass(time.Minute)
		f.want(404, "b", "POST", "/v1/join/ABCDEFGH", `{"nickname":"Joe"}`)
		f.Quiet()
	})
}

// If the line is silent, a node waits for it once, then says that it cannot be known now.
func TestSilentLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.Pass(time.Minute)
		f.Links["b"].SetMode(simcloud.Partition)
		begin := time.Now()
		f.want(503, "b", "GET", "/v1/games/nowhere", "")
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// An address with the name of a league or season that was made elsewhere is known at once, by id and by slug. A node that is cut off says that
// it cannot know one.
func TestAddressesMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.want(404, "b", "GET", "/v1/public/leagues/sunday/seasons", "")
		f.made("/v1/leagues", `{"leagueId":"l1","name":"Sunday","slug":"sunday"}`)
		f.made("/v1/leagues/l1/seasons", `{"seasonId":"s1","name":"Summer","slug":"summer"}`)
		f.want(200, "b", "GET", "/v1/public/leagues/sunday/seasons", "")
		f.want(200, "b", "GET", "/-/sunday/summer", "")

		f.made("/v1/leagues", `{"leagueId":"l2","name":"Monday"}`)
		f.want(200, "b", "GET", "/v1/public/leagues/l2/seasons", "")
		f.made("/v1/leagues/l1/seasons", `{"seasonId":"s2","name":"Winter","slug":"winter"}`)
		f.want(200, "b", "GET", "/-/sunday/winter", "")
		f.want(404, "b", "GET", "/-/sunday/autumn", "")

		f.Cut("b")
		f.made("/v1/leagues", `{"leagueId":"l3","name":"Tuesday","slug":"tuesday"}`)
		f.want(503, "b", "GET", "/v1/public/leagues/tuesday/seasons", "")
		f.want(503, "b", "GET", "/v1/public/leagues/l3/seasons", "")
		f.want(200, "b", "GET", "/v1/public/leagues/sunday/seasons", "")
		f.Heal("b")
		f.Pass(time.Minute)
		f.want(200, "b", "GET", "/v1/public/leagues/tuesday/seasons", "")
		f.want(204, "a", "DELETE", "/v1/leagues/l3", "")
		f.Pass(time.Minute)
		f.want(404, "b", "GET", "/v1/public/leagues/tuesday/seasons", "")
		f.Quiet()
	})
}
