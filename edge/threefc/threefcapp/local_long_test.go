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

// rows are those of the game in DynamoDB, by sort key.
func (f *local) rows() map[string]attr.Item {
	f.T.Helper()
	all := map[string]attr.Item{}
	r := remote.Reading{Table: table, KeyCondition: "pk = :game", Params: expr.Params{Values: attr.Item{":game": attr.S("GAME#g")}}}
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

// differ says in what DynamoDB's rows of the game are not what they have to be: so many goals and changes, and what a row's data has in it.
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

// same waits until both nodes answer the same, in which there is what is wanted.
func (f *local) same(what, path, has string) (answer string) {
	f.T.Helper()
	f.Until(what, func() bool {
		answer = f.want("a", "GET", path, "")
		return strings.Contains(answer, has) && answer == f.want("b", "GET", path, "")
	})
	return answer
}

// eventOf is the id of the goal that an answer is about.
func eventOf(answer string) string {
	_, after, _ := strings.Cut(answer, `"eventId":"`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// nextSecond waits until a goal comes after those before it: of goals of one second none is the later.
func (f *local) nextSecond() {
	f.T.Helper()
	at := time.Now()
	f.Until("the next second", func() bool { return time.Since(at) > time.Second })
}

// The story of the application, over DynamoDB Local: somebody signs in and makes a game, both nodes are cut off, twenty goals are recorded
// at each, some asked for twice, at one node or at both; goals are changed, one is deleted, and one undone. When the nodes have met, both
// and the cloud have the goals that are left, with equal tallies and state, and no person is asked. The game ends, and both have its table.
func TestStoryOverDynamoDB(t *testing.T) {
	f := newLocal(t)
	f.game(true)
	const goals = "/v1/games/g/goals"
	key := func(at string, n int) []string { return []string{"Idempotency-Key", fmt.Sprintf("%s-%d", at, n)} }
	const last = 19
	bodies := map[string]string{"a": goal("red", "blue"), "b": goal("yellow", "red")}
	tap := func(at, of string, n int) string { // all but the last were queued: they have their moment, in one minute at both nodes
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
			if n%5 == 0 && tap(at, at, n) != id { // the page has not heard of it
				t.Errorf("goal %d of %s, asked for again, is another", n, at)
			}
		}
		if n < 3 && tap("a", "b", n) != events["b"][n] { // a phone has changed its node
			t.Errorf("goal %d of both nodes is two", n)
		}
	}
	f.want("b", "PATCH", goals+"/"+opening, goal("blue", "yellow"), key("b", 100)...)              // known to both
	f.want("a", "PATCH", goals+"/"+events["a"][4], goal("blue", "yellow"), key("a", 100)...)       // not sent yet
	f.want("a", "PATCH", goals+"/"+events["b"][0], `{"concedingTeamId":"blue"}`, key("a", 101)...) // of both nodes
	f.want("a", "DELETE", goals+"/"+events["a"][7], "", key("a", 102)...)
	f.want("b", "POST", goals+"/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, events["b"][last]), key("b", 101)...)
	for at, want := range map[string]int{"a": 1 + 20 + 3 - 1, "b": 1 + 20 - 1} {
		if n, board := f.goals(at); n != want {
			t.Errorf("%s has %d goals while it is cut off, want %d: %s", at, n, want, board)
		}
	}

	f.Heal()
	const left, changes = 1 + 40 - 2, 1 + 40 + 5
	// 18 of a against blue and 18 of b against red, and the three that were changed.
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
