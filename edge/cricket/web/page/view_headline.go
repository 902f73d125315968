package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
)

// headline returns the line below the big figure, and a smaller one that explains it. Every phase has one.
func (b *builder) headline() (line, context string) {
	d, f := &b.in.Display, &b.in.Fixture
	equation := sentence(d.Equation)
	switch d.Phase {
	case cricket.PhaseCompleted:
		if d.Result == "" {
			return "Play has ended", "Waiting for the result to be confirmed"
		}
		return d.Result, noteBeside(d.Note, d.Result)
	case cricket.PhasePostponed:
		return "Postponed", cmp.Or(b.otherTime(), d.Note)
	case cricket.PhaseAbandoned:
		if cricket.Status(d.Status).NotPlayed() {
			return "Cancelled", cmp.Or(b.otherTime(), d.Note)
		}
		return cmp.Or(d.Result, "Match abandoned"), noteBeside(d.Note, d.Result)
	case cricket.PhaseNoNews:
		return "No more news", "The feed has this match no more, and never said how it ended"
	case cricket.PhaseStumps:
		return cmp.Or(equation, "Stumps"), cmp.Or(d.Note, d.Status)
	case cricket.PhaseInningsBreak:
		return cmp.Or(equation, "Innings break"), b.feedNote()
	case cricket.PhaseBreak:
		return cmp.Or(equation, d.Status), cmp.Or(d.Note, d.Status)
	case cricket.PhaseInterrupted:
		return cmp.Or(equation, "Play stopped"), cmp.Or(d.Note, "Play stopped")
	case cricket.PhaseLive:
		context := cmp.Or(b.feedNote(), b.inHand())
		if len(d.Innings) < 2 {
			context = cmp.Or(context, tossText(f))
		}
		return cmp.Or(d.Result, equation, b.firstInnings()), context
	default:
		return b.beforeStart()
	}
}

// feedNote returns the feed's note, unless it only gives the target, which is shown already.
func (b *builder) feedNote() string {
	if d := &b.in.Display; !strings.HasPrefix(d.Note, "Target ") || strings.ContainsAny(d.Note, "(,;") {
		return d.Note
	}
	return ""
}

// noteBeside returns the note, or "" if it says the same as the line above it.
func noteBeside(note, line string) string {
	if strings.EqualFold(note, line) || strings.Contains(line, note) {
		return ""
	}
	return note
}

func tossText(f *matches.Fixture) string {
	if f.Toss == "" {
		return ""
	}
	return "Toss: " + f.Toss
}

// inHand returns the wickets in hand of a side that bats second or later.
func (b *builder) inHand() string {
	cur := b.current()
	if cur == nil {
		return ""
	}
	left, label := 10-cur.Wickets, ""
	if cur.SuperOver {
		left, label = 2-cur.Wickets, "Super over"
	}
	d := &b.in.Display
	ended := d.Target > 0 && (d.Required == 0 || d.Lead == nil && d.BallsLeft == 0)
	if d.Target == 0 && (d.Lead == nil || len(d.Innings) < 2) || left < 1 || ended {
		return label
	}
	return joinTexts(label, plural(left, "wicket", "wickets")+" in hand")
}

// firstInnings returns the context while there is no chase.
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

// inningsOf returns which of its side's innings this is.
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
	suffix := map[int]string{1: "st", 2: "nd", 3: "rd"}[n]
	return fmt.Sprint(n) + cmp.Or(suffix, "th")
}

// otherTime says when a match that was put off is played. It is "" until the feed has the match as one to come.
func (b *builder) otherTime() string {
	if start := b.in.Fixture.StartTime; b.in.Fixture.Phase == cricket.PhasePrematch && start.After(b.in.Node.Clock.Now) {
		return "To be played " + start.UTC().Format("Mon 2 January, 15:04") + " UTC"
	}
	return ""
}

// beforeStart returns the headline of a match that has not begun.
func (b *builder) beforeStart() (line, context string) {
	f, now := &b.in.Fixture, b.in.Node.Clock.Now
	switch strings.TrimSuffix(strings.ToLower(b.in.Display.Status), ".") {
	case "delayed":
		return "Start delayed", cmp.Or(b.in.Display.Note, tossText(f))
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
		context = joinTexts("in "+ago(wait), context)
	default:
		context = joinTexts("any moment now", context)
	}
	return line, context
}

func joinTexts(parts ...string) string { return strings.Join(nonEmpty(parts), " · ") }

// nonEmpty removes empty texts.
func nonEmpty(texts []string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
