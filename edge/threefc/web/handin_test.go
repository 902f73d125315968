package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/testrig/web"
)

// makerOf returns the pseudonym that pages of a user have.
func makerOf(who string) string {
	sum := sha256.Sum256([]byte("reader of a page\n" + who + "@example.org"))
	return hex.EncodeToString(sum[:8])
}

// tapOf returns an entry of a device, made by keeper some time before now.
func (r *rig) tapOf(device, key, method, path, body string, ago time.Duration) handover.Entry {
	hash, _ := handover.DeviceHash(device)
	return handover.Entry{Key: key, Device: hash, Maker: makerOf("keeper"), Method: method, Path: "/3fc" + path, Body: body, At: r.now.Add(-ago).UnixMilli()}
}

var handInRow = regexp.MustCompile(`(?s)<li class="member" data-state="(\w+)"><b>(.*?)</b>.*?<span>(.*?)</span></li>`)

// handIn has a user give a file to the node, to look at it or to have it recorded. It returns the page's rows, and the page.
func (r *rig) handIn(who string, confirm bool, entries ...handover.Entry) (rows []string, body string) {
	r.t.Helper()
	raw, err := (&handover.File{Scope: "/3fc/-/", Entries: entries}).Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	form, kind := web.Form(r.t, map[bool]string{false: "file", true: "entries"}[confirm], string(raw), !confirm)
	w := web.Ask(r.server.Handler(), "POST", "/3fc/-/handover", form, "Content-Type", kind, "Sec-Fetch-Site", "same-origin", "Cookie", cookieName+"="+r.cookies[who])
	if w.Code != 200 {
		r.t.Errorf("%d %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "example.org") {
		r.t.Error("the page shows an email address")
	}
	for _, m := range handInRow.FindAllStringSubmatch(w.Body.String(), -1) {
		rows = append(rows, html.UnescapeString(strings.Trim(m[1]+": "+m[2]+"; "+m[3], "; ")))
	}
	return rows, w.Body.String()
}

func (r *rig) wantRows(what string, got []string, want ...string) {
	r.t.Helper()
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "@", ". Season, Sat 4 Jul 10:00 UTC")
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (r *rig) wantGoals(n int) {
	r.t.Helper()
	if got := strings.Count(r.want(200, "", "keeper", "GET", "/v1/games/g/goals", ""), `"eventId"`); got != n {
		r.t.Errorf("%d goals, want %d", got, n)
	}
}

// A scorer's phone is empty: an admin hands in what waits on it. Phone first or file first, each entry counts once, under whatever name, at the time of
// its tap. The audit and the pages say who made it and who handed it in.
func TestHandInOfAPhone(t *testing.T) {
	r := newRig(t)
	r.league()
	phone := handover.NewDevice()
	r.now = r.now.Add(30 * time.Minute)
	send := func(key, path, body string, ago time.Duration, want int) {
		t.Helper()
		status, answer := r.from(phone, "keeper", "POST", path, body, "Idempotency-Key", key, "Touchline-Occurred-Ago", fmt.Sprint(ago.Seconds()))
		if status != want {
			t.Errorf("%s: %d %s", key, status, answer)
		}
	}
	const start, goals, undo = "/v1/games/g/thirds/1/start", "/v1/games/g/goals", "/v1/games/g/goals/undo-last"
	send("k0", start, "{}", 25*time.Minute, 200)
	send("k1", goals, redGoal, 20*time.Minute, 201)
	file := []handover.Entry{
		r.tapOf(phone, "k0", "POST", start, "{}", 25*time.Minute), r.tapOf(phone, "k1", "POST", goals, redGoal, 20*time.Minute),
		r.tapOf(phone, "k2", "POST", goals, ownGoal, 15*time.Minute), r.tapOf(phone, "k3", "POST", goals, redGoal, 10*time.Minute),
	}
	const red, own = "Goal: Player r (Red) against Blue@", "Goal: Own goal: Player y (Yellow)@"
	rows, body := r.handIn("boss", false, file...)
	r.wantRows("shown", rows, "ready: Start of third 1@", "ready: "+red, "ready: "+own, "ready: "+red)
	if !strings.Contains(body, "Record 4 entries, as made at these times?") || !strings.Contains(body, `datetime="2026-07-04T10:15:00Z"`) {
		t.Errorf("%s", body)
	}
	r.wantGoals(1)
	rows, _ = r.handIn("boss", true, file...)
	r.wantRows("recorded", rows, "already: Start of third 1@; counted already", "already: "+red+"; counted already", "counted: "+own+"; counted", "counted: "+red+"; counted")
	r.wantGoals(3)
	r.now = r.now.Add(time.Hour)
	send("k2", goals, ownGoal, 75*time.Minute, 204)
	send("k3", goals, redGoal, 70*time.Minute, 204)
	r.wantGoals(3)
	if body := r.want(200, "", "keeper", "GET", goals, ""); !strings.Contains(body, `"displayTime":"10:00"`) || !strings.Contains(body, `"displayTime":"15:00"`) {
		t.Errorf("%s", body)
	}
	for _, path := range []string{"/games/g/score", "/games/g/results"} {
		r.page("keeper", path, 200, "Goal: Own goal: Player y (Yellow). Made by keeper, handed in by boss.", "Goal: Player r (Red) against Blue. Made by keeper, handed in by boss.")
	}
	r.page("-", "/games/g", 200, "!handed in")

	// The file comes first for what follows, and somebody else made it.
	last := r.tapOf(phone, "k4", "POST", goals, redGoal, 61*time.Minute)
	last.Maker = ""
	rows, _ = r.handIn("keeper", true, last)
	r.wantRows("recorded", rows, "counted: "+red+"; counted")
	hash, _ := handover.DeviceHash(phone)
	r.page("keeper", "/games/g/score", 200, "Made by device "+hash[:8]+", handed in by keeper.")
	_, after, _ := strings.Cut(r.want(200, "", "keeper", "GET", goals, ""), `"eventId"`)
	event := eventOf(`"eventId"` + after[strings.LastIndex(after, `"eventId":`):][len(`"eventId"`):])
	undone := []handover.Entry{r.tapOf(phone, "k5", "POST", undo, fmt.Sprintf(`{"expectedEventId":%q}`, event), time.Minute)}
	rows, _ = r.handIn("boss", true, undone...)
	if len(rows) != 1 || !strings.HasPrefix(rows[0], "counted: Undo of the goal of third 1, ") {
		t.Errorf("%q", rows)
	}
	r.wantGoals(3)
	rows, _ = r.handIn("boss", true, undone...)
	r.wantRows("again", rows, "already: Undo of a goal that is not in the game now@; counted already")
	r.wantGoals(3)
}

// Somebody who may not score can neither see nor record what is in a file; nobody can record what is none of a scorer's entries, or more than
// the file's device has made.
func TestHandInOfAStranger(t *testing.T) {
	r := newRig(t)
	r.league()
	r.want(200, "", "keeper", "POST", "/v1/games/g/thirds/1/start", "")
	phone, other := handover.NewDevice(), handover.NewDevice()
	const goals = "/v1/games/g/goals"
	goal := r.tapOf(phone, "k1", "POST", goals, redGoal, 0)
	for who, why := range map[string]string{"watcher": "Insufficient role", "other": "Insufficient role"} {
		for _, confirm := range []bool{false, true} {
			rows, body := r.handIn(who, confirm, goal)
			if len(rows) != 1 || !strings.HasPrefix(rows[0], "refused: An entry; refused: ") || strings.Contains(body, "Player r") || strings.Contains(body, "<textarea") {
				t.Errorf("%s: %q %s", who, rows, why)
			}
		}
	}
	r.wantGoals(0)
	const not = "refused: An entry; refused: This cannot be handed in: only the device that made it can send it."
	rows, _ := r.handIn("boss", true,
		r.tapOf(phone, "k2", "POST", "/v1/leagues/l/access", `{"userId":"evil@example.com","role":"admin"}`, 0), r.tapOf(phone, "k3", "DELETE", "/v1/games/g", "{}", 0),
		r.tapOf(phone, "k4", "POST", "/v1/games/g/players", `{"playerId":"x","nickname":"<script>"}`, 0), r.tapOf(phone, "k5", "POST", "/v1/auth/logout", "{}", 0),
		r.tapOf(phone, "k6", "POST", goals, `{"scoringTeamId":"red","concedingTeamId":"blue","scorerPlayerId":"<script>","ownGoal":false}`, 0),
		r.tapOf(phone, "k7", "POST", "/v1/games/g/thirds/9/start", "{}", 0), r.tapOf(phone, "k8", "POST", "/v1/games/nowhere/goals", redGoal, 0))
	r.wantRows("other requests", rows, not, not, not, not,
		"refused: Goal: by somebody who is not in this game, against Blue@; refused: The scorer is not in a team of this game.",
		"refused: An entry; refused: Third must be 1, 2, or 3.", "refused: An entry; refused: ACL scope could not be resolved for game ….")
	r.wantGoals(0)
	theirs := goal
	theirs.Device, _ = handover.DeviceHash(other)
	for i, want := range []struct {
		e     handover.Entry
		state string
		goals int
	}{{goal, "counted", 1}, {goal, "already", 1}, {theirs, "counted", 2}} {
		rows, _ := r.handIn("boss", true, want.e)
		if len(rows) != 1 || !strings.HasPrefix(rows[0], want.state+": ") {
			t.Errorf("%d: %q", i, rows)
		}
		r.wantGoals(want.goals)
	}
	changed := goal
	changed.Body = ownGoal
	if rows, _ := r.handIn("boss", true, changed); len(rows) != 1 || !strings.Contains(rows[0], "refused: This Idempotency-Key was used for another request.") {
		t.Errorf("%q", rows)
	}
	old := r.tapOf(phone, "k9", "POST", goals, redGoal, 31*24*time.Hour)
	if rows, _ := r.handIn("boss", true, old); len(rows) != 1 || !strings.Contains(rows[0], "more than 30 days ago") {
		t.Errorf("%q", rows)
	}
}
