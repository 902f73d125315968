package pickem

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/web"
)

func (r *rig) page(who, path string, status int, has ...string) string {
	r.t.Helper()
	w := web.Ask(r.server.Handler(), "GET", "/pickem/-"+path, "", append(headersOf(who), "Accept", "text/html")...)
	if w.Code != status {
		r.t.Errorf("%s: %s: %d, want %d", who, path, w.Code, status)
	}
	for _, part := range has {
		if !strings.Contains(w.Body.String(), part) {
			r.t.Errorf("%s: %s has no %s", who, path, part)
		}
	}
	return w.Body.String()
}

// The pages through the life of an event: nothing, open, partly picked, locked, live results, scored, no contest.
func TestPages(t *testing.T) {
	r := newRig(t)
	r.want(201, "", "admin", "POST", "/admin/users", `{"userId":"eve","name":"Eve"}`)
	r.page("eve", "/", 200, "There is no event yet.")
	r.page("eve", "/standings", 200, "No event of this year was scored yet.")
	ids := r.card()
	const at, admin = "/events/" + event, "/admin/events/" + event

	r.page("sam", "/", 200, "AEW Revolution", "You have picked 0 of 2", "Locks in", `data-countdown="locked"`)
	open := r.page("sam", at, 200, "The C", "A &amp; B", "champion", fmt.Sprintf(`name="predictions.%s" value="1" data-type="number"`, ids[0]),
		`action="/pickem/app/events/`+event+`/predictions" data-queue="PUT"`, fmt.Sprintf(`data-until="%d"`, start.Add(-time.Hour).UnixMilli()), "data-local")
	if strings.Contains(open, "✓") || strings.Contains(open, "Everybody") {
		t.Errorf("nothing was picked: %s", open)
	}
	r.page("eve", "/admin", 403)
	r.page("nobody", "/", 403)
	r.page("admin", "/admin", 200, "Make the event", "sam H")
	r.page("admin", admin, 200, "Lock now", "Put on the card", `name="matchIds[]" value="`+ids[1], "Take Title off the card")

	r.want(200, "", "sam", "PUT", "/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, ids[0]))
	r.page("sam", at, 200, "✓ The C")
	if other := r.page("max", at, 200); strings.Contains(other, "✓") {
		t.Error("another's pick is seen before the lock")
	}
	if editor := r.page("admin", admin, 200); strings.Contains(editor, "Everybody") {
		t.Error("an admin sees picks before the lock")
	}
	r.now = start.Add(-time.Hour)
	if locked := r.page("sam", at, 200, "You picked The C."); strings.Contains(locked, "data-queue") {
		t.Error("a locked card takes picks")
	}
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/state", `{"state":"broadcast"}`)
	r.page("admin", admin, 200, "2 results missing", "No contest", `data-queue="PUT"`)
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:1}}`, ids[0]))
	r.page("max", at, 200, "1. sam H", "The C ✓", "The C won.")
	r.want(200, "", "admin", "PUT", "/admin/events/"+event+"/results", fmt.Sprintf(`{"results":{%q:null}}`, ids[1]))
	r.page("admin", admin, 200, "points as below", "✓ No contest")
	r.want(200, "", "admin", "POST", "/admin/events/"+event+"/score", "")
	r.page("max", at, 200, "No contest.")
	r.page("max", "/standings", 200, "1. sam H", "Change", "=")
	r.page("sam", "/me", 200, event)
	r.page("sam", "/events/none", 404)
}
