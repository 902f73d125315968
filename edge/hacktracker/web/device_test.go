package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// Every entry of a device with a key counts once, whoever sends it, and another user does not see what the first one made. Rows of an earlier
// release, which are of the user, are still recognised.
func TestEntryOfADeviceCountsOnce(t *testing.T) {
	r := newRig(t)
	team := id(r.want(201, "", "ana", "POST", "/teams", `{"name":"Bad News","teamType":"MANAGED"}`), "teamId")
	players := func() int {
		all, _ := r.want(200, "", "ana", "GET", "/teams/"+team+"/players", "")["players"].([]any)
		return len(all)
	}
	phone := handover.NewDevice()
	from := func(who, path, body, key string) (int, map[string]any) {
		w := web.Ask(r.server.Handler(), "POST", "/hacktracker"+path, body, "Authorization", "Bearer "+who, "Idempotency-Key", key,
			"Cookie", "touchline_device="+phone, "Sec-Fetch-Site", "same-origin")
		var out map[string]any
		_ = json.Unmarshal(w.Body.Bytes(), &out)
		return w.Code, out
	}
	before := players()
	status, first := from("ana", "/teams/"+team+"/players", `{"firstName":"Eve"}`, "k1")
	if status != 201 {
		t.Fatalf("%d %v", status, first)
	}
	if status, again := from("ana", "/teams/"+team+"/players", `{"firstName":"Eve"}`, "k1"); status != 201 || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("again: %d %v, was %v", status, again, first)
	}
	if status, other := from("bob", "/teams/"+team+"/players", `{"firstName":"Eve"}`, "k1"); status != 204 || other != nil {
		t.Errorf("another user: %d %v", status, other)
	}
	if n := players() - before; n != 1 {
		t.Errorf("%d players more, want 1", n)
	}
	status, mine := from("ana", "/teams", `{"name":"Mine","teamType":"MANAGED"}`, "k2")
	if status != 201 {
		t.Fatalf("%d %v", status, mine)
	}
	if status, other := from("eve", "/teams", `{"name":"Mine","teamType":"MANAGED"}`, "k2"); status != 204 || other != nil {
		t.Errorf("another user sees a team: %d %v", status, other)
	}
	old := r.want(201, "", "ana", "POST", "/teams/"+team+"/players", `{"firstName":"Old"}`, "Idempotency-Key", "k3")
	if status, again := from("ana", "/teams/"+team+"/players", `{"firstName":"Old"}`, "k3"); status != 201 || again["playerId"] != old["playerId"] {
		t.Errorf("recorded before the upgrade: %d %v, was %v", status, again, old)
	}
}
