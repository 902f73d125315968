package cricketapp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// LastWords counts the subjects (a wicket, an innings, a milestone, the result) on which a phone's last alert
// differs from the truth, which is a replay without faults. All counts should be zero.
type LastWords struct {
	Wrong  int      `json:"wrong"`  // it states something else
	False  int      `json:"false"`  // it never happened
	Untold int      `json:"untold"` // it was withdrawn but is true
	Each   []string `json:"-"`      // as text
}

// subjectOf returns the subject on which an event's last alert must be true: its key, or one for all targets, of
// which one is in force. Transient events have none: rain, and how close a chase is.
func subjectOf(kind cricket.EventType, key string) string {
	switch kind {
	case cricket.EventTargetRevised:
		return "dls" // as in the keys of corrections
	case cricket.EventDelayed, cricket.EventInterrupted, cricket.EventStumps, cricket.EventPostponed, cricket.EventCancelled,
		cricket.EventMatchStart, cricket.EventChaseClose:
		return ""
	default:
		return key
	}
}

// toldWords holds the alerts of a match in the order they were claimed, including those of withdrawn events.
type toldWords struct {
	seq    uint64
	events []cricket.Event
	gone   map[int]bool // indexes of the events whose rows were deleted since
	unsent map[int]bool // and of those whose alert reached nobody, and was taken back
}

// readJournal reads the journal further.
func (w *toldWords) readJournal(ctx context.Context, s *store.Store) error {
	const some = 256
	for {
		records, err := s.Journal(ctx, w.seq, some)
		if err != nil {
			return err
		}
		for i := range records {
			r := &records[i]
			w.seq = r.Seq
			if r.Table == tables.Events {
				w.change(r)
			}
			if r.Table != tables.Events || r.New == nil || r.Old != nil {
				continue
			}
			var e cricket.Event
			if err := attr.Unmarshal(r.New, &e); err != nil {
				return err
			}
			w.events = append(w.events, e)
		}
		if len(records) < some {
			return nil
		}
	}
}

// change notes what happens to the row of an event.
func (w *toldWords) change(r *store.Record) {
	i := len(w.events) - 1
	for i >= 0 && w.events[i].Key != r.Key["eventKey"].Str() {
		i--
	}
	if w.gone == nil {
		w.gone, w.unsent = map[int]bool{}, map[int]bool{}
	}
	switch {
	case i < 0:
	case r.New == nil:
		w.gone[i] = true
	case r.Old["alert"].Bool() && !r.New["alert"].Bool():
		w.unsent[i] = true
	}
}

// alerts lists every alert that was announced, in order.
func (w *toldWords) alerts() []SummaryAlert {
	out := []SummaryAlert{}
	for i := range w.events {
		if e := &w.events[i]; e.Alert && !w.unsent[i] {
			out = append(out, SummaryAlert{Key: e.Key, Text: cmp.Or(e.Told, e.Text), Withdrawn: w.gone[i]})
		}
	}
	return out
}

// last returns the last text on each subject that a phone got, from what it showed; "" means that it did not
// happen. A correction covered by another alert is included in that alert's text.
func (w *toldWords) last(shown []string) map[string]string {
	out := map[string]string{}
	from := 0
	for _, body := range shown {
		i := slices.IndexFunc(w.events[from:], func(e cricket.Event) bool { return e.Alert && sameStart(e.Text, body) })
		if i < 0 {
			continue // not of an event, or a repeated one
		}
		from += i
		alert := &w.events[from]
		from++
		for j := range w.events {
			e := &w.events[j]
			switch {
			case j != from-1 && !spokenFor(e, alert):
			case e.Type == cricket.EventCorrection:
				out[e.Detail] = facts(e.Detail, e.Instead)
			default:
				if subject := subjectOf(e.Type, e.Key); subject != "" {
					out[subject] = facts(e.Key, e.Text)
				}
			}
		}
	}
	return out
}

// spokenFor reports whether an alert covers another event of its tick: a correction in its text, or a wicket or
// haul in that of a wicket or of what it ended.
func spokenFor(e, alert *cricket.Event) bool {
	if e.Dropped != "merged" || !e.At.Equal(alert.At) {
		return false
	}
	switch e.Type {
	case cricket.EventCorrection:
		said, _, _ := strings.Cut(strings.TrimPrefix(e.Text, "Correction: "), " · ") // of several the score is said once
		return strings.Contains(alert.Text, said)
	case cricket.EventTargetRevised: // "IND 77/4 (10). PAK need 88 off 10"
		_, is, _ := strings.Cut(e.Text, ": ")
		is, _, _ = strings.Cut(is, " (")
		return alert.Type == cricket.EventInningsEnd && strings.HasSuffix(alert.Text, " need "+is)
	case cricket.EventWicket, cricket.EventFiveFor, cricket.EventTenFor:
		return ofPlayers(alert.Type)
	case cricket.EventFour, cricket.EventSix, cricket.EventConsecutiveSixes:
		return e.BallID == alert.BallID && cry.MatchString(alert.Text)
	default:
		_, who, _ := strings.Cut(e.Text, "! ")
		return milestone.MatchString(e.Key) && ofPlayers(alert.Type) && strings.Contains(alert.Text, " for "+who)
	}
}

// ofPlayers reports whether the alert of a type names what players did in its tick: wickets, hauls and milestones.
func ofPlayers(t cricket.EventType) bool {
	return t == cricket.EventWicket || t == cricket.EventHatTrick || t == cricket.EventInningsEnd
}

// sameStart reports whether an alert's body is text, or its beginning.
func sameStart(text, body string) bool {
	return text == body || strings.HasPrefix(body, text+" · ") || strings.HasSuffix(body, "…") && strings.HasPrefix(text, strings.TrimSuffix(body, "…"))
}

var (
	// figures match details of the moment of an alert: balls faced, a score.
	figures = regexp.MustCompile(` \([\d.]+\)| \d+-\d+`)
	// tail matches what may follow the batters of a wicket: wickets in consecutive balls, a bowler's haul, another batter's milestone.
	tail = regexp.MustCompile(`^(\d+ in \d+|(five|ten) (for|in) .*|(fifty|\d+|(double |triple )?hundred) for .*)$`)
	// cry matches the boundary before the milestone that it made.
	cry = regexp.MustCompile(`^(FOUR|SIX|Three sixes in a row)! ([A-Z0-9 ]+! )`)
	// milestone matches the keys of milestones.
	milestone = regexp.MustCompile(`^m\d+:`)
)

// facts returns the part of an alert about a key's subject, without merged texts and balls faced.
func facts(key, text string) string {
	text = cry.ReplaceAllString(figures.ReplaceAllString(text, ""), "$2")
	if people, score, found := strings.Cut(text, " · "); found && !strings.Contains(score, ". ") {
		later := wicketsAfter(key, score)
		if later > 0 { // the score at the time of this wicket is not in the text
			return outBefore(people, later)
		}
		return outBefore(people, 0) + " · " + score
	}
	sentences := strings.Split(text, ". ")
	keep := 1
	if strings.Contains(sentences[len(sentences)-1], " need ") {
		keep = 2
	}
	return strings.Join(sentences[max(0, len(sentences)-keep):], ". ")
}

// wicketsAfter returns how many wickets in a score fell after that of a key, "w:2:7" in "IND 182/8".
func wicketsAfter(key, score string) int {
	innings, no, _ := strings.Cut(strings.TrimPrefix(key, "w:"), ":")
	_, fallen, _ := strings.Cut(score, "/")
	this, err := strconv.Atoi(no)
	all, err2 := strconv.Atoi(fallen)
	if "w:"+innings+":"+no != key || err != nil || err2 != nil {
		return 0
	}
	return all - this
}

// outBefore returns the batter in "2 wickets! A b B 1, C lbw b B 0, five for B" who is followed by later others: 0 for the last.
func outBefore(people string, later int) string {
	before, list, found := strings.Cut(people, "! ")
	if !found {
		return people
	}
	if strings.HasSuffix(before, " wickets") {
		before = "WICKET"
	}
	parts := slices.DeleteFunc(strings.Split(list, ", "), tail.MatchString)
	if later < 0 || later >= len(parts) {
		return before
	}
	return before + "! " + parts[len(parts)-1-later]
}

// truthOf returns the truth on each subject from a match's record, with its corrections.
func truthOf(record []cricket.Event) map[string]string {
	truth := map[string]string{}
	for i := range record {
		e := &record[i]
		switch subject := subjectOf(e.Type, e.Key); {
		case e.Type == cricket.EventCorrection && e.Instead == "":
			delete(truth, e.Detail)
		case e.Type == cricket.EventCorrection:
			truth[e.Detail] = facts(e.Detail, e.Instead)
		case subject != "":
			truth[subject] = facts(e.Key, e.Text)
		}
	}
	return truth
}

// sameFacts reports whether two texts state the same. If rain changed the target after an innings, only the
// score of the innings counts: the target has an alert of its own.
func sameFacts(a, b string) bool {
	fell, at, timed := strings.Cut(a, " · ")
	gone, when, dated := strings.Cut(b, " · ")
	if fell == gone && (at == when || timed != dated) { // of several wickets at once, only the last has a score
		return true
	}
	score, need, _ := strings.Cut(a, ". ")
	other, left, _ := strings.Cut(b, ". ")
	return score == other && (strings.Contains(need, " off ") || strings.Contains(left, " off "))
}

// lastWords compares a phone's last alerts with the replay without faults.
func lastWords(last map[string]string, clean []cricket.Event) *LastWords {
	truth := truthOf(clean)
	w := &LastWords{}
	say := func(count *int, format string, args ...any) {
		*count++
		w.Each = append(w.Each, fmt.Sprintf(format, args...))
	}
	for _, subject := range slices.Sorted(maps.Keys(last)) {
		said := last[subject]
		is, so := truth[subject]
		switch {
		case said == "" && so:
			say(&w.Untold, "withdrawn: %s is true: %q", subject, is)
		case said != "" && !so:
			say(&w.False, "false: %s did not happen: %q", subject, said)
		case !sameFacts(said, is):
			say(&w.Wrong, "wrong: on %s it says %q, the record %q", subject, said, is)
		}
	}
	return w
}
