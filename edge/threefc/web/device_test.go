package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// from sends a request as a page of a device does.
func (r *rig) from(device, who, method, path, body string, headers ...string) (status int, answer string) {
	r.t.Helper()
	cookies := "touchline_device=" + device
	if c := r.cookies[who]; c != "" {
		cookies += "; " + cookieName + "=" + c
	}
	w := web.Ask(r.server.Handler(), method, "/3fc"+path, body, append(headers, "Cookie", cookies, "Sec-Fetch-Site", "same-origin")...)
	return w.Code, w.Body.String()
}

// One entry of a device counts once, whoever sends it. Another user does not see what the first one made.
func TestEntryOfADeviceCountsOnce(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	phone, tablet := handover.NewDevice(), handover.NewDevice()
	goals := func(want int) {
		t.Helper()
		if n := strings.Count(r.want(200, "", "keeper", "GET", "/v1/games/g/goals", ""), `"eventId"`); n != want {
			t.Errorf("%d goals, want %d", n, want)
		}
	}
	key := []string{"Idempotency-Key", "k1"}
	status, first := r.from(phone, "keeper", "POST", "/v1/games/g/goals", redGoal, key...)
	if status != 201 {
		t.Fatalf("%d %s", status, first)
	}
	if status, again := r.from(phone, "keeper", "POST", "/v1/games/g/goals", redGoal, key...); status != 201 || again != first {
		t.Errorf("again: %d %s, was %s", status, again, first)
	}
	if status, answer := r.from(phone, "boss", "POST", "/v1/games/g/goals", redGoal, key...); status != 204 || answer != "" {
		t.Errorf("another user: %d %s", status, answer)
	}
	if status, _ := r.from(phone, "watcher", "POST", "/v1/games/g/goals", redGoal, key...); status != 403 {
		t.Errorf("somebody who may not score: %d", status)
	}
	if status, answer := r.from(phone, "boss", "POST", "/v1/games/g/goals", ownGoal, key...); status != 409 {
		t.Errorf("another goal: %d %s", status, answer)
	}
	goals(1)
	if status, _ := r.from(tablet, "keeper", "POST", "/v1/games/g/goals", redGoal, key...); status != 201 {
		t.Errorf("another device: %d", status)
	}
	goals(2)
	hash, _ := handover.DeviceHash(phone)
	if status, _ := r.from(hash, "keeper", "POST", "/v1/games/g/goals", redGoal, key...); status != 201 {
		t.Errorf("a hash as an id: %d", status) // it is no device's request: a first one of the user
	}
	goals(3)
	if status, answer := r.from(tablet, "other", "POST", "/v1/leagues", `{"leagueId":"mine","name":"Mine"}`, "Idempotency-Key", "k2"); status != 201 {
		t.Fatalf("%d %s", status, answer)
	}
	if status, answer := r.from(tablet, "watcher", "POST", "/v1/leagues", `{"leagueId":"mine","name":"Mine"}`, "Idempotency-Key", "k2"); status != 204 || answer != "" {
		t.Errorf("another user sees a league: %d %s", status, answer)
	}
}

// Rows of an earlier release, which are of the user, are still recognised, and those of a device whose page has another id now.
func TestRowsOfAUserAreRecognised(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	old := r.goal(redGoal, "Idempotency-Key", "k1")
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	send := func(device, key string, headers ...string) string {
		t.Helper()
		status, answer := r.from(device, "keeper", "POST", "/v1/games/g/goals", redGoal, append(headers, "Idempotency-Key", key)...)
		if status != 201 {
			t.Errorf("%s: %d %s", key, status, answer)
		}
		return eventOf(answer)
	}
	if again := send(phone, "k1"); again != old {
		t.Errorf("goal %s, was %s", again, old)
	}
	if again := send(phone, "k1", "Touchline-Device", "none"); again != old {
		t.Errorf("goal %s, was %s", again, old)
	}
	first := send(phone, "k2", "Touchline-Device", hash)
	if again := send(handover.NewDevice(), "k2", "Touchline-Device", hash); again != first {
		t.Errorf("with a new id: goal %s, was %s", again, first)
	}
	r.rowOf("device:" + hash + "#k2")
}

// rowOf checks the row of a key of a device.
func (r *rig) rowOf(scope string) {
	r.t.Helper()
	if err := r.store.View(r.t.Context(), func(tx *store.Tx) error {
		row, err := tx.Get("3fc-test", attr.Item{"pk": attr.S("IDEMPOTENCY#" + scope), "sk": attr.S("METADATA")})
		var data struct{ Scope, Key string }
		if json.Unmarshal([]byte(row["data"].Str()), &data) != nil || data.Scope+"#"+data.Key != scope || row["userId"].Str() != "keeper@example.org" {
			r.t.Errorf("row %v", row)
		}
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// A key counts under the id with which its page made it, although the browser has another id by now, and soon yet another: for the device, and for
// whoever hands a file in. A route whose entries are not handed in takes no id that is only named.
func TestKeyCountsUnderTheIDItWasMadeWith(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	old, now, later := handover.NewDevice(), handover.NewDevice(), handover.NewDevice()
	hash, _ := handover.DeviceHash(old)
	send := func(device, path, body, key string) string {
		t.Helper()
		status, answer := r.from(device, "keeper", "POST", path, body, "Idempotency-Key", key, "Touchline-Device", hash)
		if status != 201 {
			t.Errorf("%s: %d %s", key, status, answer)
		}
		return answer
	}
	first := send(now, "/v1/games/g/goals", redGoal, "k1")
	if again := send(later, "/v1/games/g/goals", redGoal, "k1"); again != first {
		t.Errorf("with yet another id: %s, was %s", again, first)
	}
	r.rowOf("device:" + hash + "#k1")
	rows, _ := r.handIn("boss", true, r.tapOf(old, "k1", "POST", "/v1/games/g/goals", redGoal, 0))
	if len(rows) != 1 || !strings.HasPrefix(rows[0], "already: ") {
		t.Errorf("handed in: %q", rows)
	}
	r.wantGoals(1)
	send(now, "/v1/games/g/players", `{"playerId":"p9","nickname":"New"}`, "k2")
	mine, _ := handover.DeviceHash(now)
	r.rowOf("device:" + mine + "#k2")
}
