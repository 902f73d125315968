package threefcapp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// A machine is replaced from a backup, and its old disk is started later, or the other way round; or a snapshot of it runs elsewhere for a
// while. Goals, corrections, goals taken back, players and games that any of them has acknowledged arrive, and nobody is asked.
func TestMachineIsReplaced(t *testing.T) {
	nodes.PlayReplaced(t, func(t *testing.T) *nodes.Replaced { return newReplaced(t).Replaced })
}

// replaced is a game that is kept at a machine that is replaced.
type replaced struct {
	*pairOfNodes
	*nodes.Replaced
	goals []string // from before the machine is copied; each write corrects or takes back one of its own
}

func newReplaced(t *testing.T) *replaced {
	w := &replaced{pairOfNodes: newPairOfNodes(t)}
	w.Replaced = &nodes.Replaced{Apart: nodes.ApartOf(w.pairOfNodes.Fleet, "3fc-prod-app"), Write: w.write}
	w.game("l1", "g1")
	for range 10 {
		w.goals = append(w.goals, member(w.made("/v1/games/g1/goals", goalBy("red", "blue", "redg1")), "eventId"))
	}
	w.pairOfNodes.want(http.StatusOK, "b", "GET", "/v1/games/g1", "")
	w.Settle()
	return w
}

func (w *replaced) write(at string, n int) {
	goal, id := w.goals[n/9*2+n%9/7], fmt.Sprintf("id%03d", n)
	has := func(what string) func(cloud map[string]attr.Item) bool {
		return func(cloud map[string]attr.Item) bool {
			for row := range cloud {
				if strings.HasPrefix(row, what) && strings.HasSuffix(row, id) {
					return true
				}
			}
			return false
		}
	}
	switch n % 9 {
	case 0, 2, 4, 8:
		id = member(w.does(at, "POST", "/games/g1/goals", goalBy("yellow", "red", "yellowg1")), "eventId")
		w.Acknowledged("goal", id, has("GAME#g1 GOAL#"))
	case 1:
		w.does(at, "PATCH", "/games/g1/goals/"+goal, `{"concedingTeamId":"yellow"}`)
		id = goal
		w.Acknowledged("correction", goal, func(cloud map[string]attr.Item) bool {
			for row, it := range cloud {
				if strings.HasPrefix(row, "GAME#g1 GOAL#") && strings.HasSuffix(row, goal) {
					return strings.Contains(it["data"].Str(), `"concedingTeamId":"yellow"`)
				}
			}
			return false
		})
	case 3:
		w.does(at, "POST", "/games/g1/players", fmt.Sprintf(`{"playerId":%q,"nickname":"P"}`, id))
		w.Acknowledged("player", id, has("GAME#g1 PLAYER#"))
	case 5:
		w.does(at, "POST", "/sessions/dl1/games", fmt.Sprintf(`{"gameId":%q,"gameStartTs":"2026-07-04T12:00:00Z"}`, id))
		w.Acknowledged("game", id, has("SESSION#dl1 GAME#"))
	case 6:
		player := fmt.Sprintf("id%03d", n-3)
		w.does(at, "PUT", "/games/g1/roster/"+player, `{"teamId":"blue"}`)
		w.Acknowledged("place", "blue#"+player, func(cloud map[string]attr.Item) bool { return cloud["GAME#g1 ROSTER#blue#"+player] != nil })
	case 7:
		w.does(at, "DELETE", "/games/g1/goals/"+goal, "")
		w.Acknowledged("goal taken back", goal, func(cloud map[string]attr.Item) bool {
			for row := range cloud {
				if strings.HasPrefix(row, "GAME#g1 GOAL#") && strings.HasSuffix(row, goal) {
					return false
				}
			}
			return true
		})
	}
}

// does sends the user's request, which must be acknowledged.
func (w *replaced) does(at, method, path, body string) (answer string) {
	w.Replaced.T.Helper()
	answer, ok := w.Asks(at, "", method, "/3fc/v1"+path, body, "", "Cookie", w.cookie)
	if !ok {
		w.Replaced.T.Fatalf("%s %s at %s: %s", method, path, at, answer)
	}
	return answer
}
