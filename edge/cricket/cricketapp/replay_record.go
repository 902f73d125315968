package cricketapp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
)

// RecordDiff counts by type the events in which the record of a match differs in the end from that of a feed without faults:
// those that it lacks, and those that were not. One that says something else is one of each.
type RecordDiff struct {
	Missing map[string]int `json:"missing"`
	False   map[string]int `json:"false"`
	Each    []string       `json:"-"` // in words
}

// recordDiff holds a record against the true one.
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

// recordedFact is what a row of the record says.
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

// recordedFacts counts what the rows of a record say. Corrections say what was not so.
func recordedFacts(record []cricket.Event) map[recordedFact]int {
	out := map[recordedFact]int{}
	for i := range record {
		if e := &record[i]; e.Type != cricket.EventCorrection {
			out[recordedFactOf(e)]++
		}
	}
	return out
}

// recordedFactOf is the fact of a row. What rows of the scorecard have told while the balls were missing has keys of its own:
// what counts is who hit the boundary or bowled the maiden.
func recordedFactOf(e *cricket.Event) recordedFact {
	f := recordedFact{kind: e.Type, innings: e.Innings, subject: e.Key}
	switch e.Type {
	case cricket.EventFour, cricket.EventSix, cricket.EventMaiden, cricket.EventConsecutiveSixes:
		f.subject = ""
		_, who, _ := strings.Cut(strings.Replace(e.Text, "! ", ": ", 1), ": ")
		f.words, _, _ = strings.Cut(who, " · ")
	default:
		f.words, _, _ = strings.Cut(facts(e.Key, e.Text), " · ")
		if e.Key != "result" { // which the score of a chase tells before the feed does, or after it
			f.words += " " + e.Detail
		}
	}
	return f
}
