package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
)

// Phones is the row of lock screens.
type Phones struct {
	Phones []Phone
	Told   string // "3 phones follow this match"
	None   string // the text if there are no phones to show
}

// Phone is one phone's lock screen with its Live Activity and alerts.
type Phone struct {
	ID       string
	Name     string
	Model    string
	Dark     bool
	Clock    string
	Date     string
	Waiting  string // why it shows no Live Activity
	Ended    bool
	Stale    bool
	Leading  string
	Trailing string
	Teams    []PhoneTeam
	Line     string
	Overs    string // of the batting side
	Batters  []PhoneBatter
	Bowler   string
	Balls    []Disc
	Alerts   []PhoneNote
	Used     int
	Budget   int
	Ticks    []bool // one per urgent push of the budget, used ones first
	Received int    // pushes
	Applied  int    // of those received
	Dropped  int    // the rest
}

// PhoneTeam is a side's line in the Live Activity.
type PhoneTeam struct {
	Class, Code, Score string
	Batting            bool
}

// PhoneBatter is a batter in the Live Activity.
type PhoneBatter struct {
	Name, Score string
	OnStrike    bool
}

// PhoneNote is an alert on the lock screen.
type PhoneNote struct{ Key, Title, Body, Ago string }

// phoneNotes is how many alerts a lock screen shows; older ones are hidden below them.
const phoneNotes = 2

func (b *builder) phones() Phones {
	var p Phones
	for i := range b.in.Phones {
		v, shown := &b.in.Phones[i], sandbox.ActivityView{}
		if len(v.Activities) > 0 {
			shown = v.Activities[0]
		}
		if shown.MatchID == "" || shown.MatchID == b.in.Display.MatchID {
			p.Phones = append(p.Phones, b.phone(v, &shown))
		}
	}
	switch n := len(p.Phones); n {
	case 0:
		p.None = b.unseen()
	case 1:
		p.Told = "1 phone follows this match"
	default:
		p.Told = fmt.Sprintf("%d phones follow this match", n)
	}
	return p
}

// unseen describes the followers of a match whose phones cannot be shown, because they are real.
func (b *builder) unseen() string {
	a := &b.in.Audience
	switch {
	case a.Followers == 0 && a.Elsewhere:
		return "No follower is known to this node: another may serve them."
	case a.Followers == 0:
		return "Nobody follows this match yet."
	}
	text := plural(a.Followers, "user follows", "users follow") + " this match"
	switch {
	case !b.in.Node.Pushes.Configured:
		return text + "; this node has no push."
	case a.Elsewhere:
		return text + "; another node pushes to them."
	case a.Pending > 0:
		return text + fmt.Sprintf("; a Live Activity is on %s, and pending on %d without an update token.", plural(a.Active, "phone", "phones"), a.Pending)
	}
	return text + fmt.Sprintf("; a Live Activity is on %s.", plural(a.Active, "phone", "phones"))
}

// phone returns a phone with its Live Activity; shown is zero if it has none.
func (b *builder) phone(v *sandbox.PhoneView, shown *sandbox.ActivityView) Phone {
	now := b.in.Node.Clock.Now.UTC()
	p := Phone{
		ID: v.DeviceID, Name: v.Name, Model: v.Model, Dark: v.Dark, Clock: clockTime(now),
		Date: now.Format("Monday 2 January"), Ended: shown.Ended, Stale: shown.Stale, Leading: shown.Compact.Leading,
		Trailing: shown.Compact.Trailing, Used: v.UrgentLastHour, Budget: v.UrgentLimit,
		Received: v.Received, Applied: v.Received - v.Ignored, Dropped: v.Ignored,
	}
	for i := range v.UrgentLimit {
		p.Ticks = append(p.Ticks, i < v.UrgentLastHour)
	}
	var st payload.ContentState
	if len(shown.State) == 0 || json.Unmarshal(shown.State, &st) != nil || len(st.Teams) == 0 {
		p.Waiting = "Waiting for the first push"
		if v.Received > 0 {
			p.Waiting = "No Live Activity on the screen"
		}
	} else {
		b.fillState(&p, &st)
	}
	for i := len(v.Alerts) - 1; i >= 0 && len(p.Alerts) < phoneNotes; i-- {
		a := &v.Alerts[i]
		p.Alerts = append(p.Alerts, PhoneNote{fmt.Sprint(a.At.UnixMilli()), a.Title, a.Body, alertAge(now.Sub(a.At))})
	}
	return p
}

func alertAge(d time.Duration) string {
	if d < time.Minute {
		return "now"
	}
	return ago(d) + " ago"
}

func (b *builder) fillState(p *Phone, st *payload.ContentState) {
	for i := range st.Teams {
		t := &st.Teams[i]
		team := PhoneTeam{Class: b.classByCode(t), Code: t.Code, Batting: t.Batting}
		if t.Batted {
			team.Score = fmt.Sprintf("%d/%d", t.Runs, t.Wickets)
			if t.Wickets == 10 {
				team.Score = fmt.Sprint(t.Runs)
			}
		}
		if t.Batting {
			p.Overs = t.Overs
		}
		p.Teams = append(p.Teams, team)
	}
	p.Line = sentence(cmp.Or(st.Result, st.Equation, st.Note, st.Status))
	for i := range st.Batters {
		x := &st.Batters[i]
		p.Batters = append(p.Batters, PhoneBatter{x.Name, fmt.Sprintf("%d (%d)", x.Runs, x.Balls), x.OnStrike})
	}
	if w := st.Bowler; w != nil {
		p.Bowler = fmt.Sprintf("%s %d-%d (%s)", w.Name, w.Wickets, w.Runs, w.Overs)
	}
	for _, mark := range st.LastBalls {
		p.Balls = append(p.Balls, discOf(mark, markKind(mark)))
	}
	if p.Leading == "" && len(p.Teams) > 0 {
		p.Leading = strings.TrimSpace(p.Teams[0].Code + " " + p.Teams[0].Score)
	}
}

func (b *builder) classByCode(t *payload.ContentTeam) string {
	for _, s := range b.sides {
		if s.Code == t.Code {
			return s.Class
		}
	}
	return "t-" + kitOf("", t.Code).slug
}
