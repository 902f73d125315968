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

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/handover"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/testrig/web"
)

var handInRow = regexp.MustCompile(`(?s)<li class="member" data-state="(\w+)"><b>(.*?)</b>.*?<span>(.*?)</span></li>`)

// handIn has a user give a file to the node, to look at it or to have it recorded. It returns the page's rows.
func (r *rig) handIn(who string, confirm bool, entries ...handover.Entry) (rows []string) {
	r.t.Helper()
	raw, err := (&handover.File{Scope: "/hacktracker/-/", Entries: entries}).Encode()
	if err != nil {
		r.t.Fatal(err)
	}
	form, kind := web.Form(r.t, map[bool]string{false: "file", true: "entries"}[confirm], string(raw), !confirm)
	w := web.Ask(r.server.Handler(), "POST", "/hacktracker/-/handover", form, "Content-Type", kind, "Sec-Fetch-Site", "same-origin", "Authorization", "Bearer "+who)
	if w.Code != 200 {
		r.t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, m := range handInRow.FindAllStringSubmatch(w.Body.String(), -1) {
		rows = append(rows, html.UnescapeString(strings.Trim(m[1]+": "+m[2]+"; "+m[3], "; ")))
	}
	return rows
}

// rigClock is the real clock with the rig's time of day, which a test of a browser would take for a clock that was set.
type rigClock struct {
	clock.Clock
	r *rig
}

func (c *rigClock) Wall() time.Time { return c.r.now }

// Plate appearances and runs that wait on a scorer's phone are handed in by the team's manager. Phone first or file first, each counts once. The row
// and the pages say who made it and who handed it in. Changes, and what others may not score, are refused in words.
func TestHandInOfAPhone(t *testing.T) {
	c := &rigClock{Clock: clock.Real()}
	r := newRigWith(t, httpapi.Config{Auth: web.ByName{}, Clock: c})
	c.r = r
	team, players := r.team("ana", "manager", "scorekeeper")
	game := r.game("ana", team, players...)
	r.want(200, "", "ana", "PATCH", "/games/"+game, `{"opponentName":"Rivals"}`)
	for user, name := range map[string]string{"scorekeeper": "Sam", "manager": "Mo"} {
		r.want(200, name, user, "PUT", "/users/"+user, fmt.Sprintf(`{"firstName":%q}`, name))
	}
	r.now = r.now.Add(time.Hour)
	phone := handover.NewDevice()
	hash, _ := handover.DeviceHash(phone)
	sum := sha256.Sum256([]byte("reader of a page\nscorekeeper"))
	path := "/games/" + game
	keys := map[string]string{}
	entry := func(key, method, at, body string) handover.Entry {
		if keys[key] == "" {
			keys[key] = ulid.MustNew(ulid.Timestamp(r.now.Add(time.Duration(len(keys)-60)*time.Minute)), nil).String()
		}
		return handover.Entry{
			Key: keys[key], Device: hash, Maker: hex.EncodeToString(sum[:8]), Method: method, Path: "/hacktracker" + at, Body: body, At: r.now.Add(-30 * time.Minute).UnixMilli(),
		}
	}
	send := func(e handover.Entry, want int) {
		t.Helper()
		w := web.Ask(r.server.Handler(), e.Method, e.Path, e.Body, "Authorization", "Bearer scorekeeper", "Idempotency-Key", e.Key, "Touchline-Occurred-Ago", "1800",
			"Cookie", "touchline_device="+phone, "Sec-Fetch-Site", "same-origin")
		if w.Code != want {
			t.Errorf("%s: %d %s", e.Key, w.Code, w.Body)
		}
	}
	one, two := entry("1", "POST", path+"/atbats", atBat(players[0], "1B", 1, 0, 1)), entry("2", "POST", path+"/atbats", atBat(players[1], "K", 1, 0, 2))
	runs, change := entry("3", "POST", path+"/runs", `{"opponentScore":2}`), entry("4", "PATCH", path, `{"status":"FINAL"}`)
	wrong := entry("5", "POST", path+"/atbats", atBat(players[0], "<b>", 1, 0, 1))
	send(one, 201)
	all := []handover.Entry{one, two, runs, change, wrong}
	want := func(what string, got []string, rows ...string) {
		t.Helper()
		rows = append(rows, "refused: An entry; refused: A change, or the start or end of a game, cannot be handed in: make it on the game's page.",
			"refused: An entry; refused: The result is not one of a plate appearance")
		if !slices.Equal(got, rows) {
			t.Errorf("%s: %q, want %q", what, got, rows)
		}
	}
	const first, second, third = "0 Player: single, inning 1, 0 outs. Against Rivals", "1 Player: strikeout, inning 1, 0 outs. Against Rivals", "2 runs for Rivals. Against Rivals"
	want("shown", r.handIn("manager", false, all...), "ready: "+first, "ready: "+second, "ready: "+third)
	r.want(200, `"opponentScore":0`, "ana", "GET", path, "")
	for _, confirm := range []bool{false, true} {
		rows := r.handIn("eve", confirm, one, two, runs)
		for _, row := range rows {
			if !strings.HasPrefix(row, "refused: An entry; refused: ") {
				t.Errorf("a stranger: %s", row)
			}
		}
	}
	want("recorded", r.handIn("manager", true, all...), "already: "+first+"; counted already", "counted: "+second+"; counted", "counted: "+third+"; counted")
	want("again", r.handIn("manager", true, all...), "already: "+first+"; counted already", "already: "+second+"; counted already", "already: "+third+"; counted already")
	send(two, 201)
	send(runs, 200)
	r.want(200, `"opponentScore":2`, "ana", "GET", path, "")
	list := r.ask("ana", "GET", path+"/atbats", "").Body.String()
	if n := strings.Count(list, `"atBatId"`); n != 2 || strings.Count(list, `"madeBy":"scorekeeper","handedInBy":"manager"`) != 1 {
		t.Errorf("%d at-bats: %s", n, list)
	}
	last := entry("6", "POST", path+"/atbats", atBat(players[0], "HR", 1, 1, 1))
	last.Maker = ""
	if rows := r.handIn("manager", true, last); len(rows) != 1 || !strings.HasPrefix(rows[0], "counted: ") {
		t.Errorf("%q", rows)
	}
	page := web.Ask(r.server.Handler(), "GET", "/hacktracker/-/games/"+game, "", "Accept", "text/html", "Authorization", "Bearer ana").Body.String()
	for _, has := range []string{"made by Sam, handed in by Mo", fmt.Sprintf("made by device %s, handed in by Mo", hash[:8])} {
		if !strings.Contains(page, has) {
			t.Errorf("the page does not say %q", has)
		}
	}
	if row := r.rows("GAME#" + game)["ATBAT#"+keys["6"]]; row["madeBy"].Str() != "device:"+hash || row["handedInBy"].Str() != "manager" {
		t.Errorf("row %v", row)
	}
}
