package pickemapp

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// pick stores a user's pick of team 1 for the first match of the second event, which starts in ten days.
func (w *apart) pick(at, user string) {
	w.T.Helper()
	event := w.events[1]
	w.Want(at, user, "PUT", "/pickem/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1}}`, w.matches[event][0]))
}

// lockAndSet locks the second event by hand and sets its results.
func (w *apart) lockAndSet(at string) {
	w.T.Helper()
	event, all := w.events[1], []string{}
	w.Want(at, nodes.Boss, "PUT", admin+event+"/state", `{"state":"broadcast"}`)
	for _, m := range w.matches[event] {
		all = append(all, fmt.Sprintf("%q:1", m))
	}
	w.Want(at, nodes.Boss, "PUT", admin+event+"/results", `{"results":{`+strings.Join(all, ",")+`}}`)
}

// An event that an admin has locked is scored at once, with the picks of both nodes: those of the other node are read first, though nobody
// follows an event that starts in ten days.
func TestScoringCountsThePicksOfBothNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, 0)
		w.pick("a", "sam")
		w.pick("b", "max")
		w.Pass(2 * time.Second) // for the pick to reach the cloud, but not the other node
		w.lockAndSet("a")
		answer := w.Want("a", nodes.Boss, "POST", admin+w.events[1]+"/score", "")
		if !strings.Contains(answer, `"predictions":2,"standings":2`) {
			t.Errorf("scored: %s", answer)
		}
		from := w.log
		w.Joined()
		w.recount(w.Rows("", prod))
		if report := w.Report(); report != "" {
			t.Error(report)
		}
		wrong := 0
		for _, e := range w.Cloud.Log(from) {
			if p, ok := e.New["points"].Int(); ok && strings.HasPrefix(e.Key["SK"].Str(), "STANDINGS#") && p != 5 {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%d rows of standings were wrong for a while", wrong)
		}
	})
}

// A node that is cut off does not score, and the Status page says what counting waits for. It goes on when the cloud is back.
func TestCountingWaitsForTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, 0)
		w.pick("a", "sam")
		w.pick("b", "max")
		w.Settle()
		w.lockAndSet("b")
		w.Settle()
		score := admin + w.events[1] + "/score"
		w.SetFault("cut", "b")
		w.Pass(2 * time.Minute)
		if status, answer := w.Ask("b", nodes.Boss, "POST", score, ""); status != http.StatusServiceUnavailable {
			t.Errorf("cut off: %d %s", status, answer)
		}
		w.Want("a", nodes.Boss, "POST", score, "")
		w.SetFault("cut", "a")
		w.Pass(2 * time.Minute)
		w.Want("a", nodes.Boss, "PUT", admin+w.events[1]+"/results", fmt.Sprintf(`{"results":{%q:0}}`, w.matches[w.events[1]][0]))
		w.Pass(2 * time.Minute)
		if page := w.Want("a", nodes.Boss, "GET", "/_/hub", ""); !strings.Contains(page, "Counting waits for the predictions of all users") {
			t.Errorf("the Status page does not say that counting waits: %s", page)
		}
		w.recount(w.Joined())
		if report := w.Report(); report != "" {
			t.Error(report)
		}
		if page := w.Want("a", nodes.Boss, "GET", "/_/hub", ""); strings.Contains(page, "Counting waits") {
			t.Errorf("the Status page still says that counting waits: %s", page)
		}
	})
}

// One result is corrected at a node that is cut off, and another at the other node. Each counts what it knows, and in the end the standings
// are those of both results, at both nodes, and no person has to decide.
func TestStandingsAreARecountBehindAPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newApart(t, 0)
		event := w.events[1]
		first, second := w.matches[event][0], w.matches[event][1]
		results := func(at, match string, result int) {
			w.Want(at, nodes.Boss, "PUT", admin+event+"/results", fmt.Sprintf(`{"results":{%q:%d}}`, match, result))
		}
		standing := func(at string, points, correct int) {
			t.Helper()
			want := fmt.Sprintf(`"name":"sam","points":%d,"mcorrect":%d,"eplayed":1`, points, correct)
			if answer := w.Want(at, "sam", "GET", "/pickem/app/standings?year="+event[:4], ""); !strings.Contains(answer, want) {
				t.Errorf("the standings at %s are %s, want %s", at, answer, want)
			}
		}
		w.Want("a", "sam", "PUT", "/pickem/app/events/"+event+"/predictions", fmt.Sprintf(`{"predictions":{%q:1,%q:1}}`, first, second))
		w.Settle()
		w.Want("a", nodes.Boss, "PUT", admin+event+"/state", `{"state":"broadcast"}`)
		for _, match := range w.matches[event] {
			results("a", match, 0)
		}
		w.Want("a", nodes.Boss, "POST", admin+event+"/score", "")
		w.Pass(40 * time.Minute) // the other node reads all picks
		w.SetFault("cut", "b")
		results("a", second, 1)
		results("b", first, 1)
		w.Pass(2 * time.Minute)
		standing("a", 5, 1)
		standing("b", 5, 1)
		w.recount(w.Joined())
		standing("a", 10, 2)
		standing("b", 10, 2)
		w.Quiet()
		if report := w.Report(); report != "" {
			t.Error(report)
		}
	})
}

var seenField = regexp.MustCompile(`name="seen" value="([^"]*)"`)

// Rows of another program are a line on the Status page. Its button shows the differences; an admin who confirms them has them recounted,
// and nobody else.
func TestAdminHasRowsRecounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := nodes.Keep(t, nodes.Options{App: New}, nodes.Seeds{prod: seeds})
		const path, points = "/_/recount/pickem/standings", "/_/recount/pickem/points%20of%20predictions"
		page := f.Want("a", nodes.Boss, "GET", "/_/hub", "")
		for _, part := range []string{"Points of predictions: 2 rows are not as this node counts them", `href="` + points + `"`, `href="` + path + `"`, "look at the points of predictions first"} {
			if !strings.Contains(page, part) {
				t.Errorf("the Status page has no %q: %s", part, page)
			}
		}
		page = f.Want("a", nodes.Boss, "GET", points, "")
		for _, part := range []string{"EVENT#2024-03-03-aew-revolution / ", "GSI_SK SCORE#140#sam, mcorrect 10, points 140", "GSI_SK SCORE#005#sam, mcorrect 1, points 5"} {
			if !strings.Contains(page, part) && !strings.Contains(page, strings.ReplaceAll(part, "EVENT#2024-03-03-aew-revolution / ", "USER#sam / EVENT#2024-03-03-aew-revolution")) {
				t.Errorf("the differences have no %q: %s", part, page)
			}
		}
		seen := seenField.FindStringSubmatch(page)[1]
		form := []string{"Content-Type", "application/x-www-form-urlencoded"}
		for _, tt := range []struct {
			user, body string
			headers    []string
			want       int
		}{
			{"sam", "confirm=yes&seen=" + seen, form, http.StatusForbidden},
			{nodes.Boss, "seen=" + seen, form, http.StatusBadRequest},
			{nodes.Boss, "confirm=yes&seen=0", form, http.StatusConflict},
			{nodes.Boss, "confirm=yes&seen=" + seen, append([]string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, form...), http.StatusForbidden},
		} {
			if status, answer := f.Ask("a", tt.user, "POST", points, tt.body, tt.headers...); status != tt.want {
				t.Errorf("%+v: %d %s", tt, status, answer)
			}
		}
		f.Pass(time.Minute)
		f.Kept(nodes.Seeds{prod: seeds})
		original := simcloud.Foreign{Cloud: f.Cloud, Name: "original"}
		sam := attr.Item{"PK": attr.S("USER#sam"), "SK": attr.S("EVENT#2024-03-03-aew-revolution")}
		params := expr.Params{Values: attr.Item{":p": attr.Int(141)}}
		if err := original.Update(prod, sam, "SET points = :p", params); err != nil {
			t.Fatal(err)
		}
		f.Pass(20 * time.Minute)
		if status, answer := f.Ask("a", nodes.Boss, "POST", points, "confirm=yes&seen="+seen, form...); status != http.StatusConflict {
			t.Errorf("a row has changed since it was shown: %d %s", status, answer)
		}
		seen = seenField.FindStringSubmatch(f.Want("a", nodes.Boss, "GET", points, ""))[1]
		if status, answer := f.Ask("a", nodes.Boss, "POST", points, "confirm=yes&seen="+seen, form...); status != http.StatusSeeOther && status != http.StatusOK {
			t.Errorf("confirmed: %d %s", status, answer)
		}
		f.Pass(20 * time.Minute)
		if got := f.Rows("", prod)["USER#sam EVENT#2024-03-03-aew-revolution"]; got["GSI_SK"].Str() != "SCORE#005#sam" {
			t.Errorf("recounted: %s", attr.AppendJSON(nil, got))
		}
		if got := f.Rows("", prod)["USER#sam STANDINGS#2024"]; got["GSI_SK"].Str() != "SCORE#00140#sam" {
			t.Errorf("not asked about: %s", attr.AppendJSON(nil, got))
		}
	})
}
