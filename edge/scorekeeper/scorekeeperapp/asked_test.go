package scorekeeperapp

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node has what another one made as soon as it is asked for it, and can then be cut off. What nobody has is 404; what a node cannot know
// because it is cut off is 503, and its page says so.
func TestMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Two(t, nodes.Options{App: New})
		f.Pass(10 * time.Second)
		want := func(status int, at, user, method, path, body string, parts ...string) string {
			t.Helper()
			got, h, answer := f.Send(at, user, method, "/scorekeeper"+path, body)
			if got == 503 && (h.Get("Retry-After") == "" || !strings.Contains(answer, `"code":"UNAVAILABLE"`)) || got != status {
				t.Errorf("%s %s at %s: %d %s, want %d", method, path, at, got, answer, status)
			}
			for _, part := range parts {
				if !strings.Contains(answer, part) {
					t.Errorf("%s %s at %s has no %q: %s", method, path, at, part, answer)
				}
			}
			f.Pass(time.Second)
			return answer
		}
		day := func(ago int) string { return f.Clock.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
		guess := func(day, word string) string {
			return fmt.Sprintf(`{"puzzle_date_iso_day":%q,"word_guessed":%q}`, day, word)
		}
		puzzle := func(day string) {
			t.Helper()
			want(200, "a", nodes.Boss, "PUT", "/puzzles", fmt.Sprintf(`{"date":%q,"word":"manna"}`, day))
		}
		want(404, "b", "u1", "POST", "/guess", guess(day(0), "crane"))
		want(200, "b", "u1", "GET", "/-/days/"+day(0), "", "There is no puzzle for this day yet")
		puzzle(day(0))
		want(200, "b", "u1", "POST", "/guess", guess(day(0), "crane"))
		want(200, "a", "u1", "GET", "/game/"+day(0), "", `"moves_qty":1`)

		want(200, "b", "u2", "GET", "/game/"+day(0), "", `"moves_qty":0`)
		want(200, "a", "u2", "POST", "/guess", guess(day(0), "slate"))
		want(200, "b", "u2", "GET", "/game/"+day(0), "", `"moves_qty":1`)

		for _, n := range []string{"u1", "u2"} {
			want(200, "a", n, "PUT", "/profile", fmt.Sprintf(`{"displayName":%q}`, n))
		}
		var team string
		if _, after, found := strings.Cut(want(201, "a", "u1", "POST", "/team", `{"team_name":"Wizards"}`), `"team_id":"`); found {
			team, _, _ = strings.Cut(after, `"`)
		}
		want(200, "b", "u1", "GET", "/team?team_id="+team, "", "Wizards")
		want(403, "b", "u2", "GET", "/team?team_id="+team, "")
		want(200, "a", "u1", "PUT", "/team/teammate", fmt.Sprintf(`{"team_id":%q,"user_id":"u2","role":"member"}`, team))
		want(200, "b", "u2", "GET", "/team?team_id="+team, "", "Wizards")

		f.Cut("b")
		puzzle(day(300))
		want(200, "b", "u1", "POST", "/guess", guess(day(0), "slate"))
		want(503, "b", "u1", "POST", "/guess", guess(day(300), "crane"))
		want(503, "b", "u1", "GET", "/game/"+day(300), "")
		want(503, "b", nodes.Boss, "GET", "/puzzles/"+day(300), "")
		want(503, "b", "u1", "GET", "/team?team_id=unheard", "")
		want(200, "b", "u1", "GET", "/-/days/"+day(300), "", "cannot reach the cloud")
		f.Heal("b")
		f.Pass(time.Minute)
		want(200, "b", "u1", "POST", "/guess", guess(day(300), "crane"))
		f.Quiet()
	})
}
