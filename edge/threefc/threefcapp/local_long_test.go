//go:build long

package threefcapp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/dynamo"
	"github.com/touchline/touchline/sync/replica/remote"
)

// local is a fleet over DynamoDB Local.
type local struct {
	*fleet
	client *dynamo.Client
}

func newLocal(t *testing.T) *local {
	t.Helper()
	f := &local{fleet: &fleet{mails: t.TempDir()}}
	f.Fleet, f.client = nodes.TwoLocal(t, f.options())
	f.signIn()
	return f
}

// rows returns the game's rows in DynamoDB by sort key.
func (f *local) rows() map[string]attr.Item {
	f.T.Helper()
	all := map[string]attr.Item{}
	r := remote.Reading{Table: table, Consistent: true, KeyCondition: "pk = :game", Params: expr.Params{Values: attr.Item{":game": attr.S("GAME#g")}}}
	for {
		page, err := f.client.Read(f.T.Context(), r)
		if err != nil {
			f.T.Fatal(err)
		}
		for _, it := range page.Items {
			all[it["sk"].Str()] = it
		}
		if r.After = page.LastKey; r.After == nil {
			return all
		}
	}
}

// differ lists how the game's rows in DynamoDB differ from the expected numbers of goals and changes, and from the expected data of rows.
func (f *local) differ(goals, changes int, has map[string][]string) (out []string) {
	f.T.Helper()
	rows := f.rows()
	for prefix, want := range map[string]int{"GOAL#": goals, "GOAL_EVENT#": goals, "AUDIT#GOAL#": changes} {
		n := 0
		for sk := range rows {
			if strings.HasPrefix(sk, prefix) {
				n++
			}
		}
		if n != want {
			out = append(out, fmt.Sprintf("%d of %s, want %d", n, prefix, want))
		}
	}
	for sk, all := range has {
		for _, want := range all {
			if got := rows[sk]["data"].Str(); !strings.Contains(got, want) {
				out = append(out, fmt.Sprintf("%s: %s, want %s", sk, got, want))
			}
		}
	}
	return out
}

// same waits until both nodes give the same answer and it contains has.
func (f *local) same(what, path, has string) (answer string) {
	f.T.Helper()
	f.Until(what, func() bool {
		answer = f.want("a", "GET", path, "")
		return strings.Contains(answer, has) && answer == f.want("b", "GET", path, "")
	})
	return answer
}

// eventOf returns the id of the goal in an answer.
func eventOf(answer string) string {
	_, after, _ := strings.Cut(answer, `"eventId":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// nextSecond waits until a new goal is later than all before: goals of one second have no order in time.
func (f *local) nextSecond() {
	f.T.Helper()
	at := time.Now()
	f.Until("the next second", func() bool { return time.Since(at) > time.Second })
}

// The application over DynamoDB Local, from start to end: a user signs in and creates a game. Both nodes are disconnected and record twenty
// goals each; some requests are sent twice, to one node or to both. Goals are changed, one is deleted and one undone. Once the nodes have
// synced, both and the cloud have the remaining goals with equal tallies and state, and no person is asked. The game ends, and both nodes
// have its table.
func TestStoryOverDynamoDB(t *testing.T) {
	f := newLocal(t)
	f.game(true)
	const goals = "/v1/games/g/goals"
	key := func(at string, n int) []string { return []string{"Idempotency-Key", fmt.Sprintf("%s-%d", at, n)} }
	const last = 19
	bodies := map[string]string{"a": goal("red", "blue"), "b": goal("yellow", "red")}
	tap := func(at, of string, n int) string { // all but the last were queued and carry the time of the tap, in the same minute at both nodes
		headers := key(of, n)
		if n < last {
			headers = append(headers, "Touchline-Occurred-Ago", "100")
		}
		return eventOf(f.want(at, "POST", goals, bodies[of], headers...))
	}
	opening := eventOf(f.want("a", "POST", goals, goal("yellow", "blue"), "Prefer", "wait=20"))
	f.same("the first goal", goals, opening)

	f.Cut()
	events := map[string][]string{}
	for n := range last + 1 {
		if n == last {
			f.nextSecond()
		}
		for _, at := range []string{"a", "b"} {
			id := tap(at, at, n)
			events[at] = append(events[at], id)
			if n%5 == 0 && tap(at, at, n) != id { // the page missed the answer
				t.Errorf("goal %d of %s, requested again, got another id", n, at)
			}
		}
		if n < 3 && tap("a", "b", n) != events["b"][n] { // a phone switched to the other node
			t.Errorf("goal %d of both nodes got two ids", n)
		}
	}
	f.want("b", "PATCH", goals+"/"+opening, goal("blue", "yellow"), key("b", 100)...)              // known to both
	f.want("a", "PATCH", goals+"/"+events["a"][4], goal("blue", "yellow"), key("a", 100)...)       // not sent yet
	f.want("a", "PATCH", goals+"/"+events["b"][0], `{"concedingTeamId":"blue"}`, key("a", 101)...) // recorded at both nodes
	f.want("a", "DELETE", goals+"/"+events["a"][7], "", key("a", 102)...)
	f.want("b", "POST", goals+"/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, events["b"][last]), key("b", 101)...)
	for at, want := range map[string]int{"a": 1 + 20 + 3 - 1, "b": 1 + 20 - 1} {
		if n, board := f.goals(at); n != want {
			t.Errorf("%s has %d goals while disconnected, want %d: %s", at, n, want, board)
		}
	}

	f.Heal()
	const left, changes = 1 + 40 - 2, 1 + 40 + 5
	// 18 goals of a against blue, 18 of b against red, and the three changed goals.
	const board = "[{red 18 18} {blue 2 19} {yellow 19 2}]"
	f.Until("the goals at both", func() bool {
		a, boardA := f.goals("a")
		b, boardB := f.goals("b")
		return a == left && b == left && boardA == board && boardB == board
	})
	timeline := f.same("one timeline", goals, `"eventId"`)
	latest := eventOf(timeline[strings.LastIndex(timeline, `"eventId":"`):])
	has := map[string][]string{
		"GOAL_STATE":  {fmt.Sprintf(`"latestEventId":%q`, latest), fmt.Sprintf(`"revision":%d`, changes)},
		"TEAM#red":    {`"scored":18,"conceded":18`},
		"TEAM#blue":   {`"scored":2,"conceded":19`},
		"TEAM#yellow": {`"scored":19,"conceded":2`},
	}
	var differ []string
	defer func() {
		if t.Failed() {
			t.Log("in DynamoDB", differ)
		}
	}()
	f.Until("DynamoDB", func() bool {
		differ = f.differ(left, changes, has)
		return len(differ) == 0
	})
	f.Drained()
	f.Quiet()

	for n := 1; n <= 3; n++ {
		if n > 1 {
			f.want("b", "POST", fmt.Sprint("/v1/games/g/thirds/", n, "/start"), "")
		}
		f.want("b", "POST", fmt.Sprint("/v1/games/g/thirds/", n, "/finish"), "")
	}
	f.want("b", "POST", "/v1/games/g/finish", "", "Idempotency-Key", "end")
	f.same("the end", "/v1/games/g", `"winnerTeamId":"yellow"`)
	for path, has := range map[string]string{
		"standings": `"rank":1,"teamId":"yellow"`, "standings?table=blissett": `"rank":1,"teamId":"yellow"`, "leaderboards/players": `"goals":19`,
	} {
		f.same("the season's "+path, "/v1/public/seasons/s/"+path, has)
	}
	has["METADATA"] = []string{`"winnerTeamId":"yellow"`}
	f.Until("the result in DynamoDB", func() bool {
		differ = f.differ(left, changes, has)
		return len(differ) == 0
	})
	f.Drained()
	f.Quiet()
}
