package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// last lets the last third of g1 run at node a, and returns when it has begun at b too.
func (f *pairOfNodes) last() {
	f.T.Helper()
	for third := 1; third <= 3; third++ {
		if third > 1 {
			f.want(200, "a", "POST", fmt.Sprintf("/v1/games/g1/thirds/%d/start", third), "")
		}
		if third < 3 {
			f.Pass(time.Minute)
			f.want(200, "a", "POST", fmt.Sprintf("/v1/games/g1/thirds/%d/finish", third), "")
		}
	}
	for _, team := range []string{"red", "blue", "yellow"} {
		f.want(200, "a", "PUT", "/v1/games/g1/teams/"+team, fmt.Sprintf(`{"name":%q}`, team))
	}
	f.Pass(time.Minute)
	f.want(200, "b", "GET", "/v1/games/g1", "")
	f.Pass(time.Minute)
}

// finished finishes the game at node a.
func (f *pairOfNodes) finished() {
	f.T.Helper()
	f.want(200, "a", "POST", "/v1/games/g1/thirds/3/finish", "")
	f.want(200, "a", "POST", "/v1/games/g1/finish", "")
	f.Pass(time.Second)
}

func (f *pairOfNodes) goalAtB(key string, headers ...string) (id string) {
	f.T.Helper()
	headers = append([]string{"Idempotency-Key", key}, headers...)
	return member(f.want(201, "b", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "redg1"), headers...), "eventId")
}

// A goal that a node which was cut off took before the finish counts when it arrives, with what was changed of it since, and so does one that a phone
// sends after the finish. The pages of both nodes show it, and an admin can refuse it. Nobody is asked.
func TestGoalsFromBeforeTheFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.last()
		old := member(f.made("/v1/games/g1/goals", goalBy("yellow", "red", "yellowg1")), "eventId")
		f.want(200, "b", "GET", "/v1/games/g1", "")
		f.Pass(10 * time.Second)
		f.Cut("b")
		f.want(200, "b", "PATCH", "/v1/games/g1/goals/"+old, `{"concedingTeamId":"blue"}`)
		plain := f.goalAtB("k1")
		f.Pass(time.Second)
		edited := f.goalAtB("k2")
		f.want(200, "b", "PATCH", "/v1/games/g1/goals/"+edited, `{"concedingTeamId":"yellow"}`, "Idempotency-Key", "k3")
		undone := f.goalAtB("k4")
		f.want(200, "b", "POST", "/v1/games/g1/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, undone), "Idempotency-Key", "k5")
		f.Pass(30 * time.Second)
		f.finished()
		f.Heal("b")
		f.Pass(time.Minute)
		phone := f.goalAtB("k6", "Touchline-Occurred-Ago", "100")
		f.Pass(time.Minute)
		f.Quiet()
		for _, at := range []string{"a", "b"} {
			game := f.want(200, at, "GET", "/v1/games/g1", "")
			goals := f.want(200, at, "GET", "/v1/games/g1/goals", "")
			for _, id := range []string{plain, edited, phone} {
				if !strings.Contains(goals, id) {
					t.Errorf("%s has no goal %s: %s", at, id, goals)
				}
			}
			if strings.Contains(goals, undone) || !strings.Contains(game, `"scored":3,"conceded":0,"rank":1`) || !strings.Contains(game, `"scored":1,"conceded":1,"rank":2`) {
				t.Errorf("%s has the game %s with the goals %s", at, game, goals)
			}
			for _, path := range []string{"/-/games/g1/score", "/-/games/g1/results"} {
				page := f.want(200, at, "GET", path, "", "Accept", "text/html")
				if n := strings.Count(page, "entered before the finish and arrived after it"); n != 3 || strings.Count(page, "It does not count") != 3 {
					t.Errorf("%s of %s shows %d late goals", path, at, n)
				}
			}
		}
		f.want(200, "a", "DELETE", "/v1/games/g1/goals/"+plain, "") // one tap of an admin
		f.Pass(time.Minute)
		if game := f.want(200, "b", "GET", "/v1/games/g1", ""); !strings.Contains(game, `"scored":2,"conceded":0,"rank":1`) {
			t.Errorf("the result with a refused goal: %s", game)
		}
		if row := f.row("GAME#g1", "METADATA")["data"].Str(); !strings.Contains(row, `"scored":2,"conceded":0,"rank":1`) {
			t.Errorf("the result in the cloud: %s", row)
		}
	})
}

// A goal that was tapped after another node had finished the game waits for an admin, who reads what happened in the league's words and can let it
// count or not.
func TestGoalsFromAfterTheFinish(t *testing.T) {
	for verb, counts := range map[string]bool{"retry": true, "discard": false} {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newPairOfNodes(t)
				f.game("l1", "g1")
				f.last()
				f.Cut("b")
				f.finished()
				f.Pass(time.Minute)
				goal := f.goalAtB("k1")
				f.Heal("b")
				f.Pass(time.Minute)
				page := f.want(200, "b", "GET", "/-/games/g1/conflicts", "", "Accept", "text/html")
				_, said, _ := strings.Cut(page, "Entered after the game was finished: ")
				if !strings.HasPrefix(said, "P (red) against blue, third 3, 03:") || !strings.Contains(said, ">It counts<") || !strings.Contains(said, ">It does not count<") {
					t.Errorf("the page says %s", page)
				}
				_, after, _ := strings.Cut(page, "/v1/games/g1/conflicts/")
				id, _, _ := strings.Cut(after, "/")
				f.want(400, "b", "POST", "/v1/games/g1/conflicts/"+id+"/"+verb, `{"no":1}`) // such a request does nothing
				if goals := f.want(200, "b", "GET", "/v1/games/g1/goals", ""); strings.Contains(goals, goal) {
					t.Errorf("the goal counts after a refused request: %s", goals)
				}
				f.want(200, "b", "POST", "/v1/games/g1/conflicts/"+id+"/"+verb, "")
				f.Pass(time.Minute)
				for _, at := range []string{"a", "b"} {
					if goals := f.want(200, at, "GET", "/v1/games/g1/goals", ""); strings.Contains(goals, goal) != counts {
						t.Errorf("%s has %s", at, goals)
					}
				}
				f.want(201, "b", "POST", "/v1/games/g1/players", `{"playerId":"next","nickname":"N"}`)
				f.Pass(time.Minute)
				f.Quiet()
			})
		})
	}
}
