package cricketapp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// RecordDiff counts by type how the final record differs from that of a feed without faults: missing events, and
// false ones. A changed event counts as one of each.
type RecordDiff struct {
	Missing map[string]int `json:"missing"`
	False   map[string]int `json:"false"`
	Each    []string       `json:"-"` // as text
}

// recordDiff compares a record with the true one.
func recordDiff(record, clean []cricket.Event) *RecordDiff {
	d := &RecordDiff{Missing: map[string]int{}, False: map[string]int{}}
	is, so := recordedFacts(record), recordedFacts(clean)
	for _, f := range slices.SortedFunc(maps.Keys(so), recordedFact.compare) {
		if n := so[f] - is[f]; n > 0 {
			d.Missing[string(f.kind)] += n
			d.Each = append(d.Each, fmt.Sprintf("missing: %s", f))
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(is), recordedFact.compare) {
		if n := is[f] - so[f]; n > 0 {
			d.False[string(f.kind)] += n
			d.Each = append(d.Each, fmt.Sprintf("false: %s", f))
		}
	}
	return d
}

// recordedFact is the content of a recorded event.
type recordedFact struct {
	kind    cricket.EventType
	innings int
	subject string
	words   string
}

func (f recordedFact) String() string {
	return fmt.Sprintf("%s of innings %d: %s %s", f.kind, f.innings, f.subject, f.words)
}

func (f recordedFact) compare(g recordedFact) int { return strings.Compare(f.String(), g.String()) }

// recordedFacts counts the facts of a record, without corrections.
func recordedFacts(record []cricket.Event) map[recordedFact]int {
	out := map[recordedFact]int{}
	for i := range record {
		if e := &record[i]; e.Type != cricket.EventCorrection {
			out[recordedFactOf(e)]++
		}
	}
	return out
}

// recordedFactOf returns the fact of an event. Events from scorecard rows have keys of their own, so for a
// boundary or maiden the player counts instead.
func recordedFactOf(e *cricket.Event) recordedFact {
	f := recordedFact{kind: e.Type, innings: e.Innings, subject: e.Key}
	switch e.Type {
	case cricket.EventFour, cricket.EventSix, cricket.EventMaiden, cricket.EventConsecutiveSixes:
		f.subject = ""
		_, who, _ := strings.Cut(strings.Replace(e.Text, "! ", ": ", 1), ": ")
		f.words, _, _ = strings.Cut(who, " · ")
	default:
		f.words, _, _ = strings.Cut(facts(e.Key, e.Text), " · ")
		if e.Key != "result" { // a chase's score may announce the result before or after the feed
			f.words += " " + e.Detail
		}
	}
	return f
}
