package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// correct does something to a goal at a node, for schedules.
func (f *pairOfNodes) correct(at, what, goal string) {
	f.T.Helper()
	path := "/v1/games/g1/goals/" + goal
	switch what {
	case "cut":
		f.Cut(at)
	case "heal":
		f.Heal(at)
		f.Pass(time.Minute)
	case "assist":
		f.want(200, at, "PATCH", path, `{"assistPlayerIds":["late"]}`, "Idempotency-Key", at+"-assist")
	case "own goal":
		f.want(200, at, "PATCH", path, `{"ownGoal":true,"scoringTeamId":null,"concedingTeamId":"red"}`)
	case "undo":
		f.want(200, at, "POST", "/v1/games/g1/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, goal), "Idempotency-Key", at+"-undo")
	case "delete":
		f.want(200, at, "DELETE", path, "")
	}
	f.Pass(10 * time.Millisecond)
}

// A goal that is changed at one node and taken back at another is taken back, whichever reaches the cloud first. Nobody is asked to decide; the
// scorers of both nodes are shown what was changed. One that was taken back at both, or by whoever had changed it, needs no words.
func TestGoalThatIsChangedAndTakenBack(t *testing.T) {
	const none, own, assisted = "", "Own goal: P (Red)", "P (Red) against Blue"
	for name, tt := range map[string]struct{ steps, said string }{
		"the change comes late":               {"a cut,a assist,b undo,a heal", assisted},
		"the undo comes late":                 {"b cut,b undo,a assist,b heal", assisted},
		"the deletion comes late":             {"b cut,b delete,a own goal,b heal", own},
		"both were cut off, the undo first":   {"a cut,b cut,a own goal,b undo,b heal,a heal", own},
		"both were cut off, the change first": {"a cut,b cut,a own goal,b undo,a heal,b heal", own},
		"two changes come late":               {"a cut,a assist,a own goal,b undo,a heal", own},
		"a change and its undo come late":     {"a cut,a assist,a undo,b own goal,a heal", own},
		"changed and taken back there":        {"a cut,a assist,b own goal,b undo,a heal", assisted},
		"taken back at both":                  {"a cut,a assist,a undo,b undo,a heal", none},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newPairOfNodes(t)
				f.game("l1", "g1")
				f.made("/v1/games/g1/players", `{"playerId":"late","nickname":"Late"}`)
				f.want(200, "a", "PUT", "/v1/games/g1/roster/late", `{"teamId":"red"}`)
				f.Pass(time.Second)
				goal := member(f.made("/v1/games/g1/goals", goalBy("red", "blue", "redg1")), "eventId")
				f.want(200, "b", "GET", "/v1/games/g1", "")
				f.Pass(time.Minute)
				for step := range strings.SplitSeq(tt.steps, ",") {
					at, what, _ := strings.Cut(step, " ")
					f.correct(at, what, goal)
				}
				f.Pass(5 * time.Minute)
				f.Quiet()
				for _, at := range []string{"a", "b"} {
					if game := f.want(200, at, "GET", "/v1/games/g1", ""); strings.Contains(game, goal) {
						t.Errorf("%s still has the goal: %s", at, game)
					}
					for _, path := range []string{"/-/games/g1/score", "/-/games/g1/conflicts"} {
						page := f.want(200, at, "GET", path, "", "Accept", "text/html")
						_, note, is := strings.Cut(page, "at two devices. It does not count: ")
						note, _, _ = strings.Cut(note, ". If it was")
						if is != (tt.said != none) || !strings.Contains(note, tt.said) {
							t.Errorf("%s at %s shows %q, want %q", path, at, note, tt.said)
						}
					}
				}
				f.Knows("a", "GAME#g1")
				f.Knows("b", "GAME#g1")
			})
		})
	}
}
