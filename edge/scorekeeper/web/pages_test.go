package web

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// page requests a page as a browser does.
func (r *rig) page(status int, has, who, path string) string {
	r.t.Helper()
	return r.want(status, has, who, "GET", "/-"+path, "", "Accept", "text/html", "Sec-Fetch-Mode", "navigate").Body.String()
}

// A day's page through the life of a game: no ID, a guest, guesses, a win, a loss.
func TestPlayPage(t *testing.T) {
	r := newRig(t)
	r.page(200, "There is no puzzle for this day yet.", "u1", "/")
	r.answer(day, "manna")
	r.page(200, "data-nobody", "-", "/")
	r.page(400, "", "-", "/days/x")
	open := r.page(200, `action="/scorekeeper/guess" data-queue="POST"`, "guest", "/")
	if strings.Contains(open, "data-nobody") || strings.Contains(open, "data-over") || strings.Count(open, `class="square"`) != 30 {
		t.Errorf("a new game: %s", open)
	}
	r.want(200, "", "guest", "POST", "/guess", guessBody("crane"))
	r.page(200, `<span class="square square--contained">a<span class="vh"> contained,</span></span>`, "guest", "/days/"+day)
	r.page(200, `<button class="key square--correct" type="button" data-letter="n">`, "guest", "/")
	if other := r.page(200, `data-moves="0"`, "u1", "/"); strings.Contains(other, "square--") {
		t.Errorf("somebody else's guess: %s", other)
	}
	r.want(200, "", "guest", "POST", "/guess", guessBody("manna"))
	r.page(200, "Solved in 2 of 6.", "guest", "/")
	r.page(200, "Scorekeeper 2026-02-02 2/6\n\n⬛⬛🟨🟩⬛\n🟩🟩🟩🟩🟩</pre>", "guest", "/")
	for w := range strings.FieldsSeq("crane slate moist proud brick vexed") {
		r.want(200, "", "u1", "POST", "/guess", guessBody(w))
	}
	r.page(200, "The word was manna.", "u1", "/")
}

// A user who signs in with a guest's cookie is offered the guest's games, once. Others never see whose they are.
func TestConvertOnThePage(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(200, "", "guest", "POST", "/guess", guessBody("crane"))
	cookie := []string{"Accept", "text/html", "Sec-Fetch-Mode", "navigate", "Cookie", "wordle_session=" + guest}
	r.want(200, "Add 1 game you played here as a guest to your account", "u1", "GET", "/-/", "", cookie...)
	r.want(200, `"converted":1`, "u1", "POST", "/convert-session", `{"session_id":"`+guest+`"}`)
	if after := r.want(200, `data-moves="1"`, "u1", "GET", "/-/", "", cookie...).Body.String(); strings.Contains(after, "as a guest") || strings.Contains(after, guest) {
		t.Errorf("offered again: %s", after)
	}
}

// After a conversion the guest's cookie is nobody's: the next guest in that browser gets a fresh id and plays for themselves.
func TestConvertedGuestIsNobody(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	r.want(200, "", "guest", "POST", "/guess", guessBody("crane"))
	r.want(200, `"converted":1`, "u1", "POST", "/convert-session", `{"session_id":"`+guest+`"}`)
	r.want(401, "", "guest", "POST", "/guess", guessBody("slate"))
	cookies := r.want(204, "", "guest", "POST", "/session", "").Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "wordle_session" || cookies[0].Value == guest || cookies[0].Value == "" {
		t.Fatalf("cookies %v", cookies)
	}
	next := []string{"Sec-Fetch-Site", "same-origin", "Cookie", "wordle_session=" + cookies[0].Value}
	r.want(200, "", "-", "POST", "/guess", guessBody("slate"), next...)
	r.want(200, `"moves_qty":1`, "u1", "GET", "/game/"+day, "")
}

func TestOtherPages(t *testing.T) {
	r := newRig(t)
	r.page(200, "You haven’t played yet.", "u1", "/history")
	r.answer(day, "manna")
	r.answer("2026-02-01", "crane")
	r.want(200, "", "u1", "POST", "/guess", guessBody("manna"))
	r.want(200, "", "u1", "POST", "/guess", `{"puzzle_date_iso_day":"2026-02-01","word_guessed":"slate"}`)
	r.page(200, `<li class="day day--won"><a href="/scorekeeper/-/days/2026-02-02"><small class="num">02-02</small><b>1</b></a></li>`, "u1", "/history")
	r.page(200, `day--open"><a href="/scorekeeper/-/days/2026-02-01"`, "u1", "/history")
	r.page(303, "", "guest", "/history")

	r.page(200, "You aren’t in a team yet.", "u1", "/teams")
	r.want(201, "", "u1", "POST", "/team", `{"team_name":"Wizards"}`)
	_, rest, _ := strings.Cut(r.page(200, "1 of 48 members", "u1", "/teams"), `href="/scorekeeper/-/teams/`)
	team, _, _ := strings.Cut(rest, `"`)
	r.page(200, "1 of 1 have played today.", "u1", "/teams/"+team)
	r.page(200, `data-what="Leave the team" disabled>Leave</button><small>the only admin: make somebody else one first</small>`, "u1", "/teams/"+team)
	r.page(200, "🟩🟩🟩🟩🟩", "u1", "/teams/"+team)
	r.page(200, "Delete the team", "u1", "/teams/"+team)
	r.page(200, `<td class="num">1</td><td class="num">1</td>`, "u1", "/teams/"+team+"/week")
	r.page(200, `<td class="num">0</td><td class="num">0</td>`, "u1", "/teams/"+team+"/last-week")
	r.page(404, "", "u1", "/teams/"+team+"/month")
	r.page(403, "", "u2", "/teams/"+team)
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error { // a membership left of a team deleted by a node that did not know of it
		_, err := tx.Put(store.PutItem{Table: r.service.Table, Item: attr.Item{"pk": attr.S("USER#u1"), "sk": attr.S("TEAM#gone"), "role": attr.S("member")}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	r.page(200, "1 of 48 members", "u1", "/teams")

	r.page(403, "", "u1", "/admin")
	r.page(200, "13 of the next 14 days have no puzzle.", "admin", "/admin")
	r.page(200, "Change it and re-grade 1 game<", "admin", "/admin/days/"+day)
	r.page(200, "No word has been set for this day.", "admin", "/admin/days/2026-02-03")
	r.page(400, "", "admin", "/admin/days/x")
}

// Histories and boards use the reader's own date, if the page sends it and it is a possible one.
func TestReadersDay(t *testing.T) {
	r := newRig(t)
	const next = "2026-02-03"
	r.answer(day, "manna")
	r.answer(next, "crane")
	r.want(200, "", "u1", "POST", "/guess", `{"puzzle_date_iso_day":"2026-02-03","word_guessed":"crane"}`) // in Auckland
	r.want(201, "", "u1", "POST", "/team", `{"team_name":"Wizards"}`)
	_, rest, _ := strings.Cut(r.page(200, "", "u1", "/teams"), `href="/scorekeeper/-/teams/`)
	team, _, _ := strings.Cut(rest, `"`)
	for _, c := range []struct {
		query, date  string
		played, seen string // on the board, in the history
	}{
		{"", day, "0 of 1 have played", ""},
		{"?day=" + next, next, "1 of 1 have played", next},
		{"?day=2026-02-06", day, "0 of 1 have played", ""},
		{"?day=x", day, "0 of 1 have played", ""},
	} {
		r.page(200, c.played, "u1", "/teams/"+team+c.query)
		r.page(200, `data-date="`+c.date+`" data-latest="?day="`, "u1", "/teams/"+team+"/week"+c.query)
		if p := r.page(200, `data-date="`+c.date+`" data-latest="?day="`, "u1", "/history"+c.query); strings.Contains(p, "days/"+next) != (c.seen == next) {
			t.Errorf("history of %q: %s", c.query, p)
		}
	}
	r.page(403, "cannot play", "u#1", "/")
}

// Each scene of the gallery shows its state.
func TestScenes(t *testing.T) {
	look, err := page.New("/scorekeeper/-", files, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := (&handlers{look: look}).scenes()
	if err != nil || len(scenes) != 7 {
		t.Fatalf("%d scenes, %v", len(scenes), err)
	}
	for i, has := range []string{`data-moves="0"`, `data-moves="3"`, "Solved in 2 of 6.", "The word was manna.", "no puzzle", "square--waits", "Not counted: brick"} {
		if !strings.Contains(string(scenes[i].Page), has) {
			t.Errorf("%s has no %s", scenes[i].Name, has)
		}
	}
}
