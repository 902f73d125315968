package page

import (
	"time"

	"cmp"
	"slices"

	"github.com/touchline/touchline/edge/cricket"
)

// Timeline is what happened and who was told, the newest first.
type Timeline struct {
	Items []Item
	Rest  string // what is left out
}

// How much of a match the timeline tells: the newest events, and of the older ones those that count.
const (
	newestItems = 24
	mostItems   = 60
)

// Item is one event.
type Item struct {
	Key   string
	Kind  string // style: wicket, boundary, milestone, mark
	Mark  string
	Side  string // class of the batting side
	Over  string
	Text  string
	Told  string
	Alert bool
	Loud  bool // read out at once: wickets and results
	At    string
	Stamp string // machine-readable
}

func (b *builder) timeline() Timeline {
	told := b.told()
	var t Timeline
	rest := 0
	for _, e := range slices.Backward(inOrder(b.in.Events)) {
		kind, mark := eventMark(string(e.Type))
		if n := len(t.Items); n >= mostItems || n >= newestItems && small(e.Type) {
			rest++
			continue
		}
		item := Item{
			Key: e.Key, Kind: kind, Mark: mark, Over: e.Over, Text: e.Text, Alert: e.Alert,
			Told: b.toldText(&e, cmp.Or(told[e.Key], b.in.Audience.Reached[e.Key])), Loud: kind == "wicket" || kind == "end",
			At: clockTime(e.At), Stamp: e.At.UTC().Format("2006-01-02T15:04:05Z"),
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

// inOrder puts what ends something behind what happened in it: both may have become sure in the same reading.
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

// small events are many, and soon forgotten.
func small(t cricket.EventType) bool {
	switch t {
	case cricket.EventFour, cricket.EventSix, cricket.EventMaiden, cricket.EventOverEnd, cricket.EventNewBatsman,
		cricket.EventBowlerOnFire, cricket.EventBatsmanOnFire, cricket.EventPowerplayEnd, cricket.EventToss, cricket.EventLineup:
		return true
	default:
		return false
	}
}

// told counts by event the phones that showed an alert of it.
func (b *builder) told() map[string]int {
	byText := map[string]string{}
	for i := range b.in.Events {
		byText[b.in.Events[i].Text] = b.in.Events[i].Key
	}
	told := map[string]int{}
	for i := range b.in.Phones {
		for _, a := range b.in.Phones[i].Alerts {
			key := a.Key
			if key == "" {
				key = byText[a.Body]
			}
			if key != "" {
				told[key]++
			}
		}
	}
	return told
}

// onItsWay is how long an alert that has reached no phone may still come.
const onItsWay = 2 * time.Minute

// toldText says how many phones an alert reached, and if none was sent, why.
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
	switch e.Dropped {
	case "":
		return "" // on the display, like everything
	case "merged":
		return "Told with another alert"
	case "cooldown":
		return "No alert: one of its kind just went out"
	case "budget":
		return "No alert: the hour's budget is spent"
	case "stale":
		return "No alert: old news when it came"
	case "burst":
		return "No alert: several balls came at once"
	case "baseline":
		return "No alert: it happened before we watched"
	default:
		return "No alert: " + e.Dropped
	}
}

// eventMark returns an event's style and the sign it wears.
func eventMark(eventType string) (kind, mark string) {
	switch cricket.EventType(eventType) {
	case cricket.EventWicket:
		return "wicket", "W"
	case cricket.EventFour:
		return "boundary", "4"
	case cricket.EventSix:
		return "boundary six", "6"
	case cricket.EventFifty:
		return "milestone", "50"
	case cricket.EventHundred:
		return "milestone", "100"
	case cricket.EventHundred50:
		return "milestone", "150"
	case cricket.EventTwoHundred:
		return "milestone", "200"
	case cricket.Event250:
		return "milestone", "250"
	case cricket.Event300:
		return "milestone", "300"
	case cricket.EventFiveFor:
		return "wicket", "5w"
	case cricket.EventTenFor:
		return "wicket", "10w"
	case cricket.EventHatTrick, "hattrick":
		return "wicket", "HT"
	case cricket.EventConsecutiveSixes:
		return "boundary six", "666"
	case cricket.EventMaiden:
		return "mark", "M"
	case cricket.EventSuperOver:
		return "end", "SO"
	case cricket.EventResult, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult, "match_end":
		return "end", "trophy"
	case cricket.EventInningsEnd:
		return "mark", "swap"
	case cricket.EventStumps:
		return "mark", "stumps"
	case cricket.EventMatchStart:
		return "mark", "play"
	case cricket.EventCorrection, cricket.EventTargetRevised:
		return "mark", "dot"
	default:
		return "mark minor", "dot"
	}
}
