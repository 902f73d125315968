package cricketapp_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// replayed plays one match.
func replayed(t *testing.T, c cricketapp.ReplayConfig) *cricketapp.ReplayReport {
	t.Helper()
	var out *cricketapp.ReplayReport
	if c.Faults > 0 && strings.Trim(c.Sources[0], "0123456789") == "" {
		c.Clean = func(context.Context, string) (*cricketapp.ReplayReport, error) { return cleanRun(t, c.Sources[0]), nil }
	}
	c.Report = func(r *cricketapp.ReplayReport) error {
		out = r
		return nil
	}
	if err := cricketapp.Replay(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return out
}

// cleanRuns holds the replays of recorded matches without feed faults, each played by the first test that needs it. The reports
// must not be changed.
var cleanRuns sync.Map

func cleanRun(t *testing.T, id string) *cricketapp.ReplayReport {
	t.Helper()
	run, _ := cleanRuns.LoadOrStore(id, sync.OnceValues(func() (out *cricketapp.ReplayReport, err error) {
		err = cricketapp.Replay(context.WithoutCancel(t.Context()), cricketapp.ReplayConfig{Sources: []string{id}, Report: func(r *cricketapp.ReplayReport) error {
			out = r
			return nil
		}})
		return out, err
	}))
	report, err := run.(func() (*cricketapp.ReplayReport, error))()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// oneOfEachFormat returns the shortest complete match of each format.
func oneOfEachFormat() []string {
	return []string{"1343760", "1208093", "1252718", "1073430", "1347416", "1244270", "1263169"}
}

// countedAs returns the name of a type of events in the independent count over the records: "" for types that are not in the
// records, and for types that need balls if balls are not read.
func countedAs(e cricket.EventType, balls bool) string {
	switch e {
	case cricket.EventFour, cricket.EventSix, cricket.EventConsecutiveSixes, cricket.EventMaiden, cricket.EventHatTrick:
		if !balls {
			return ""
		}
	case cricket.EventWicket, cricket.EventFifty, cricket.EventHundred, cricket.EventHundred50, cricket.EventTwoHundred,
		cricket.Event250, cricket.Event300, cricket.EventFiveFor, cricket.EventTenFor, cricket.EventInningsEnd,
		cricket.EventSuperOver, cricket.EventResult, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult:
	default:
		return ""
	}
	return string(e)
}

// againstCount returns the differences between a replay and the independent count.
func againstCount(r *cricketapp.ReplayReport, want expected) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if diff := cmp.Diff(want.Innings, r.Innings, numbersOnly()); diff != "" {
		say("innings (-count +node):\n%s", diff)
	}
	words := map[string]string{"win": want.Winner + " won", "tie": "Match tied", "draw": "Match drawn", "no result": "No result"}
	if !strings.HasPrefix(r.Result, words[want.Result]) {
		say("result %q, want %q", r.Result, words[want.Result])
	}
	wantEvents, events, wickets := map[string]int{}, map[string]int{}, map[string]int{}
	for kind, n := range want.Events {
		if countedAs(cricket.EventType(kind), !r.NoBalls) != "" {
			wantEvents[kind] = n
		}
	}
	for _, e := range r.Record {
		if kind := countedAs(e.Type, !r.NoBalls); kind != "" {
			events[kind]++
		}
		if e.Type == cricket.EventWicket {
			wickets[e.Detail]++
		}
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		say("events (-count +node):\n%s", diff)
	}
	if diff := cmp.Diff(want.Wickets, wickets); diff != "" {
		say("kinds of wickets (-count +node):\n%s", diff)
	}
	if diff := cmp.Diff(want.Ends, r.InningsEnds, cmpopts.EquateEmpty()); diff != "" {
		say("causes of innings ends (-count +node):\n%s", diff)
	}
	return append(problems, delivery(r)...)
}

// delivery returns what is wrong with the pushes, whatever the feed's faults.
func delivery(r *cricketapp.ReplayReport) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !r.PhonesRight {
		say("a phone shows something other than the display")
	}
	if r.UrgentPerHour > 15 {
		say("%d pushes of priority 10 in an hour", r.UrgentPerHour)
	}
	if r.LargestPayload > 2048 {
		say("a payload of %d bytes", r.LargestPayload)
	}
	if r.Late > 0 {
		say("%d timestamps did not rise", r.Late)
	}
	if r.Pushes.Refused > 0 || r.Pushes.Sent == 0 {
		say("pushes %+v", r.Pushes)
	}
	if r.Ignored > 0 {
		say("phones ignored %d pushes", r.Ignored)
	}
	if r.Mute > 0 {
		say("%d alerts lit up another event in the state", r.Mute)
	}
	seen := map[string]bool{}
	for _, a := range r.Alerts {
		if a.Withdrawn {
			continue
		}
		if seen[a.Key] {
			say("alert %s twice", a.Key)
		}
		seen[a.Key] = true
	}
	if !seen["result"] {
		say("no alert for the result")
	}
	return append(problems, twice(r)...)
}

// twice returns the alerts that a phone showed more often than they were announced. An event that was withdrawn and turns out to
// be true is announced again under its own key, with the text in the final record or with one that is no longer in it.
func twice(r *cricketapp.ReplayReport) (problems []string) {
	events, withdrawn, all := map[string]int{}, map[string]int{}, 0
	for _, e := range r.Record {
		if e.Type == cricket.EventCorrection {
			withdrawn[e.Detail]++
			all++
		}
	}
	for _, e := range r.Record {
		if e.Alert {
			events[e.Text] += 1 + withdrawn[e.Key]
		}
	}
	shown := map[string]int{}
	for _, text := range r.Shown {
		may := 0
		for told, times := range events {
			if text == told || strings.HasPrefix(text, told+" · ") { // a result is shown with both scores
				may = max(may, times)
			}
		}
		if may == 0 { // no longer in the record
			may = all
		}
		if shown[text]++; shown[text] > max(1, may) {
			problems = append(problems, fmt.Sprintf("a phone showed %q %d times", text, shown[text]))
		}
	}
	return problems
}

// againstClean returns the promises that a replay with feed faults breaks, compared with a replay without.
func againstClean(r, clean *cricketapp.ReplayReport) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	display := cmp.Diff(clean.Display, r.Display,
		cmpopts.IgnoreFields(cricket.Display{}, "UpdatedAt"), cmpopts.IgnoreFields(cricket.KeyEvent{}, "At"))
	if display != "" {
		say("final display (-clean +with faults):\n%s", display)
	}
	if w := r.LastWords; w != nil && w.Wrong+w.False+w.Untold > 0 {
		say("last words: %s", strings.Join(w.Each, "\n"))
	}
	if d := r.RecordDiff; d != nil && len(d.Each) > 0 {
		say("events recorded: %s", strings.Join(d.Each, "\n"))
	}
	truth, record := byKey(clean.Record), byKey(r.Record)
	corrected := map[string]bool{}
	for i := range slices.Backward(r.Record) { // a correction comes after what it corrects
		e := &r.Record[i]
		if e.Type == cricket.EventCorrection {
			corrected[e.Detail] = true
			key, _ := strings.CutPrefix(e.Key, "corr:")
			corrected[key] = true
			continue
		}
		if e.Alert && !sameFact(e, truth[e.Key]) && !corrected[e.Key] {
			say("alert %s (%s) is false and was not corrected; the truth: %s", e.Key, e.Text, text(truth[e.Key]))
		}
	}
	rows := foundInRows(r.Record, truth)
	for _, key := range slices.Sorted(maps.Keys(truth)) {
		e, got := truth[key], record[key]
		switch {
		case got == nil && rows[rowKind{e.Type, e.Innings}] > 0:
			rows[rowKind{e.Type, e.Innings}]--
		case got == nil && countedAs(e.Type, !r.NoBalls) != "":
			say("%s (%s) is missing", key, e.Text)
		case got == nil || !e.Alert || got.Alert || got.Dropped != "":
		default:
			say("alert %s (%s) is missing, and no rule dropped it", key, e.Text)
		}
	}
	return append(problems, delivery(r)...)
}

// rowKind is a kind of event that scorecard rows show even if the balls are missing: a four, a six or a maiden, of an innings.
type rowKind struct {
	kind    cricket.EventType
	innings int
}

// foundInRows counts the events that were found in rows, under other keys than those of the balls that came later.
func foundInRows(record []cricket.Event, truth map[string]*cricket.Event) map[rowKind]int {
	rows := map[rowKind]int{}
	for _, e := range record {
		switch e.Type {
		case cricket.EventFour, cricket.EventSix, cricket.EventMaiden:
			if ofBall := strings.HasPrefix(e.Key, "b:") || strings.HasPrefix(e.Key, "md:"); truth[e.Key] == nil && !ofBall {
				rows[rowKind{e.Type, e.Innings}]++
			}
		default:
		}
	}
	return rows
}

func byKey(events []cricket.Event) map[string]*cricket.Event {
	out := map[string]*cricket.Event{}
	for i := range events {
		out[events[i].Key] = &events[i]
	}
	return out
}

func text(e *cricket.Event) string {
	if e == nil {
		return "nothing of the kind"
	}
	return e.Text
}

// sameFact reports whether two events with the same key state the same: who was out for a wicket, who won for a result.
func sameFact(a, b *cricket.Event) bool {
	if b == nil {
		return false
	}
	switch a.Type {
	case cricket.EventWicket:
		return who(a) == who(b)
	case cricket.EventResult, cricket.EventTie, cricket.EventDraw, cricket.EventNoResult, cricket.EventAbandoned:
		one, _, _ := strings.Cut(a.Text, " by ")
		other, _, _ := strings.Cut(b.Text, " by ")
		return strings.HasPrefix(other, strings.TrimSuffix(one, ".")) || strings.HasPrefix(one, other)
	default:
		return true
	}
}

// who returns the batter in the text of a wicket, "WICKET! Kohli b Starc 54 (63)"; if several fell at once, the one of its key.
func who(e *cricket.Event) string {
	text := cricketapp.Facts(e.Key, e.Text)
	_, after, found := strings.Cut(text, "! ")
	if !found {
		_, after, _ = strings.Cut(text, ": ")
	}
	words := strings.Fields(after)
	for i, w := range words {
		if i > 0 && slices.Contains([]string{"b", "c", "caught", "lbw", "st", "run", "hit", "retired", "timed", "obstructing", "out"}, w) {
			return strings.Join(words[:i], " ")
		}
	}
	return text
}
