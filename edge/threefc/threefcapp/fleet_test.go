package threefcapp

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"mime/quotedprintable"
	"net/http"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

const table = "3fc-prod-app"

// fleet is two nodes with the application over one cloud, and a user signed in at the first.
type fleet struct {
	*nodes.Fleet
	mails  string
	cookie string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{mails: t.TempDir()}
	f.Fleet = nodes.Two(t, f.options())
	f.signIn()
	return f
}

// options returns the options of a node that writes its mails to a folder.
func (f *fleet) options() nodes.Options {
	return nodes.Options{App: New, Parts: func(p *node.Parts) {
		p.Mail = mail.Defaults()
		p.Mail.Mode, p.Mail.Dir, p.Mail.From = "files", f.mails, "3fc@example.org"
		p.HTTP.PublicURL = "http://3fc.example"
	}}
}

// signIn signs in by link, mail, token and cookie.
func (f *fleet) signIn() {
	f.T.Helper()
	f.want("a", "POST", "/v1/auth/magic/start", `{"email":"boss@example.org"}`)
	var token string
	f.Until("the mail", func() bool {
		token = f.token()
		return token != ""
	})
	_, h, _ := f.Send("a", "", "POST", "/3fc/v1/auth/magic/complete", fmt.Sprintf(`{"token":%q}`, token), "Prefer", "wait=20")
	f.cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
	f.Until("the session at the other node", func() bool {
		status, _ := f.ask("b", "GET", "/v1/auth/session", "")
		return status == http.StatusOK
	})
}

// token returns the token in the mail, or "" if there is none yet.
func (f *fleet) token() string {
	f.T.Helper()
	all, err := filepath.Glob(filepath.Join(f.mails, "*.eml"))
	if err != nil || len(all) == 0 {
		return ""
	}
	file, err := os.Open(all[0])
	if err != nil {
		f.T.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	msg, err := netmail.ReadMessage(file)
	if err != nil {
		return "" // it is being written
	}
	text, err := io.ReadAll(quotedprintable.NewReader(msg.Body))
	if err != nil {
		f.T.Fatal(err)
	}
	found := regexp.MustCompile(`token=(\S+)`).FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

func (f *fleet) ask(at, method, path, body string, headers ...string) (status int, answer string) {
	f.T.Helper()
	return f.Fleet.Ask(at, "", method, "/3fc"+path, body, append([]string{"Cookie", f.cookie}, headers...)...)
}

func (f *fleet) want(at, method, path, body string, headers ...string) string {
	f.T.Helper()
	status, answer := f.ask(at, method, path, body, headers...)
	if status >= http.StatusBadRequest {
		f.T.Fatalf("at %s: %s %s: %d %s", at, method, path, status, answer)
	}
	return answer
}

// game creates a game that both nodes have; with start, its first third is running.
func (f *fleet) game(start bool) {
	f.T.Helper()
	f.want("a", "POST", "/v1/leagues", `{"leagueId":"l","name":"League"}`)
	f.want("a", "POST", "/v1/leagues/l/seasons", `{"seasonId":"s","name":"Season"}`)
	f.want("a", "POST", "/v1/seasons/s/sessions", `{"sessionId":"d","sessionDate":"2026-07-04"}`)
	f.want("a", "POST", "/v1/sessions/d/games", `{"gameId":"g","gameStartTs":"2026-07-04T10:00:00Z"}`)
	for _, team := range []string{"red", "blue", "yellow"} {
		f.want("a", "POST", "/v1/games/g/players", fmt.Sprintf(`{"playerId":"%s1","nickname":"P"}`, team[:1]))
		f.want("a", "PUT", "/v1/games/g/roster/"+team[:1]+"1", fmt.Sprintf(`{"teamId":%q}`, team), "Prefer", "wait=20")
	}
	has := `"playerId":"y1"`
	if start {
		f.want("a", "POST", "/v1/games/g/thirds/1/start", "", "Prefer", "wait=20")
	}
	f.Until("the other node has the game", func() bool {
		_, roster := f.ask("b", "GET", "/v1/games/g/roster", "")
		_, game := f.ask("b", "GET", "/v1/games/g", "")
		return strings.Contains(roster, has) && (!start || strings.Contains(game, `"status":"running"`))
	})
	if f.Cloud != nil {
		f.Knows("b", "GAME#g", "SESSION#d")
	}
}

func goal(by, against string) string {
	return fmt.Sprintf(`{"scoringTeamId":%q,"concedingTeamId":%q,"scorerPlayerId":"%s1","ownGoal":false}`, by, against, by[:1])
}

// goals returns the number of goals that a node knows, and its scoreboard.
func (f *fleet) goals(at string) (n int, board string) {
	f.T.Helper()
	var v struct {
		Scoreboard struct {
			Teams []struct {
				TeamID           string
				Scored, Conceded int
			}
		}
		Timeline []struct{ EventID string }
	}
	if err := json.Unmarshal([]byte(f.want(at, "GET", "/v1/games/g/goals", "")), &v); err != nil {
		f.T.Fatal(err)
	}
	return len(v.Timeline), fmt.Sprint(v.Scoreboard.Teams)
}

func (f *fleet) row(pk, sk string) attr.Item {
	return f.Cloud.Item(table, attr.Item{"pk": attr.S(pk), "sk": attr.S(sk)})
}

// Two disconnected nodes record twenty goals each. Once they have synced, both and the cloud have forty goals with equal tallies, and no
// person is asked.
func TestDerivedRowsOfTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(true)
		f.Cut()
		for range 20 {
			f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"))
			f.want("b", "POST", "/v1/games/g/goals", goal("yellow", "red"))
			f.Pass(300 * time.Millisecond) // some are of the same second
		}
		f.Heal()
		f.Until("forty goals at both", func() bool {
			a, _ := f.goals("a")
			b, _ := f.goals("b")
			return a == 40 && b == 40
		})
		want := "[{red 20 20} {blue 0 20} {yellow 20 0}]"
		for _, at := range []string{"a", "b"} {
			if _, board := f.goals(at); board != want {
				t.Errorf("%s: %s", at, board)
			}
		}
		f.Until("the tallies in the cloud", func() bool {
			return strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), `"revision":40`) &&
				strings.Contains(f.row("GAME#g", "TEAM#red")["data"].Str(), `"scored":20,"conceded":20`) &&
				strings.Contains(f.row("GAME#g", "TEAM#blue")["data"].Str(), `"scored":0,"conceded":20`) &&
				strings.Contains(f.row("GAME#g", "TEAM#yellow")["data"].Str(), `"scored":20,"conceded":0`)
		})
		f.Quiet()
	})
}

// The same key at two nodes, one of them disconnected, creates one goal: that of the node whose row reached the cloud first, with the time that
// this node fixed. What the other node was told since about its own, by its own id, applies to that goal.
func TestOneKeyTwoNodes(t *testing.T) {
	for what, want := range map[string]string{"": "[{red 1 0} {blue 0 2} {yellow 1 0}]", "edit": "[{red 0 0} {blue 0 2} {yellow 2 0}]", "undo": "[{red 0 0} {blue 0 1} {yellow 1 0}]"} {
		t.Run("then "+what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				f.game(true)
				f.Cut("a")
				first := member(f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k1"), "eventId")
				f.Pass(3 * time.Second)
				winner := member(f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k1", "Prefer", "wait=20"), "eventId")
				if first == "" || first == winner || first[10:] != winner[10:] || first > winner {
					t.Fatalf("the goals are %s and %s", first, winner)
				}
				switch what {
				case "edit":
					f.want("a", "PATCH", "/v1/games/g/goals/"+first, `{"scoringTeamId":"yellow","scorerPlayerId":"y1"}`, "Idempotency-Key", "k3")
				case "undo":
					f.want("a", "POST", "/v1/games/g/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, first), "Idempotency-Key", "k3")
				}
				f.want("a", "POST", "/v1/games/g/goals", goal("yellow", "blue"), "Idempotency-Key", "k2")
				f.Heal()
				for _, at := range []string{"a", "b"} {
					f.Until("one goal of the key at "+at, func() bool {
						_, board := f.goals(at)
						_, all := f.ask(at, "GET", "/v1/games/g/goals", "")
						return board == want && !strings.Contains(all, first) && strings.Contains(all, winner) == (what != "undo")
					})
				}
				f.Until("the marker in the cloud", func() bool {
					return (f.row("GAME#g", "GOAL_EVENT#"+winner) != nil) == (what != "undo") && f.row("GAME#g", "GOAL_EVENT#"+first) == nil
				})
				f.Pass(time.Minute)
				f.Quiet()
			})
		})
	}
}

// Two disconnected nodes start the same third, and one of them also finishes it. The third keeps the start that reached the cloud first, and
// the end that only one node recorded. As on the pages, each request has a key, which stays answered.
func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(false)
		f.Cut()
		var start string // that of b
		for _, at := range []string{"a", "b"} {
			start = f.want(at, "POST", "/v1/games/g/thirds/1/start", "", "Idempotency-Key", "start-"+at)
			f.want(at, "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "goal-"+at)
			f.Pass(time.Second)
		}
		f.want("a", "POST", "/v1/games/g/thirds/1/finish", "", "Idempotency-Key", "finish")
		f.want("a", "POST", "/v1/games/g/thirds/2/start", "", "Idempotency-Key", "next")
		f.Heal("b")
		f.Until("the start in the cloud", func() bool { return strings.Contains(f.row("GAME#g", "METADATA")["data"].Str(), `"startedAt":"`) })
		f.Heal()
		f.Until("one start and two goals at both", func() bool {
			a, _ := f.goals("a")
			b, _ := f.goals("b")
			_, gameA := f.ask("a", "GET", "/v1/games/g", "")
			_, gameB := f.ask("b", "GET", "/v1/games/g", "")
			return a == 2 && b == 2 && gameA == gameB && strings.Contains(gameA, `"activeThird":2`)
		})
		if game, kept := f.want("a", "GET", "/v1/games/g", ""), `{"third":1,"startedAt":"`+member(start, "startedAt"); !strings.Contains(game, kept) {
			t.Errorf("the game is %s, want %s", game, kept)
		}
		for _, r := range [][3]string{{"a", "1/start", "start-a"}, {"b", "1/start", "start-b"}, {"a", "1/finish", "finish"}, {"a", "2/start", "next"}} {
			for _, at := range []string{"a", "b"} { // also at the node that did not receive the request
				f.want(at, "POST", "/v1/games/g/thirds/"+r[1], "", "Idempotency-Key", r[2])
			}
		}
		f.Quiet()
	})
}

// A goal that two nodes created for one request stays undone if the disconnected node undid it. A session whose last game is deleted while
// another node creates a game in it stays, with the new game.
func TestWhatStandsBehindIsDoneToTheOtherNodesRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(true)
		f.Cut("a")
		made := f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k")
		_, id, _ := strings.Cut(made, `"eventId":"`)
		id, _, _ = strings.Cut(id, `"`)
		f.want("a", "POST", "/v1/games/g/goals/undo-last", fmt.Sprintf(`{"expectedEventId":%q}`, id), "Idempotency-Key", "u")
		f.Pass(time.Second)
		f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k", "Prefer", "wait=20")
		f.Heal()
		f.Until("it is taken back at both and in the cloud", func() bool {
			a, _ := f.goals("a")
			b, _ := f.goals("b")
			return a == 0 && b == 0 && f.row("GAME#g", "GOAL_EVENT#"+id) == nil && strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), `"revision":2`)
		})
		f.Cut("a")
		f.want("a", "DELETE", "/v1/games/g", "", "Idempotency-Key", "d")
		f.Pass(time.Second)
		f.want("b", "POST", "/v1/sessions/d/games", `{"gameId":"h","gameStartTs":"2026-07-04T12:00:00Z"}`, "Idempotency-Key", "h", "Prefer", "wait=20")
		f.Heal()
		f.Until("one game at both", func() bool {
			a, b := f.want("a", "GET", "/v1/seasons/s/games", ""), f.want("b", "GET", "/v1/seasons/s/games", "")
			return a == b && strings.Contains(a, `"gameId":"h"`) && !strings.Contains(a, `"gameId":"g"`)
		})
		f.Quiet()
	})
}

// A game deleted at one node is removed completely from the other and from the cloud.
func TestPartitionWiped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(true)
		f.want("b", "POST", "/v1/games/g/goals", goal("red", "blue"), "Prefer", "wait=20")
		f.want("a", "DELETE", "/v1/games/g", "", "Prefer", "wait=20")
		f.Until("the cloud has nothing but the row that says so", func() bool {
			n := 0
			for _, it := range f.Cloud.Items(table) {
				if it["pk"].Str() == "GAME#g" && it["sk"].Str() != "DELETED" {
					n++
				}
			}
			return n == 0 && f.row("GAME#g", "DELETED") != nil
		})
		f.Until("the other node has heard of it", func() bool {
			status, _ := f.ask("b", "GET", "/v1/games/g", "")
			return status == http.StatusNotFound
		})
		f.Quiet()
	})
}

// The cost of a goal in the cloud, in write units, including its derived rows. The test takes the least of three measurements, because
// rows of the goal before may still arrive during one.
func TestUnitsOfAGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(true)
		f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", "k0")
		settles := func(n int) {
			f.Until(fmt.Sprint("goal ", n, " with its tallies"), func() bool {
				return strings.Contains(f.row("GAME#g", "GOAL_STATE")["data"].Str(), fmt.Sprintf(`"revision":%d`, n)) &&
					strings.Contains(f.row("GAME#g", "TEAM#blue")["data"].Str(), fmt.Sprintf(`"conceded":%d`, n)) &&
					strings.Contains(f.row("GAME#g", "TEAM#red")["data"].Str(), fmt.Sprintf(`"scored":%d`, n))
			})
		}
		settles(1)
		f.Cut("b") // its reads are not counted, but its exports would be
		least := math.Inf(1)
		for n := 2; n <= 4; n++ {
			before := f.Cloud.Units()
			f.want("a", "POST", "/v1/games/g/goals", goal("red", "blue"), "Idempotency-Key", fmt.Sprint("k", n))
			settles(n)
			least = min(least, f.Cloud.Units()-before)
		}
		if t.Logf("a goal costs %v write units", least); least > 18 {
			t.Error("more than 18")
		}
	})
}

// The cost of a game's other requests, in write units: two for each row of a transaction, including its proof; one for a single row. The
// test takes the least of several measurements, because a node's own bookkeeping may add to some.
func TestUnitsOfAGame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		f.game(false)
		f.Cut("b")
		_, code, _ := strings.Cut(f.want("a", "GET", "/v1/games/g", ""), `"joinCode":"`)
		code = code[:8]
		third := func(n int, verb string) [3]string {
			return [3]string{"POST", fmt.Sprint("/v1/games/g/thirds/", n, "/", verb)}
		}
		place := func(team string) [3]string {
			return [3]string{"PUT", "/v1/games/g/roster/r1", fmt.Sprintf(`{"teamId":%q}`, team)}
		}
		day := func(id string) [3]string {
			return [3]string{"POST", "/v1/seasons/s/sessions", fmt.Sprintf(`{"sessionId":%q,"sessionDate":"2026-07-11"}`, id)}
		}
		game := func(id string) [3]string {
			return [3]string{"POST", "/v1/sessions/d/games", fmt.Sprintf(`{"gameId":%q,"gameStartTs":"2026-07-04T12:00:00Z"}`, id)}
		}
		join := [3]string{"POST", "/v1/join/" + code, `{"nickname":"Al"}`}
		n := 0
		for _, tt := range []struct {
			what  string
			asks  [][3]string // method, path, body
			keyed bool
			units float64
			maybe float64 // of rows that are only needed until the cloud knows that what was made before has settled
		}{
			{"a join with its key: player, place, game, key, proof", [][3]string{join, join, join}, true, 10, 0},
			{"another team: place, former place with the tombstone of what was made just now, player, game, proof", [][3]string{place("blue"), place("yellow"), place("red")}, false, 10, 1},
			{"a day: two rows, season, its former row, proof", [][3]string{day("e1"), day("e2"), day("e3")}, false, 10, 0},
			{"a game: row, place, code, day, its former row, season, proof", [][3]string{game("h1"), game("h2"), game("h3")}, false, 14, 0},
			{"a start or an end: the game", [][3]string{third(1, "start"), third(1, "finish"), third(2, "start"), third(2, "finish")}, false, 1, 0},
		} {
			least := 1000.0
			for _, ask := range tt.asks {
				n++
				headers := []string{"Prefer", "wait=20"}
				if tt.keyed {
					headers = append(headers, "Idempotency-Key", fmt.Sprint("k", n))
				}
				before := f.Cloud.Units()
				f.want("a", ask[0], ask[1], ask[2], headers...)
				least = min(least, f.Cloud.Units()-before)
			}
			if least < tt.units || least > tt.units+tt.maybe {
				t.Errorf("%s: %v write units, want %v, and at most %v more", tt.what, least, tt.units, tt.maybe)
			}
		}
	})
}
