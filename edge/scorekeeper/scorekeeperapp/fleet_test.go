package scorekeeperapp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
)

// fleet is two nodes in a bubble with the application and one cloud.
type fleet struct{ *nodes.Fleet }

func newFleet(t *testing.T) *fleet {
	t.Helper()
	<-time.After(12 * time.Hour) // noon, so that what was a minute ago is of the same day
	return &fleet{nodes.Two(t, nodes.Options{App: New})}
}

// ask sends a user's request to the application of a node.
func (f *fleet) ask(at, user, method, path, body string, headers ...string) (status int, answer string) {
	f.T.Helper()
	return f.Ask(at, user, method, "/scorekeeper"+path, body, headers...)
}

// guess sends a guess with an age, which does not count: time decides between players.
func (f *fleet) guess(at, word string, ago int) {
	f.T.Helper()
	today := time.Now().UTC().Format(scorekeeper.Day)
	body := fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, today, word)
	if status, answer := f.ask(at, "u1", "POST", "/guess", body, "Touchline-Occurred-Ago", fmt.Sprint(ago), "Idempotency-Key", word); status != http.StatusOK {
		f.T.Fatalf("%s at %s: %d %s", word, at, status, answer)
	}
}

// A player guesses at two nodes that are cut off from each other. Once they are connected, the first six guesses by the time of their
// arrival count, whatever ages are claimed, at both nodes and in the cloud. The others are reported.
func TestGuessesAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		today := time.Now().UTC().Format(scorekeeper.Day)
		if status, answer := f.ask("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today)); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
		f.guess("a", "crane", 90)
		var game struct {
			Moves   int                         `json:"moves_qty"`
			Graded  [][]struct{ Letter string } `json:"moves"`
			Dropped []string
		}
		read := func(at string) (words []string) {
			game.Moves, game.Graded, game.Dropped = 0, nil, nil
			status, answer := f.ask(at, "u1", "GET", "/game/"+today, "")
			if status == http.StatusOK && json.Unmarshal([]byte(answer), &game) != nil {
				t.Fatalf("%s", answer)
			}
			for _, m := range game.Graded {
				w := ""
				for _, l := range m {
					w += l.Letter
				}
				words = append(words, w)
			}
			return words
		}
		f.Until("the other node has the puzzle and the game", func() bool { return len(read("b")) == 1 })

		f.Cut()
		for i, words := range [][2]string{{"slate", "fjord"}, {"moist", "vexed"}, {"proud", "waltz"}, {"brick", "joust"}} {
			f.guess("a", words[0], 20*i)
			f.Pass(10 * time.Second)
			f.guess("b", words[1], 20*i+3600)
			f.Pass(10 * time.Second)
		}
		f.Heal()

		want := strings.Fields("crane slate fjord moist vexed proud")
		var told []string
		for _, at := range []string{"a", "b"} {
			f.Until("six guesses at "+at, func() bool {
				words := read(at)
				told = append(told, game.Dropped...)
				return slices.Equal(words, want)
			})
		}
		f.Until("the cloud has them", func() bool {
			var g scorekeeper.Game
			return attr.Unmarshal(f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey("u1", today)), &g) == nil && slices.Equal(g.Guesses, want)
		})
		f.Quiet()
		slices.Sort(told)
		if told = slices.Compact(told); !slices.Equal(told, strings.Fields("brick joust waltz")) {
			t.Errorf("the dropped words reported are %v", told)
		}
	})
}

// An answer changed at another node, or by another program in the cloud, re-grades the guesses here: no cache keeps the old one.
func TestAnswerChangedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		today := time.Now().UTC().Format(scorekeeper.Day)
		set := func(word string) {
			t.Helper()
			if status, answer := f.ask("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":%q}`, today, word)); status != http.StatusOK {
				t.Fatalf("%d %s", status, answer)
			}
		}
		right := func(at string) int {
			_, answer := f.ask(at, "u1", "GET", "/game/"+today, "")
			return strings.Count(answer, `"correct"`)
		}
		set("manna")
		f.Until("the other node has the puzzle", func() bool {
			status, _ := f.ask("b", "u1", "GET", "/game/"+today, "")
			return status == http.StatusOK
		})
		f.guess("b", "crane", 0)
		if n := right("b"); n != 1 {
			t.Errorf("%d letters of crane are right for manna, want the n", n)
		}
		set("crane")
		f.Until("the other node grades anew", func() bool { return right("b") == 5 })
		item := scorekeeper.AnswerKey(today)
		item["puzzle_date"], item["word"] = attr.S(today), attr.S("slate")
		if err := (simcloud.Foreign{Cloud: f.Cloud, Name: "aws"}).Put("scorekeeper-prod", item); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{"a", "b"} {
			f.Until("what somebody put into the cloud counts at "+at, func() bool { return right(at) == 2 })
		}
	})
}

// written returns the write units of all writes, except for the rows in which nodes describe themselves. Rows are smaller than a kilobyte, and
// cost twice as much in a transaction.
func (f *fleet) written() (units int) {
	for _, e := range f.Cloud.Log(0) {
		if strings.HasPrefix(e.Key["id"].Str(), "node:") {
			continue
		}
		units++
		if e.Txn != 0 {
			units++
		}
	}
	return units
}

// The cost of each action of a player in the cloud, in write units. A guess costs one. A new row is written in a transaction with a proof of it.
func TestWriteUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		today := time.Now().UTC().Format(scorekeeper.Day)
		const guest = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
		costs := func(what string, want int, who, method, path, body string, headers ...string) {
			t.Helper()
			before := f.written()
			if status, answer := f.ask("a", who, method, path, body, append(headers, "Prefer", "wait=20")...); status > 299 {
				t.Fatalf("%s: %d %s", what, status, answer)
			}
			if got := f.written() - before; got != want {
				t.Errorf("%s: %d write units, want %d", what, got, want)
			}
		}
		guess := func(word string) string {
			return fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, today, word)
		}
		costs("the answer of a day", 4, "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today))
		costs("the first guess", 4, "u1", "POST", "/guess", guess("crane"))
		for word := range strings.FieldsSeq("slate moist proud brick vexed") {
			costs("guess "+word, 1, "u1", "POST", "/guess", guess(word), "Idempotency-Key", word)
		}
		costs("a profile", 4, "u1", "PUT", "/profile", `{"displayName":"Ann"}`)
		costs("another name", 1, "u1", "PUT", "/profile", `{"displayName":"Bea"}`)
		costs("a look at a game", 0, "u1", "GET", "/game/"+today, "")
		costs("a session without games", 0, "u1", "POST", "/convert-session", `{"session_id":"`+guest+`"}`)
		costs("a team: three rows in a transaction", 8, "u1", "POST", "/team", `{"team_name":"Wizards"}`)
	})
}
