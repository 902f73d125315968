package web

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/testrig/web"
	"github.com/touchline/touchline/store"
)

var updateIdentities = flag.Bool("update-identities", false, "write the golden file of TestFiveIdentities")

// The access of five identities to every route and page, in one table. No route for users is open to a guest, or to a page of another site.
func TestFiveIdentities(t *testing.T) {
	r := newRig(t)
	r.answer(day, "manna")
	var table strings.Builder
	walk := func(method, path string) {
		fmt.Fprintf(&table, "%-7s%-26s", method, path)
		for _, who := range []string{"-", "guest", "u1", "admin", "key"} {
			headers := append([]string{"Accept", "application/json", "Content-Type", "application/json"}, as(who)...)
			w := web.Ask(r.server.Handler(), method, "/scorekeeper"+web.Filled(path, day), "{}", headers...)
			fmt.Fprintf(&table, " %s %d", who, w.Code)
			if who == "guest" && method != "GET" {
				headers[slices.Index(headers, "Sec-Fetch-Site")+1] = "cross-site"
				if w := web.Ask(r.server.Handler(), method, "/scorekeeper"+web.Filled(path, day), "{}", headers...); w.Code != 401 && w.Code != 403 {
					t.Errorf("%s %s by another site's page: %d", method, path, w.Code)
				}
			}
		}
		table.WriteString("\n")
	}
	for _, route := range r.app.Routes {
		walk(route.Method, route.Path)
	}
	for _, route := range r.app.Pages {
		walk(route.Method, "/-"+route.Path)
	}
	golden := filepath.Join("testdata", "identities.golden")
	if *updateIdentities {
		if err := os.WriteFile(golden, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), table.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got; -update-identities):\n%s", err, diff)
	}
}

// letters matches the single letters of guesses in answers and pages.
var letters = regexp.MustCompile(`"letter":"(.)"|class="square[^>]*>(.)<`)

// A full day of three players. Nothing that a player receives before the end of their own game contains the day's word, whole or letter by letter:
// no answer, header, page, event or metric. The log never contains it.
func TestNoWordBeforeTheEnd(t *testing.T) {
	const word = "fjord"
	r := newRig(t)
	r.answer(day, word)
	var all strings.Builder
	look := func(who string, w *httptest.ResponseRecorder) {
		text := strings.ToLower(fmt.Sprintln(w.Body.String(), w.Header()))
		for _, m := range letters.FindAllStringSubmatch(text, -1) {
			all.WriteString(m[1] + m[2])
		}
		all.WriteString(" " + text)
		if strings.Contains(all.String(), word) {
			t.Fatalf("%s receives the word: %s", who, text)
		}
	}
	look("u1", r.want(201, "", "u1", "POST", "/team", `{"team_name":"Wizards"}`))
	_, rest, _ := strings.Cut(all.String(), `"team_id":"`)
	team, _, _ := strings.Cut(rest, `"`)
	r.want(200, "", "u1", "PUT", "/team/teammate", fmt.Sprintf(`{"team_id":%q,"user_id":"u2","role":"member"}`, team))
	r.want(200, "", "u2", "POST", "/team/accept", fmt.Sprintf(`{"team_id":%q}`, team))
	around := func(who string) {
		for _, route := range r.app.Routes {
			query := "?team_id=" + team + "&user_id=u2&puzzle_date_iso_day=" + day
			if route.Path == "/puzzles" {
				query = ""
			}
			look(who, r.ask(who, route.Method, web.Filled(route.Path, day)+query, "{}"))
		}
		for _, route := range r.app.Pages {
			look(who, r.ask(who, route.Method, "/-"+strings.NewReplacer(":date", day, ":id", team, ":when", "week").Replace(route.Path), "", "Accept", "text/html", "Sec-Fetch-Mode", "navigate"))
		}
		look(who, r.ask(who, "PUT", "/puzzles", guessBody("crane")))
		look(who, r.ask(who, "GET", "/openapi.yaml", ""))
	}
	around("-")
	for _, guess := range []string{"crane", "slate", "moist", "proud", "brick"} {
		for _, who := range []string{"u1", "guest"} {
			look(who, r.ask(who, "POST", "/guess", guessBody(guess)))
			look(who, r.ask(who, "POST", "/guess", guessBody(guess)))
			around(who)
		}
	}
	r.want(200, `"won":true`, "u2", "POST", "/guess", guessBody(word)) // u2 knows the word now; the others do not
	around("u1")
	around("guest")
	if err := r.store.View(t.Context(), func(tx *store.Tx) error {
		records, err := tx.Journal(0, 1000)
		for i := range records {
			ch, ok, err := r.app.Topics(&records[i])
			if err != nil {
				return err
			}
			if ok {
				fmt.Fprintln(&all, string(ch.Frame.Data))
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	metrics := web.Ask(r.server.Handler(), "GET", "/metrics", "", as("admin")...)
	fmt.Fprintln(&all, metrics.Body.String(), r.log.String())
	if !strings.Contains(all.String(), "puzzle_date_iso_day") || metrics.Code != 200 || !strings.Contains(r.log.String(), "/scorekeeper/guess") {
		t.Error("the walk saw no events, metrics or log")
	}
	if strings.Contains(strings.ToLower(all.String()), word) {
		t.Error("events, metrics or the log contain the word")
	}
	r.want(200, `"answer":"fjord"`, "u1", "POST", "/guess", guessBody("vexed"))
}
