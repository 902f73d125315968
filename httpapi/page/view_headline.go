package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

// headline is the line of context under the big figure, and a smaller one that explains it. Every phase has one.
func (b *builder) headline() (line, context string) {
	d, f := &b.in.Display, &b.in.Fixture
	equation := sentence(d.Equation)
	switch d.Phase {
	case cricket.PhaseCompleted:
		if d.Result == "" {
			return "Play has ended", "Waiting for the result to be confirmed"
		}
		return d.Result, noteBeside(d.Note, d.Result)
	case cricket.PhaseAbandoned:
		return or(d.Result, "Match abandoned"), noteBeside(d.Note, d.Result)
	case cricket.PhaseStumps:
		return or(equation, "Stumps"), or(d.Note, d.Status)
	case cricket.PhaseInningsBreak:
		return or(equation, b.chase(), "Innings break"), b.note()
	case cricket.PhaseBreak:
		return or(equation, d.Status), or(d.Note, d.Status)
	case cricket.PhaseInterrupted:
		return or(equation, b.chase(), "Play stopped"), or(d.Note, "Play stopped")
	case cricket.PhaseLive:
		return or(equation, b.firstInnings()), or(b.note(), b.inHand(), tossText(f))
	default:
		return b.beforeStart()
	}
}

// or gives the first text that says something.
func or(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// note is the feed's own words, unless they give the target, which stands there already.
func (b *builder) note() string {
	if d := &b.in.Display; !strings.HasPrefix(d.Note, "Target ") || strings.ContainsAny(d.Note, "(,;") {
		return d.Note
	}
	return ""
}

// noteBeside leaves out a note that says the same as the line above it.
func noteBeside(note, line string) string {
	if strings.EqualFold(note, line) || strings.Contains(line, note) {
		return ""
	}
	return note
}

func tossText(f *cricket.Fixture) string {
	if f.Toss == "" {
		return ""
	}
	return "Toss: " + f.Toss
}

// inHand says how many wickets a side has left that bats second or later.
func (b *builder) inHand() string {
	cur := b.current()
	if cur == nil {
		return ""
	}
	left, label := 10-cur.Wickets, ""
	if cur.SuperOver {
		left, label = 2-cur.Wickets, "Super over"
	}
	if b.in.Display.Target == 0 && (b.in.Display.Lead == nil || len(b.in.Display.Innings) < 2) || left < 1 {
		return label
	}
	return joined(label, plural(left, "wicket", "wickets")+" in hand")
}

// chase says at the end of an innings what the side that bats next needs. A match of several days has its lead.
func (b *builder) chase() string {
	d, cur := &b.in.Display, b.current()
	if cur == nil || d.Lead != nil || d.Phase != cricket.PhaseInningsBreak {
		return ""
	}
	if cur.No%2 == 0 {
		if before := d.Innings[len(d.Innings)-2]; before.Runs == cur.Runs {
			return "Scores level"
		}
		return ""
	}
	for i := range d.Teams {
		if t := &d.Teams[i]; t.ID != cur.TeamID {
			text := fmt.Sprintf("%s need %d to win", t.Name, cur.Runs+1)
			if cur.SuperOver {
				text += " the super over"
			}
			return text
		}
	}
	return ""
}

// firstInnings is the context while nobody chases.
func (b *builder) firstInnings() string {
	cur := b.current()
	if cur == nil {
		return "Players are out"
	}
	side := b.side(cur.TeamID)
	if cur.SuperOver {
		return side.Name + " bat first"
	}
	if b.in.Display.Lead != nil {
		return fmt.Sprintf("%s batting, %s innings", side.Name, ordinal(b.inningsOf(cur)))
	}
	return side.Name + " batting first"
}

// inningsOf counts which of its side's innings this is.
func (b *builder) inningsOf(cur *cricket.InningsLine) int {
	n := 0
	for _, in := range b.in.Display.Innings {
		if in.TeamID == cur.TeamID && in.No <= cur.No && !in.SuperOver {
			n++
		}
	}
	return n
}

func ordinal(n int) string {
	switch n {
	case 1:
		return "1st"
	case 2:
		return "2nd"
	case 3:
		return "3rd"
	default:
		return fmt.Sprintf("%dth", n)
	}
}

// beforeStart is the headline of a match that has not begun.
func (b *builder) beforeStart() (line, context string) {
	f, now := &b.in.Fixture, b.in.Node.Clock.Now
	switch strings.TrimSuffix(strings.ToLower(b.in.Display.Status), ".") {
	case "delayed":
		return "Start delayed", or(b.in.Display.Note, tossText(f))
	case "postp":
		return "Postponed", b.in.Display.Note
	}
	start := f.StartTime
	if start.IsZero() {
		return "Yet to start", tossText(f)
	}
	line = "Starts " + clockTime(start) + " UTC"
	if start.Sub(now) > 20*time.Hour {
		line = "Starts " + start.UTC().Format("Mon 2 January, 15:04") + " UTC"
	}
	context = tossText(f)
	switch wait := start.Sub(now); {
	case now.IsZero():
	case wait > 0:
		context = joined("in "+ago(wait), context)
	default:
		context = joined("any moment now", context)
	}
	return line, context
}

func joined(parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " · ")
}
