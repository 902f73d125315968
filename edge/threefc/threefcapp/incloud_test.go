package threefcapp

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// verdict returns what a page of a game says about the cloud, without tags.
func (f *pairOfNodes) verdict(at, path string) string {
	f.T.Helper()
	page := f.want(http.StatusOK, at, "GET", "/-/games/"+path, "", "Accept", "text/html")
	_, text, _ := strings.Cut(page, `data-key="in-cloud"><span>`)
	text, _, _ = strings.Cut(text, "</span>")
	for {
		before, after, tag := strings.Cut(text, "<")
		if !tag {
			return text
		}
		_, after, _ = strings.Cut(after, ">")
		text = before + after
	}
}

// listed returns which games the Status page of a node lists as not all in the cloud.
func (f *pairOfNodes) listed(at string) string {
	f.T.Helper()
	page := f.Want(at, nodes.Boss, "GET", "/_/hub", "", "Accept", "text/html")
	_, list, _ := strings.Cut(page, `data-key="games"`)
	list, _, _ = strings.Cut(list, "</section>")
	return list
}

// says reports an error if text lacks a part.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
}

const wholeGame = "All of it is in the cloud."

// Each game says whether all of it is in the cloud, or what is not and why: cut off from the cloud, and with a
// table that is missing there. Other games say nothing of it. The Status page lists the games that are not.
func TestEachGameSaysWhetherItIsInTheCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.game("l2", "g2")
		f.Pass(time.Minute)
		for _, path := range []string{"g1/score", "g1/results", "g2/score"} {
			if got := f.verdict("a", path); got != wholeGame {
				t.Errorf("%s says %q", path, got)
			}
		}
		if got := f.listed("a"); got != "" {
			t.Errorf("in step, the Status page lists %s", got)
		}
		f.Cut("a")
		first := time.Now().UTC()
		for range 3 {
			f.want(http.StatusCreated, "a", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "redg1"))
			f.Pass(10 * time.Second)
		}
		says(t, f.verdict("a", "g1/score"), "Not all of it is in the cloud: ", " writes to go, the oldest from "+first.Format("2 Jan 15:04 UTC"),
			"Reason: the cloud cannot be reached since "+first.Format("2 Jan"))
		if got := f.verdict("a", "g2/score"); got != wholeGame {
			t.Errorf("the other game says %q", got)
		}
		list := f.listed("a")
		says(t, list, " writes not in the cloud, the oldest from "+first.Format("15:04:05"), `href="/3fc/-/games/g1/results"`, "the cloud cannot be reached since")
		if strings.Contains(list, "/games/g2/") {
			t.Errorf("the Status page lists a game that is in the cloud: %s", list)
		}
		says(t, f.Want("a", nodes.Boss, "GET", "/_/api/hub", ""), `"games":{"shown":[{"app":"threefc","id":"g1",`)

		f.Heal("a")
		f.Until("all is in the cloud", func() bool { return f.verdict("a", "g1/score") == wholeGame && f.listed("a") == "" })

		f.Cloud.Hide(table, true)
		f.want(http.StatusCreated, "a", "POST", "/v1/games/g2/goals", goalBy("red", "blue", "redg2"))
		f.Until("the missing table is the reason", func() bool {
			return strings.Contains(f.verdict("a", "g2/score"), "Reason: nothing is sent to the table "+table+": no table:")
		})
		if got := f.verdict("a", "g1/results"); got != wholeGame {
			t.Errorf("with a missing table, the other game says %q", got)
		}
		f.Cloud.Hide(table, false)
		f.Until("all is in the cloud again", func() bool { return f.verdict("a", "g2/score") == wholeGame })
	})
}
