package pickemapp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node has what another one made as soon as it is asked for it, and can then be cut off: the invitation, the event, the pick. What
// nobody has is 404 or 403; what a node cannot know because it is cut off is 503.
func TestMadeElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Two(t, nodes.Options{App: New})
		f.Pass(time.Minute)
		want := func(status int, at, user, method, path, body string, parts ...string) string {
			t.Helper()
			got, h, answer := f.Send(at, user, method, "/pickem"+path, body)
			if got == 503 && (h.Get("Retry-After") == "" || !strings.Contains(answer, `"code":"unknown_now"`)) || got != status {
				t.Errorf("%s %s %s at %s: %d %s, want %d", user, method, path, at, got, answer, status)
			}
			for _, part := range parts {
				if !strings.Contains(answer, part) {
					t.Errorf("%s %s at %s has no %q: %s", method, path, at, part, answer)
				}
			}
			f.Pass(time.Second)
			return answer
		}
		invite := func(user string) {
			t.Helper()
			want(201, "a", nodes.Boss, "POST", "/admin/users", fmt.Sprintf(`{"userId":%q,"name":"A user"}`, user))
		}
		event := func(in time.Duration) (path, match string) {
			t.Helper()
			at := f.Clock.Now().Add(in).UTC()
			id := at.Format(time.DateOnly) + "-gala"
			want(201, "a", nodes.Boss, "POST", "/admin/events", fmt.Sprintf(`{"date":%q,"startsAt":%q,"name":"Gala"}`, id[:10], at.Format(time.RFC3339)))
			var m struct{ ID string }
			answer := want(201, "a", nodes.Boss, "POST", "/admin/events/"+id+"/matches", `{"name":"Main","points":5,"teams":[{"members":["A"]},{"members":["B"]}]}`)
			if err := json.Unmarshal([]byte(answer), &m); err != nil {
				t.Fatal(err)
			}
			return "/app/events/" + id, m.ID
		}
		pick := func(match string, team int) string { return fmt.Sprintf(`{"predictions":{%q:%d}}`, match, team) }

		want(403, "b", "sam", "GET", "/app/events", "")
		invite("sam")
		want(200, "b", "sam", "GET", "/app/events", "")
		far, match := event(200 * 24 * time.Hour)
		want(404, "b", "sam", "GET", "/app/events/nowhere", "")
		want(200, "b", "sam", "GET", far, "", match)
		want(200, "a", "sam", "PUT", far+"/predictions", pick(match, 1))
		want(200, "b", "sam", "GET", far, "", fmt.Sprintf(`"predictions":{%q:1}`, match))

		f.Cut("b")
		want(200, "b", "sam", "PUT", far+"/predictions", pick(match, 0))
		invite("tom")
		unseen, _ := event(300 * 24 * time.Hour)
		want(503, "b", "tom", "GET", "/app/events", "")
		want(503, "b", "sam", "GET", unseen, "")
		want(503, "b", "sam", "PUT", unseen+"/predictions", pick(match, 0))
		f.Heal("b")
		f.Pass(2 * time.Minute)
		want(200, "b", "tom", "GET", "/app/events", "")
		want(200, "b", "sam", "GET", unseen, "")
		f.Quiet()
	})
}
