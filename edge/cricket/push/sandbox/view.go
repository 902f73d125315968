package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
)

// PhoneView is what a phone shows now, for pages and tests.
type PhoneView struct {
	Phone
	Activities     []ActivityView `json:"activities"` // on the lock screen, newest first
	Alerts         []ShownAlert   `json:"alerts"`     // newest last
	UrgentLastHour int            `json:"urgentLastHour"`
	UrgentLimit    int            `json:"urgentLimit"`
	Received       int            `json:"received"`
	Ignored        int            `json:"ignored"`
	IgnoredWhy     string         `json:"ignoredWhy,omitempty"` // of the latest ignored push
}

// ActivityView is a Live Activity on the lock screen.
type ActivityView struct {
	MatchID    string          `json:"matchId"`
	Compact    Compact         `json:"compact"`
	State      json.RawMessage `json:"state"`      // the content state exactly as received
	Attributes json.RawMessage `json:"attributes"` // from the start
	Timestamp  time.Time       `json:"timestamp"`
	StartedAt  time.Time       `json:"startedAt"`
	UpdatedAt  time.Time       `json:"updatedAt"` // when the phone showed it
	Stale      bool            `json:"stale"`
	Ended      bool            `json:"ended"`
	Pushes     int             `json:"pushes"`
	Channel    string          `json:"channel,omitempty"` // the channel it listens to
}

// Compact is what fits beside the camera: score on the left, overs or need on the right.
type Compact struct {
	Leading  string `json:"leading"`
	Trailing string `json:"trailing"`
}

// ShownAlert is an alert that lit up the screen.
type ShownAlert struct {
	payload.Alert
	At time.Time `json:"at"`
}

// Phones returns what every phone shows now, in the order they were added.
func (s *Sandbox) Phones() []PhoneView {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	views := make([]PhoneView, 0, len(s.phones))
	for _, ph := range s.phones {
		views = append(views, ph.view(now))
	}
	return views
}

func (ph *phone) view(now time.Time) PhoneView {
	v := PhoneView{
		Phone: ph.Phone, Activities: []ActivityView{}, Alerts: slices.Clone(ph.alerts), UrgentLimit: urgentPerHour,
		Received: ph.received, Ignored: ph.ignored, IgnoredWhy: ph.why,
	}
	if v.Alerts == nil {
		v.Alerts = []ShownAlert{}
	}
	for _, at := range ph.urgent {
		if now.Sub(at) < time.Hour {
			v.UrgentLastHour++
		}
	}
	for _, a := range slices.Backward(ph.activities) {
		if a.onScreen(now) {
			v.Activities = append(v.Activities, a.view(now))
		}
	}
	return v
}

func (a *activity) view(now time.Time) ActivityView {
	return ActivityView{
		MatchID: a.matchID, Compact: compactOf(a.state), State: a.state, Attributes: a.attrs,
		Timestamp: a.timestamp, StartedAt: a.started, UpdatedAt: a.changed,
		Stale: !a.stale.IsZero() && !now.Before(a.stale), Ended: a.isOver(now), Pushes: a.pushes, Channel: a.channel,
	}
}

// compactOf reads the fields of the compact view.
func compactOf(state json.RawMessage) Compact {
	var s payload.ContentState
	if json.Unmarshal(state, &s) != nil || len(s.Teams) == 0 {
		return Compact{}
	}
	t := s.Teams[0]
	c := Compact{Leading: t.Code}
	if t.Batted {
		c.Leading = fmt.Sprintf("%s %d/%d", t.Code, t.Runs, t.Wickets)
		c.Trailing = strings.TrimSpace(t.Overs + " ov")
	}
	switch {
	case s.Result != "":
		c.Trailing = "Result"
	case s.Required > 0 && s.BallsLeft > 0:
		c.Trailing = fmt.Sprintf("%d off %d", s.Required, s.BallsLeft)
	}
	return c
}

// matchOf returns the match in attributes that have been checked.
func matchOf(attrs json.RawMessage) string {
	var a payload.Attributes
	_ = json.Unmarshal(attrs, &a)
	return a.MatchID
}
