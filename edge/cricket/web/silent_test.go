package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/tables"
)

// How long a match has not been read is by this node's own clock: the time in its row, by a clock that is wrong by an hour, says nothing.
func TestUnreadIsByTheOwnClock(t *testing.T) {
	const unread = "is live and has not been read for "
	for _, tt := range []struct {
		wrong, silent time.Duration
		want          string
	}{
		{-time.Hour, 10 * time.Second, ""},
		{time.Hour, 10 * time.Second, ""},
		{-time.Hour, 6 * time.Minute, unread + "6 minutes"},
		{time.Hour, 6 * time.Minute, unread + "6 minutes"},
	} {
		now := time.Now()
		r := newAppRig(t, func(c *setup) {
			c.App.Feed = func() *Feed {
				return &Feed{Status: poll.Status{Matches: []poll.Held{{MatchID: "7", Listed: true, SilentSince: now.Add(-tt.silent)}}}}
			}
		})
		r.put(tables.ActiveMatches, cricket.State{MatchID: "7", Status: cricket.ActiveLive, InstanceID: "n1", LastTickAt: now.Add(tt.wrong)})
		w := r.send("key", "GET /hub", "")
		body := w.Body.String()
		if w.Code != http.StatusOK || strings.Contains(body, unread) != (tt.want != "") || !strings.Contains(body, tt.want) {
			t.Errorf("a clock that is wrong by %s, silent for %s: %d %s", tt.wrong, tt.silent, w.Code, body)
		}
	}
}

// In the list of live matches sides with one code go by their names.
func TestScoreLineOfOneCode(t *testing.T) {
	f := matches.Fixture{Teams: []matches.FixtureTeam{{Name: "India", Code: "IND", Score: "182/5 (20.0)"}, {Name: "India A", Code: "IND", Score: "12/0 (1.0)"}}}
	if got := scoreLine(&f); got != "India 182/5 (20.0) v India A 12/0 (1.0)" {
		t.Errorf("the score is %q", got)
	}
}
