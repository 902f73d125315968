package scorekeeperapp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/store/attr"
)

// does sends a request that must succeed.
func (f *fleet) does(at, user, method, path, body string) string {
	f.T.Helper()
	return f.Want(at, user, method, "/scorekeeper"+path, body)
}

// sees waits until a node's answer contains a text.
func (f *fleet) sees(at, user, path, part string) {
	f.T.Helper()
	f.Until(at+" answers "+path+" with "+part, func() bool {
		_, answer := f.ask(at, user, "GET", path, "")
		return strings.Contains(answer, part)
	})
}

// Two admins, at two nodes that are cut off, remove the same third admin: the team counts two admins, and no person has to decide.
func TestAdminTakenOutAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var team struct {
			ID string `json:"team_id"`
		}
		if err := json.Unmarshal([]byte(f.does("a", "u1", "POST", "/team", `{"team_name":"Wizards"}`)), &team); err != nil {
			t.Fatal(err)
		}
		of := func(user string) string {
			return fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":"admin"}`, team.ID, user)
		}
		f.does("a", "u1", "PUT", "/team/teammate", of("u2"))
		f.does("a", "u1", "PUT", "/team/teammate", of("u3"))
		f.sees("b", "u3", "/team?team_id="+team.ID, `"user_id":"u3"`)
		f.sees("b", "u2", "/team?team_id="+team.ID, `"user_id":"u2"`) // b reads the partitions of who asks
		f.Knows("b", "TEAM#"+team.ID, "USER#u2")                      // a membership has a row in each partition

		f.Cut()
		f.does("a", "u1", "DELETE", "/team/teammate", of("u2"))
		f.Pass(time.Second)
		f.does("b", "u3", "DELETE", "/team/teammate", of("u2"))
		f.Heal()
		admins := func() string {
			return f.Cloud.Item("scorekeeper-prod", attr.Item{"pk": attr.S("TEAM#" + team.ID), "sk": attr.S("METADATA")})["admins"].Text()
		}
		f.Until("the cloud counts two admins", func() bool { return admins() == "2" })
		f.sees("a", "u1", "/team?team_id="+team.ID, `"user_id":"u3"`)
		f.Until("the writes of both are settled", func() bool {
			for _, at := range []string{"a", "b"} {
				if status, _ := f.ask(at, "u1", "PUT", "/profile", `{"displayName":"Ann"}`, "Prefer", "wait=20"); status != 200 {
					return false
				}
			}
			return true
		})
		if n := admins(); n != "2" {
			t.Errorf("the cloud counts %s admins", n)
		}
		f.does("a", "u1", "DELETE", "/team/teammate", of("u1"))
		f.Until("another one leaves", func() bool { return admins() == "1" })
		f.Quiet()
	})
}

// The last two admins of a team leave, at two nodes that are cut off: one of them stays, at both nodes, and no person has to decide.
func TestLastAdminsLeaveAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var team struct {
			ID string `json:"team_id"`
		}
		if err := json.Unmarshal([]byte(f.does("a", "u1", "POST", "/team", `{"team_name":"Wizards"}`)), &team); err != nil {
			t.Fatal(err)
		}
		of := func(user string) string {
			return fmt.Sprintf(`{"team_id":%q,"user_id":%q,"role":"admin"}`, team.ID, user)
		}
		f.does("a", "u1", "PUT", "/team/teammate", of("u2"))
		f.sees("b", "u2", "/team?team_id="+team.ID, `"user_id":"u2"`)
		f.Knows("b", "TEAM#"+team.ID, "USER#u2") // the count of admins, and both rows of the membership

		f.Cut()
		f.does("a", "u1", "DELETE", "/team/teammate", of("u1"))
		f.Pass(time.Second)
		f.does("b", "u2", "DELETE", "/team/teammate", of("u2"))
		f.Heal()
		row := func(sk string) attr.Item {
			return f.Cloud.Item("scorekeeper-prod", attr.Item{"pk": attr.S("TEAM#" + team.ID), "sk": attr.S(sk)})
		}
		f.Until("the cloud counts one admin", func() bool { return row("METADATA")["admins"].Text() == "1" })
		stays, left := "u1", "u2"
		if row("MEMBER#u1") == nil {
			stays, left = left, stays
		}
		for _, at := range []string{"a", "b"} {
			f.sees(at, stays, "/team?team_id="+team.ID, `"role":"admin"`)
			f.Until(left+" has left at "+at, func() bool {
				status, _ := f.ask(at, left, "GET", "/team?team_id="+team.ID, "")
				return status == 403
			})
			if status, answer := f.ask(at, stays, "DELETE", "/team/teammate", of(stays)); status != 409 {
				t.Errorf("the last admin leaves at %s: %d %s", at, status, answer)
			}
		}
		f.Quiet()
	})
}

// A team, its board and its members' scores look the same at the node where they were not made.
func TestTeamAtAnotherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		today := time.Now().UTC().Format(scorekeeper.Day)
		f.does("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"crane"}`, today))
		var team struct {
			ID string `json:"team_id"`
		}
		if err := json.Unmarshal([]byte(f.does("a", "u1", "POST", "/team", `{"team_name":"Wizards"}`)), &team); err != nil {
			t.Fatal(err)
		}
		f.does("a", "u1", "PUT", "/profile", `{"displayName":"Ann"}`)
		f.does("a", "u1", "PUT", "/team/teammate", fmt.Sprintf(`{"team_id":%q,"user_id":"u2","role":"member"}`, team.ID))
		f.guess("a", "crane", 0)
		for _, k := range []attr.Item{
			scorekeeper.GameKey("u1", today), {"pk": attr.S("USER#u1"), "sk": attr.S("PROFILE")}, {"pk": attr.S("TEAM#" + team.ID), "sk": attr.S("MEMBER#u2")},
		} {
			f.Until("the cloud has all", func() bool { return f.Cloud.Item("scorekeeper-prod", k) != nil })
		}
		f.sees("b", "u2", "/team?team_id="+team.ID, `"display_name":"Ann"`)
		f.sees("b", "u2", "/scoreboard?team_id="+team.ID+"&puzzle_date_iso_day="+today, `"participants_qty":1,"score":[{`)
		f.sees("b", "u2", "/score?user_id=u1", `"won":true`)
		f.sees("b", "u1", "/history", `"games_won":1`)
		f.sees("b", "u2", "/-/teams", "Wizards")
		f.sees("b", "u2", "/-/teams/"+team.ID, "1 of 1 have played today.")
		f.does("b", "u2", "POST", "/team/accept", fmt.Sprintf(`{"team_id":%q}`, team.ID))
		f.sees("a", "u1", "/-/teams/"+team.ID, "1 of 2 have played today.")
	})
}

// guest sends a guess of a session.
func (f *fleet) guest(at, day, word string) {
	f.T.Helper()
	body := fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, day, word)
	f.Want(at, "", "POST", "/scorekeeper/guess", body, "Cookie", "wordle_session="+session, "Sec-Fetch-Site", "same-origin")
}

// Games played at another node more than a week ago are in a history, and are converted with their session.
func TestGamesOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t) // the whole table is read every 15 minutes
		before := time.Now().UTC().AddDate(0, 0, -20).Format(scorekeeper.Day)
		f.does("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, before))
		f.does("a", "u1", "POST", "/guess", fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":"manna"}`, before))
		f.guest("a", before, "crane")
		for _, user := range []string{"u1", session} {
			f.Until("the cloud has the games", func() bool { return f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey(user, before)) != nil })
		}
		f.sees("b", "u1", "/history", `"games_won":1`)
		f.sees("b", "u1", "/score", `"won":true`)
		f.Until("the other node has the session's game, and converts it", func() bool {
			return strings.Contains(f.does("b", "u2", "POST", "/convert-session", `{"session_id":"`+session+`"}`), `"converted":1`)
		})
	})
}

// At a node that is cut off, a session is converted, and the account continues its game. At another node the account had begun a game of its own
// earlier: that one stays, with the guesses made since, and no person has to decide.
func TestGuessesBehindAConversion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		today := time.Now().UTC().Format(scorekeeper.Day)
		f.does("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, today))
		f.sees("b", "boss", "/puzzles/"+today, `{"date"`)

		f.Cut("a")
		f.guess("b", "slate", 0)
		f.Until("the cloud has the account's game", func() bool { return f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey("u1", today)) != nil })
		f.guest("a", today, "crane")
		f.Pass(time.Second) // times in rows are in seconds: a game that began in the second of the conversion counts as begun after it
		if answer := f.does("a", "u1", "POST", "/convert-session", `{"session_id":"`+session+`"}`); !strings.Contains(answer, `"converted":1`) {
			t.Fatalf("not converted: %s", answer)
		}
		f.guess("a", "moist", 0)
		f.Heal()

		want := []string{"slate", "moist"}
		f.Until("the cloud has the account's game with what was guessed since", func() bool {
			var g scorekeeper.Game
			return attr.Unmarshal(f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey("u1", today)), &g) == nil && slices.Equal(g.Guesses, want) &&
				f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey(session, today)) == nil
		})
		for _, at := range []string{"a", "b"} {
			f.sees(at, "u1", "/game/"+today, `"moves_qty":2`)
		}
		f.Quiet()
	})
}

// A session is converted at one node while the other is cut off and does not know of it. Guesses made there meanwhile, in an existing game and
// as the first of another day, go to the account when the nodes are connected again and one of them has read the whole table, which it does
// every 15 minutes.
func TestGuessesOfAConvertedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		now := time.Now().UTC()
		today, yesterday := now.Format(scorekeeper.Day), now.AddDate(0, 0, -1).Format(scorekeeper.Day)
		for _, day := range []string{today, yesterday} {
			f.does("a", "boss", "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, day))
		}
		guess := f.guest
		guess("a", today, "crane")
		f.sees("b", "boss", "/puzzles/"+today, `{"date"`)
		f.sees("b", "boss", "/puzzles/"+yesterday, `{"date"`)
		f.Until("the cloud has the game", func() bool { return f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey(session, today)) != nil })

		f.Cut("a")
		guess("a", today, "slate")
		guess("a", yesterday, "moist")
		f.Until("the other node has the session's game, and converts it", func() bool { // before that, a conversion finds nothing
			return strings.Contains(f.does("b", "u1", "POST", "/convert-session", `{"session_id":"`+session+`"}`), `"converted":1`)
		})
		f.Until("the cloud has the conversion", func() bool { return f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey(session, today)) == nil })
		f.Heal()

		for day, want := range map[string][]string{today: {"crane", "slate"}, yesterday: {"moist"}} {
			f.Until("the account has the guesses of "+day, func() bool {
				var g scorekeeper.Game
				return attr.Unmarshal(f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey("u1", day)), &g) == nil && slices.Equal(g.Guesses, want) &&
					f.Cloud.Item("scorekeeper-prod", scorekeeper.GameKey(session, day)) == nil
			})
			for _, at := range []string{"a", "b"} {
				f.sees(at, "u1", "/game/"+day, fmt.Sprintf(`"moves_qty":%d`, len(want)))
			}
		}
		f.Quiet()
	})
}
