package page

import (
	"time"

	"cmp"
	"slices"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/httpapi/page"
)

// Limits of the timeline: the newest events, and only important ones among the older.
const (
	newestItems = 24
	mostItems   = 60
)

// timeline returns the events and their alerts.
func (b *builder) timeline() page.Timeline {
	told := b.phonesTold()
	t := page.Timeline{
		ID: "timeline", Title: "What happened", None: "Wickets, boundaries, milestones and results will be listed here, with who got an alert.",
	}
	rest := 0
	for _, e := range slices.Backward(inOrder(b.in.Events)) {
		kind, mark := eventMark(string(e.Type))
		if n := len(t.Items); n >= mostItems || n >= newestItems && small(e.Type) {
			rest++
			continue
		}
		item := page.Happening{
			Key: e.Key, Kind: kind, Mark: mark, Text: e.Text,
			Note: b.toldText(&e, cmp.Or(told[e.Key], b.in.Audience.Reached[e.Key])), Loud: kind == "wicket" || kind == "end",
			At: clockTime(e.At), Stamp: e.At.UTC().Format("2006-01-02T15:04:05Z"),
		}
		if isIcon(mark) {
			item.Icon = mark
		}
		if e.Over != "" {
			item.Where = "Over " + e.Over
		}
		if e.Alert {
			item.NoteIcon = "bell"
		}
		if n := e.Innings; n >= 1 && n <= len(b.in.Display.Innings) {
			item.Side = b.side(b.in.Display.Innings[n-1].TeamID).Class
		}
		t.Items = append(t.Items, item)
	}
	if rest > 0 {
		t.Rest = plural(rest, "older event of a ball or an over", "older events of balls and overs") + " not shown"
	}
	return t
}

// inOrder orders events of the same tick so that an end follows what happened before it.
func inOrder(events []cricket.Event) []cricket.Event {
	rank := func(t cricket.EventType) int {
		switch t {
		case cricket.EventMatchStart:
			return 0
		case cricket.EventInningsEnd, cricket.EventStumps:
			return 2
		case cricket.EventSuperOver:
			return 3
		case cricket.EventResult, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult:
			return 4
		default:
			return 1
		}
	}
	return slices.SortedStableFunc(slices.Values(events), func(x, y cricket.Event) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(rank(x.Type), rank(y.Type)))
	})
}

// small reports whether a type of event is frequent and unimportant.
func small(t cricket.EventType) bool {
	switch t {
	case cricket.EventFour, cricket.EventSix, cricket.EventMaiden, cricket.EventOverEnd, cricket.EventNewBatsman,
		cricket.EventBowlerOnFire, cricket.EventBatsmanOnFire, cricket.EventPowerplayEnd, cricket.EventToss, cricket.EventLineup:
		return true
	default:
		return false
	}
}

// phonesTold returns, by event, the number of phones that showed its alert.
func (b *builder) phonesTold() map[string]int {
	byText := map[string]string{}
	for i := range b.in.Events {
		byText[b.in.Events[i].Text] = b.in.Events[i].Key
	}
	told := map[string]int{}
	for i := range b.in.Phones {
		for _, a := range b.in.Phones[i].Alerts {
			if key, ok := byText[a.Body]; ok {
				told[key]++
			}
		}
	}
	return told
}

// onItsWay is how long an alert that has reached no phone may still arrive.
const onItsWay = 2 * time.Minute

// toldText returns how many phones an alert reached, or why none was sent.
func (b *builder) toldText(e *cricket.Event, phones int) string {
	switch {
	case e.Alert && phones > 0:
		return "Alert to " + plural(phones, "phone", "phones")
	case e.Alert && !b.in.Node.Pushes.Configured:
		return "Would alert: this node has no push"
	case e.Alert && b.in.Audience.Elsewhere:
		return "Alert by another node"
	case e.Alert && b.in.Node.Clock.Now.Sub(e.At) < onItsWay:
		return "Alert on its way"
	case e.Alert:
		return "Alert to no known phone"
	}
	if e.Dropped == "" {
		return "" // on the display only
	}
	if e.Dropped == "merged" {
		return "Covered by another alert"
	}
	why := map[string]string{
		"cooldown": "one of its kind just went out",
		"budget":   "the hour's budget is spent",
		"stale":    "old news when it came",
		"burst":    "several balls came at once",
		"baseline": "it happened before the node was watching",
	}[e.Dropped]
	return "No alert: " + cmp.Or(why, e.Dropped)
}

// eventMarks are the styles and signs of events.
var eventMarks = map[cricket.EventType][2]string{
	cricket.EventWicket:           {"wicket", "W"},
	cricket.EventFour:             {"boundary", "4"},
	cricket.EventSix:              {"boundary six", "6"},
	cricket.EventFifty:            {"milestone", "50"},
	cricket.EventHundred:          {"milestone", "100"},
	cricket.EventHundred50:        {"milestone", "150"},
	cricket.EventTwoHundred:       {"milestone", "200"},
	cricket.Event250:              {"milestone", "250"},
	cricket.Event300:              {"milestone", "300"},
	cricket.EventFiveFor:          {"wicket", "5w"},
	cricket.EventTenFor:           {"wicket", "10w"},
	cricket.EventHatTrick:         {"wicket", "HT"},
	"hattrick":                    {"wicket", "HT"},
	cricket.EventConsecutiveSixes: {"boundary six", "666"},
	cricket.EventMaiden:           {"mark", "M"},
	cricket.EventSuperOver:        {"end", "SO"},
	cricket.EventResult:           {"end", "trophy"},
	cricket.EventTie:              {"end", "trophy"},
	cricket.EventDraw:             {"end", "trophy"},
	cricket.EventNoResult:         {"end", "trophy"},
	"match_end":                   {"end", "trophy"},
	cricket.EventInningsEnd:       {"mark", "swap"},
	cricket.EventStumps:           {"mark", "stumps"},
	cricket.EventMatchStart:       {"mark", "play"},
	cricket.EventCorrection:       {"mark", "dot"},
	cricket.EventTargetRevised:    {"mark", "dot"},
}

// isIcon reports whether a sign is an icon rather than letters.
func isIcon(mark string) bool {
	return slices.Contains([]string{"trophy", "swap", "stumps", "play", "dot"}, mark)
}

// eventMark returns an event's style and sign.
func eventMark(eventType string) (kind, mark string) {
	if m, ok := eventMarks[cricket.EventType(eventType)]; ok {
		return m[0], m[1]
	}
	return "mark minor", "dot"
}
