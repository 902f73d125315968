package web

import (
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// A team is created once for each key of a device, and another user does not see it. One that was created before the upgrade, when keys were
// the user's, is recognised.
func TestTeamOfADevice(t *testing.T) {
	r := newRig(t)
	phone := handover.NewDevice()
	from := func(who, name, key string) (int, string) {
		w := web.Ask(r.server.Handler(), "POST", "/scorekeeper/team", `{"team_name":"`+name+`"}`, "Authorization", "Bearer "+who,
			"Idempotency-Key", key, "Cookie", "touchline_device="+phone, "Sec-Fetch-Site", "same-origin")
		return w.Code, w.Body.String()
	}
	_, first := from("u1", "Wizards", "k1")
	if status, again := from("u1", "Wizards", "k1"); status != 201 || again != first {
		t.Errorf("again: %d %s, was %s", status, again, first)
	}
	if status, other := from("u2", "Wizards", "k1"); status != 403 {
		t.Errorf("another user: %d %s", status, other)
	}
	old := r.want(201, "Old", "u1", "POST", "/team", `{"team_name":"Old"}`, "Idempotency-Key", "k2").Body.String()
	if status, again := from("u1", "Old", "k2"); status != 201 || again != old {
		t.Errorf("created before the upgrade: %d %s, was %s", status, again, old)
	}
}
