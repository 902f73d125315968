package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/httpapi/page"
)

// Input is all data of the match page, read at once.
type Input struct {
	Fixture matches.Fixture
	Display cricket.Display
	Card    cricket.Card
	Events  []cricket.Event
	Node    NodeStatus
	Phones  []sandbox.PhoneView

	Audience Audience
}

// Audience is a match's followers, as far as this node knows.
type Audience struct {
	Followers int
	Active    int            // phones with a Live Activity
	Pending   int            // phones whose Live Activity has no update token yet
	Reached   map[string]int // by event: how many phones its alert may have reached
	Elsewhere bool           // another node pushes for the match, or none does
}

// Match is the content of the match page: the templates only print it.
type Match struct {
	ID       string
	Title    string
	Top      Top
	Score    Score
	Crease   Crease
	Overs    []OverGroup
	Worm     Worm
	Bars     Bars
	Table    OverTable
	Timeline page.Timeline
	Phones   Phones
	Cards    []InningsCard
	Node     NodeView
	Kits     []string // style sheets of the two sides; none if they are unknown

	Elsewhere bool // another node keeps the scorecard and the charts
}

// builder holds what several parts of a view need.
type builder struct {
	in    Input
	sides map[int64]sideInfo
	bpo   int // balls per over
}

// sideInfo is a team's names and colours in this match.
type sideInfo struct {
	Class, Code, Name string
}

// NewMatch returns the content of the match page.
func NewMatch(in Input) Match {
	b := &builder{in: in, bpo: 6}
	if in.Fixture.Type == "100-Ball" {
		b.bpo = 5
	}
	b.sides = sidesOf(&in)
	m := Match{
		ID:       in.Display.MatchID,
		Top:      b.top(),
		Score:    b.score(),
		Crease:   b.crease(),
		Overs:    b.overs(),
		Timeline: b.timeline(),
		Phones:   b.phones(),
		Cards:    b.cards(),
		Node:     NewNodeView(in.Node),
	}
	m.Node.reads(&in)
	runs := b.runs()
	m.Worm, m.Bars, m.Table = newWorm(runs, &in.Display), newBars(runs, &in.Display), newOverTable(runs)
	m.Elsewhere = b.elsewhere()
	m.Title = title(&m.Score)
	for _, s := range b.sides {
		m.Kits = append(m.Kits, kitFile(s.Class))
	}
	slices.Sort(m.Kits)
	m.Kits = slices.Compact(m.Kits)
	return m
}

// elsewhere reports whether another node keeps the scorecard: this node knows from its cloud that the match has
// begun, but has no innings. Scorecards are not sent to the cloud.
func (b *builder) elsewhere() bool {
	cloud := b.in.Node.Cloud.State
	begun := b.in.Display.Phase != "" && b.in.Display.Phase != cricket.PhasePrematch &&
		b.in.Display.Phase != cricket.PhaseAbandoned && b.in.Display.Phase != cricket.PhasePostponed
	return begun && len(b.in.Card.Innings) == 0 && cloud != "" && cloud != "none"
}

// sidesOf returns each team's colours. If both wear the same, the fixture's order decides who keeps theirs,
// because the display's order changes with the innings.
func sidesOf(in *Input) map[int64]sideInfo {
	type side struct {
		id         int64
		name, code string
	}
	var order []side
	for _, t := range in.Fixture.Teams {
		order = append(order, side{t.ID, t.Name, t.Code})
	}
	if len(order) != 2 {
		order = order[:0]
		for _, t := range in.Display.Teams {
			order = append(order, side{t.ID, t.Name, t.Code})
		}
	}
	if len(order) != 2 {
		return map[int64]sideInfo{}
	}
	a, b := classes(kitOf(order[0].name, order[0].code), kitOf(order[1].name, order[1].code))
	return map[int64]sideInfo{
		order[0].id: {a, order[0].code, order[0].name},
		order[1].id: {b, order[1].code, order[1].name},
	}
}

func (b *builder) side(id int64) sideInfo {
	if s, ok := b.sides[id]; ok {
		return s
	}
	return sideInfo{Class: "t-hue-0", Code: "?", Name: "Unknown side"}
}

// title returns the title of the browser tab.
func title(s *Score) string {
	parts := make([]string, 0, len(s.Sides))
	for i := range s.Sides {
		if side := &s.Sides[i]; side.Batting && side.Figure != "" {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", side.Code, side.Figure, side.Overs))
		}
	}
	if len(parts) == 0 && len(s.Sides) == 2 {
		parts = append(parts, s.Sides[0].Code+" v "+s.Sides[1].Code)
	}
	if s.Headline != "" {
		parts = append(parts, s.Headline)
	}
	return strings.Join(parts, " · ")
}

// sentence capitalizes the first letter of a line.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// clockTime formats a time of day.
func clockTime(t time.Time) string { return t.UTC().Format("15:04") }

// plural formats a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// groupDigits formats a number with thin spaces between thousands.
func groupDigits[N int | int64 | uint64](n N) string {
	digits := fmt.Sprint(n)
	var out []string
	for len(digits) > 3 && digits[len(digits)-4] != '-' {
		out = append([]string{digits[len(digits)-3:]}, out...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, out...), "\u202f")
}

// ago formats an age.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(max(d, 0)/time.Second))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d/time.Minute))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
	default:
		return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
	}
}
