package hacktrackerapp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// fleet is two nodes in a bubble with the application over one cloud, or one node over DynamoDB Local.
type fleet struct{ *nodes.Fleet }

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return &fleet{nodes.Two(t, nodes.Options{App: New})}
}

// sees waits until a node's answer contains a text.
func (f *fleet) sees(node, path, part string) {
	f.T.Helper()
	f.Until(node+" "+path+" has "+part, func() bool {
		_, answer := f.Ask(node, "ana", "GET", mount+path, "")
		return strings.Contains(answer, part)
	})
}

// inCloud waits until an item in the cloud has a value.
func (f *fleet) inCloud(pk, sk, name, value string) {
	f.T.Helper()
	f.Until(pk+" "+sk+" in the cloud", func() bool {
		return f.Cloud.Item("hacktracker-prod", attr.Item{"PK": attr.S(pk), "SK": attr.S(sk)})[name].Text() == value
	})
}

const mount = "/hacktracker"

// made returns a member of the answer to a request that creates a record.
func (f *fleet) made(node, path, body, name string) string {
	f.T.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(f.Want(node, "ana", "POST", mount+path, body)), &m); err != nil {
		f.T.Fatal(err)
	}
	return fmt.Sprint(m[name])
}

// newTeam returns a fleet whose nodes both have a team of ana's with players, and a game in progress with them in the lineup.
func newTeam(t *testing.T) (f *fleet, team, game string, players []string) {
	t.Helper()
	f = newFleet(t)
	team = f.made("a", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`, "teamId")
	var slots []string
	for i, name := range []string{"Abe", "Bob", "Cy"} {
		p := f.made("a", "/teams/"+team+"/players", fmt.Sprintf(`{"firstName":%q}`, name), "playerId")
		players = append(players, p)
		slots = append(slots, fmt.Sprintf(`{"playerId":%q,"battingOrder":%d}`, p, i+1))
	}
	game = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q,"status":"IN_PROGRESS","lineup":[%s]}`, team, strings.Join(slots, ",")), "gameId")
	f.inCloud("GAME#"+game, "METADATA", "status", "IN_PROGRESS")
	f.sees("b", "/games/"+game, `"IN_PROGRESS"`)
	f.sees("b", "/teams/"+team+"/players", `"count":4`)
	f.sees("b", "/users/context", `"has_managed_context":true`)
	f.Knows("b", "TEAM#"+team, "GAME#"+game)
	return f, team, game, players
}

func (f *fleet) score(node, game, player, result string, order int, headers ...string) {
	f.T.Helper()
	body := fmt.Sprintf(`{"playerId":%q,"result":%q,"inning":1,"outs":0,"battingOrder":%d}`, player, result, order)
	if status, answer := f.Ask(node, "ana", "POST", mount+"/games/"+game+"/atbats", body, headers...); status >= http.StatusBadRequest {
		f.T.Fatalf("%s: %d %s", node, status, answer)
	}
}

// Two scorers at two disconnected nodes score one game. Nothing is lost, and both nodes and the cloud end with the same rows. A plate
// appearance that both scored is reported, not removed. One that the same phone sent to both nodes counts once.
func TestOneGameAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, team, game, players := newTeam(t)
		f.Cut()
		for i, result := range []string{"1B", "K", "HR", "BB", "FO"} {
			f.score("a", game, players[i%3], result, i%3+1)
			f.score("b", game, players[i%3], []string{"1B", "2B", "3B", "GO", "E"}[i], i%3+1)
			f.Pass(time.Second)
		}
		const phone = "01JT6XQ0Z8M1C3V5N7B9D1F3H5"
		f.score("a", game, players[2], "DP", 3, "Idempotency-Key", phone)
		f.score("b", game, players[2], "DP", 3, "Idempotency-Key", phone)
		f.Want("a", "ana", "PATCH", mount+"/games/"+game, `{"location":"Pier Field"}`)
		f.Want("b", "ana", "PATCH", mount+"/games/"+game, `{"opponentScore":2}`)
		for i, node := range []string{"a", "b", "a", "b"} { // four taps, one of which the phone sent to both nodes
			tap := []string{phone, phone, "01JT6XQ0Z8M1C3V5N7B9D1F3H6", "01JT6XQ0Z8M1C3V5N7B9D1F3H7"}[i]
			f.Want(node, "ana", "POST", mount+"/games/"+game+"/runs", `{"teamScore":1}`, "Idempotency-Key", tap)
		}
		f.Heal()
		var answers [2]string
		f.Until("both have all", func() bool {
			for i, node := range []string{"a", "b"} {
				_, answers[i] = f.Ask(node, "ana", "GET", mount+"/games/"+game+"/boxscore", "")
			}
			return answers[0] == answers[1] && strings.Contains(answers[0], `"totals":{"PA":11`) && strings.Contains(answers[0], `"teamScore":3,"opponentScore":2`) && strings.Contains(answers[0], "Pier Field")
		})
		if strings.Contains(answers[0], `"possibleDoubles":[]`) {
			t.Error("the appearance scored twice is not reported")
		}
		f.sees("b", "/teams/"+team+"/stats", `"PA":11`)
		f.Quiet()
	})
}

// Both nodes assign number 12: one player gets it, the other stays without a number and is marked.
func TestNumberAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, team, _, players := newTeam(t)
		f.Cut()
		f.Want("a", "ana", "POST", mount+"/teams/"+team+"/players", `{"firstName":"Deb","playerNumber":12}`)
		f.Pass(time.Second)
		if status, answer := f.Ask("b", "ana", "POST", mount+"/teams/"+team+"/players", `{"firstName":"Eve","playerNumber":12}`, "Idempotency-Key", "k"); status != http.StatusCreated {
			t.Fatal(answer)
		}
		f.Want("b", "ana", "PUT", mount+"/teams/"+team+"/players/"+players[0], `{"playerNumber":13,"lastName":"Lee"}`)
		f.Pass(time.Second)
		f.Want("a", "ana", "PUT", mount+"/teams/"+team+"/players/"+players[1], `{"playerNumber":13}`)
		f.Heal("a")
		f.inCloud("TEAM#"+team, "PLAYER#"+players[1], "playerNumber", "13")
		f.Heal("b")
		for _, node := range []string{"a", "b"} {
			f.sees(node, "/teams/"+team+"/players", `"numberRefused":12`)
			f.sees(node, "/teams/"+team+"/players", `"numberRefused":13`)
			f.sees(node, "/teams/"+team+"/players", `"count":6`)
			f.sees(node, "/teams/"+team+"/players/"+players[0], `"lastName":"Lee"`)
		}
		f.Quiet()
	})
}

// Both nodes start a game. The second to reach the cloud is scheduled again, with the lineup that was set with its start.
func TestStartAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, team, game, players := newTeam(t)
		f.Want("a", "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)
		var games [2]string
		for i := range games {
			games[i] = f.made("a", "/games", fmt.Sprintf(`{"teamId":%q}`, team), "gameId")
			f.inCloud("GAME#"+games[i], "METADATA", "status", "SCHEDULED")
			f.sees("b", "/games/"+games[i], `"SCHEDULED"`)
		}
		f.sees("b", "/games/"+game, `"FINAL"`)
		f.Knows("b", "TEAM#"+team, "GAME#"+game, "GAME#"+games[0], "GAME#"+games[1])
		f.Cut()
		start := fmt.Sprintf(`{"status":"IN_PROGRESS","lineup":[{"playerId":%q,"battingOrder":1}]}`, players[0])
		f.Want("a", "ana", "PATCH", mount+"/games/"+games[0], start)
		f.Pass(time.Second)
		f.Want("b", "ana", "PATCH", mount+"/games/"+games[1], start)
		f.Heal("a")
		f.inCloud("TEAM#"+team, "LIVE#GAME", "gameId", games[0])
		f.Heal("b")
		for _, node := range []string{"a", "b"} {
			f.sees(node, "/games/"+games[0], `"IN_PROGRESS"`)
			f.sees(node, "/games/"+games[1], `"status":"SCHEDULED"`)
			f.sees(node, "/games/"+games[1], players[0])
		}
		f.Quiet()
	})
}

// Both nodes finish a game; the end that reached the cloud first counts. Then both delete the game and a player with a number.
func TestTheSameAtBothNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, team, game, _ := newTeam(t)
		player := f.made("a", "/teams/"+team+"/players", `{"firstName":"Deb","playerNumber":12}`, "playerId")
		f.sees("b", "/teams/"+team+"/players", player)
		f.Knows("b", "TEAM#"+team)
		f.Cut()
		final := func(node string) (at string) {
			var g struct{ FinalAt string }
			if err := json.Unmarshal([]byte(f.Want(node, "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)), &g); err != nil {
				t.Fatal(err)
			}
			return g.FinalAt
		}
		first := final("a")
		f.Pass(time.Second)
		if second := final("b"); second == first || first == "" {
			t.Fatalf("%q and %q", first, second)
		}
		f.Heal("a")
		f.inCloud("GAME#"+game, "METADATA", "status", "FINAL")
		f.Heal("b")
		for _, node := range []string{"a", "b"} {
			f.sees(node, "/games/"+game, `"finalAt":"`+first+`"`)
		}
		f.Quiet()
		f.Cut()
		for _, node := range []string{"a", "b"} {
			f.Want(node, "ana", "DELETE", mount+"/games/"+game, "")
			f.Want(node, "ana", "DELETE", mount+"/teams/"+team+"/players/"+player, "")
			f.Pass(time.Second)
		}
		f.Heal("a")
		f.inCloud("GAME#"+game, "METADATA", "status", "")
		f.Heal("b")
		for _, node := range []string{"a", "b"} {
			f.sees(node, "/games/"+game, "Game not found")
			f.sees(node, "/teams/"+team+"/players", `"count":4`)
		}
		f.Quiet()
	})
}

// At-bats from before another node finished the game count; for later ones a person decides.
func TestAtBatsOfAFinishedGame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, game, players := newTeam(t)
		f.Cut("b")
		f.score("b", game, players[0], "1B", 1)
		f.Pass(time.Second)
		f.Want("a", "ana", "PATCH", mount+"/games/"+game, `{"status":"FINAL"}`)
		f.inCloud("GAME#"+game, "METADATA", "status", "FINAL")
		f.score("b", game, players[1], "2B", 2)
		f.Heal("b")
		for _, node := range []string{"a", "b"} {
			f.sees(node, "/games/"+game+"/boxscore", `"totals":{"PA":1`)
		}
		f.Until("a person is asked", func() bool {
			return strings.Contains(f.Want("b", "boss", "GET", "/_/api/conflicts?state=open", ""), "ATBAT#")
		})
	})
}
