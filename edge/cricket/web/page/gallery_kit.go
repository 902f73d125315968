package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// kitBox is the small parts of the pages in all their states.
type kitBox struct {
	Pills  []Pill
	Tokens []Banner
	Discs  []Disc
	Teams  []ListTeam
}

func newKitBox() kitBox {
	var k kitBox
	for _, p := range []struct {
		phase  cricket.Phase
		status string
		day    int
	}{
		{cricket.PhasePrematch, "NS", 0}, {cricket.PhaseLive, "", 0}, {cricket.PhaseInningsBreak, "", 0},
		{cricket.PhaseBreak, "Lunch", 0}, {cricket.PhaseInterrupted, "", 0}, {cricket.PhaseStumps, "", 2},
		{cricket.PhaseCompleted, "", 0}, {cricket.PhaseAbandoned, "", 0}, {cricket.PhasePostponed, "", 0},
		{cricket.PhaseNoNews, "", 0},
	} {
		k.Pills = append(k.Pills, pillOf(p.phase, p.status, p.day))
	}
	for _, t := range []cricket.EventType{
		cricket.EventMatchStart, cricket.EventWicket, cricket.EventFour, cricket.EventSix, cricket.EventFifty,
		cricket.EventHundred, cricket.EventFiveFor, cricket.EventHatTrick, cricket.EventConsecutiveSixes,
		cricket.EventMaiden, cricket.EventInningsEnd, cricket.EventSuperOver,
		cricket.EventStumps, cricket.EventResult,
	} {
		kind, mark := eventMark(string(t))
		k.Tokens = append(k.Tokens, Banner{Kind: kind, Mark: mark, Text: string(t)})
	}
	for mark := range strings.FieldsSeq(". 1 2 3 4 6 W wd 5wd nb 2nb 4b 1lb W1") {
		k.Discs = append(k.Discs, discOf(mark, markKind(mark)))
	}
	kits, _ := knownKits()
	for _, name := range slices.Sorted(maps.Keys(kits)) {
		class := "t-" + kits[name].slug
		k.Teams = append(k.Teams, ListTeam{Class: class, Code: strings.ToUpper(name[:3]), Name: name},
			ListTeam{Class: class + "-alt", Code: "ALT", Name: name})
	}
	for n := range hues {
		k.Teams = append(k.Teams, ListTeam{Class: "t-" + hueKit(n).slug, Code: "HUE", Name: hueKit(n).slug})
	}
	return k
}
