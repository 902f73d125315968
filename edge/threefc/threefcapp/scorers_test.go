package threefcapp

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/httpapi/handover"
)

// phone is a device of the signed-in user.
type phone struct {
	f  *pairOfNodes
	id string
}

func (f *pairOfNodes) phone() *phone { return &phone{f, handover.NewDevice()} }

// ask sends a request of the phone to a node, as its pages do.
func (p *phone) ask(status int, at, method, path, body string, headers ...string) string {
	p.f.T.Helper()
	own := []string{"Sec-Fetch-Site", "same-origin", "Accept", "text/html"}
	cookie := p.f.cookie
	defer func() { p.f.cookie = cookie }()
	p.f.cookie += "; touchline_device=" + p.id
	return p.f.want(status, at, method, path, body, append(own, headers...)...)
}

// page returns the scorer's page of the game g1 at node a; waiting is what the phone says to have.
func (p *phone) page(waiting int) string {
	p.f.T.Helper()
	return p.ask(http.StatusOK, "a", "GET", "/-/games/g1/score", "", "Touchline-Waiting", fmt.Sprint(waiting))
}

var giveKey = regexp.MustCompile(`data-key="do-give-([0-9a-f]+)"`)

// does has the phone do something with the scoring, given by its word and, for give, the device that its page offers.
func (p *phone) does(what string) {
	p.f.T.Helper()
	to := ""
	if what == "give" {
		found := giveKey.FindStringSubmatch(p.page(0))
		if found == nil {
			p.f.T.Fatal("the page offers nobody to hand over to")
		}
		to = found[1]
	}
	p.ask(http.StatusNoContent, "a", "POST", "/-/games/g1/scorers", fmt.Sprintf(`{"do":%q,"to":%q}`, what, to))
}

// written counts what the nodes have written to the cloud, apart from the rows by which they know each other.
func (f *pairOfNodes) written() (n int) {
	for _, e := range f.Cloud.Log(0) {
		if e.Table != "touchline-sync" {
			n++
		}
	}
	return n
}

// Two phones score a game: each sees the other, since when and what waits there, and hands the scoring over and back with one tap. What is
// entered counts all the same. None of it writes anything. The end names each device that scored, when it was last heard and what it had
// waiting then.
func TestWhoElseScores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPairOfNodes(t)
		f.game("l1", "g1")
		f.Pass(5 * time.Minute)
		ann, ben := f.phone(), f.phone()
		written := f.written()
		ann.page(0)
		says(t, ben.page(0), "<b>boss</b> has this page open, since <time", "Hand over to boss")
		for range 2 {
			ann.does("give")
			says(t, ann.page(0), "data-away", "<b>boss</b> scores now, since", "Take over")
			says(t, ben.page(0), "You score now, since", "Hand back to boss")
			ben.does("give")
			says(t, ben.page(0), "data-away")
			if strings.Contains(ann.page(0), "data-away") {
				t.Error("handed back, the first phone's keys are set aside")
			}
		}
		ben.does("take")
		says(t, ann.page(0), "data-away")
		ben.does("share")
		for _, p := range []*phone{ann, ben} {
			if page := p.page(0); strings.Contains(page, "data-away") || strings.Contains(page, "You score now") {
				t.Errorf("shared again: %s", page)
			}
		}
		ann.ask(http.StatusNotFound, "a", "POST", "/-/games/g1/scorers", `{"do":"give","to":"00"}`)
		f.Pass(time.Minute)
		if n := f.written() - written; n != 0 {
			t.Errorf("looking and handing over wrote %d items to the cloud", n)
		}

		ben.does("take")
		ann.ask(http.StatusCreated, "a", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "redg1"))
		says(t, ben.page(0), "<b>boss</b> scores this game too, since")
		ben.ask(http.StatusCreated, "a", "POST", "/v1/games/g1/goals", goalBy("red", "blue", "redg1"))
		ben.page(4)
		says(t, ann.page(0), "; 4 waiting there")
		f.Pass(2 * time.Minute)
		says(t, ann.page(0), "<b>boss</b> scored this game too, last heard at", "with 4 entries waiting")
		for third := 1; third <= 3; third++ {
			if third > 1 {
				ann.ask(http.StatusOK, "a", "POST", fmt.Sprintf("/v1/games/g1/thirds/%d/start", third), "")
			}
			f.Pass(time.Second)
			ann.ask(http.StatusOK, "a", "POST", fmt.Sprintf("/v1/games/g1/thirds/%d/finish", third), "")
		}
		f.Pass(time.Minute)
		ann.ask(http.StatusOK, "a", "POST", "/v1/games/g1/finish", "")
		f.Pass(time.Minute)
		_, end, _ := strings.Cut(ann.page(0), `id="h-final"`)
		says(t, end, "on this device", "When it ended, this node knew of these devices", "with nothing waiting", "with 4 entries waiting")
		_, end, _ = strings.Cut(ben.page(0), `id="h-final"`)
		says(t, end, " by <b>boss</b>", "with 4 entries waiting")
		says(t, f.want(http.StatusOK, "b", "GET", "/-/games/g1/score", "", "Accept", "text/html"), "at another node", "This node knows of no device that scored.")
	})
}
