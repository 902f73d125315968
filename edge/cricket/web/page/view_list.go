package page

import (
	"cmp"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
)

// ListInput is all data of the list of matches.
type ListInput struct {
	Fixtures []matches.Fixture
	Node     NodeStatus
}

// List is the list of matches; without any, the page of a day without matches.
type List struct {
	Title  string
	Top    Top
	Groups []ListGroup
	Feed   string // when the feed last answered, for a day without matches
	Node   NodeView
}

// ListGroup is the matches in one state.
type ListGroup struct {
	ID, Title string
	Items     []ListItem
}

// ListItem is one match.
type ListItem struct {
	ID          string
	Pill        Pill
	Competition string
	When        string
	Line        string
	Teams       []ListTeam
}

// ListTeam is a side's line.
type ListTeam struct{ Class, Code, Name, Score string }

// NewList returns the content of the list of matches.
func NewList(in ListInput) List {
	l := List{
		Title: "Matches",
		Top:   Top{Competition: "Matches", Badges: newBadges(&in.Node, false, time.Time{})},
		Node:  NewNodeView(in.Node),
	}
	live := ListGroup{ID: "live", Title: "On now"}
	soon := ListGroup{ID: "soon", Title: "Coming up"}
	done := ListGroup{ID: "done", Title: "Finished"}
	fixtures := slices.SortedFunc(slices.Values(in.Fixtures), func(a, b matches.Fixture) int {
		return cmp.Or(a.StartTime.Compare(b.StartTime), cmp.Compare(a.MatchID, b.MatchID))
	})
	for i := range fixtures {
		f := &fixtures[i]
		switch item := listItem(f); f.Phase {
		case cricket.PhasePrematch, cricket.PhasePostponed, "":
			soon.Items = append(soon.Items, item)
		case cricket.PhaseCompleted, cricket.PhaseAbandoned, cricket.PhaseNoNews:
			done.Items = append([]ListItem{item}, done.Items...)
		default:
			live.Items = append(live.Items, item)
		}
	}
	for _, g := range []ListGroup{live, soon, done} {
		if len(g.Items) > 0 {
			l.Groups = append(l.Groups, g)
		}
	}
	if len(l.Groups) == 0 {
		l.Title = "Nothing on"
		l.Top.Competition = "Nothing on"
	}
	l.Feed = "The feed has not answered yet."
	if !in.Node.Feed.Configured {
		l.Feed = "No feed is configured."
	}
	if at := in.Node.Feed.LastAt; !at.IsZero() {
		l.Feed = "The feed was last heard at " + at.UTC().Format("15:04:05") + " UTC."
	}
	return l
}

func listItem(f *matches.Fixture) ListItem {
	item := ListItem{
		ID: f.MatchID, Pill: pillOf(f.Phase, f.Status, 0), Competition: joinTexts(f.LeagueName, f.Round, f.Venue),
		When: f.StartTime.UTC().Format("Mon 2 January 2006, 15:04") + " UTC", Line: cmp.Or(f.Result, f.Note, tossText(f)),
	}
	var kits []kit
	for _, t := range f.Teams {
		kits = append(kits, kitOf(t.Name, t.Code))
	}
	for i, t := range f.Teams {
		class := "t-" + kits[i].slug
		if i == 1 {
			_, class = classes(kits[0], kits[1])
		}
		item.Teams = append(item.Teams, ListTeam{class, t.Code, t.Name, t.Score})
	}
	return item
}
