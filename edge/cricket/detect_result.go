package cricket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ending adds the result of a finished match as a candidate, and its player of the match. Whether the result may
// be announced is decided by believable. A match that was not played has none.
func (d *detection) ending() {
	s := d.s
	if !s.isOver() || s.Status.NotPlayed() {
		return
	}
	kind, text := s.result()
	at := s.StartsAt
	if in := s.current(); in != nil {
		at = in.UpdatedAt
	}
	if d.m.StatusAt.After(at) {
		at = d.m.StatusAt.Add(s.Skew)
	}
	d.add(Candidate{
		Event:   Event{Key: resultKey, Type: kind, Text: text, Innings: s.stop().Innings, Detail: s.resultDetail()},
		SeenAt:  at,
		Mark:    fmt.Sprintf("%s/%d/%s/%s", kind, s.Winner, s.NoResult, s.Note),
		Subject: endSubject(kind, s.Winner, text),
	})
	if name, ok := s.Players[s.Player]; ok && s.Player != 0 {
		c := d.matchEvent(EventPlayerOfMatch, bestKey, "Player of the match: "+name.Full, at.Add(-s.Skew))
		c.Mark, c.Subject = subject(s.Player), subject(s.Player)
		d.add(c)
	}
}

// resultDetail distinguishes an awarded win from one on the field.
func (s *Snapshot) resultDetail() string {
	if s.Winner != 0 && s.noteHas("award") {
		return detailAwarded
	}
	return ""
}

// decidedOtherwise reports whether a result says that the scores were level, also under the rain rule, or what else decided the match.
func decidedOtherwise(text string) bool {
	ways := []string{"tied (", "Super Over", "super over", "boundar", "bowl-out", "fewer wickets"}
	return slices.ContainsFunc(ways, func(words string) bool { return strings.Contains(text, words) })
}

// marginIn returns the margin in a result's text as "18r", or what else decided the match; "" if the text does not say.
func marginIn(text string) string {
	_, by, found := strings.Cut(text, " won by ")
	switch {
	case strings.Contains(text, "award"):
		return "awarded"
	case decidedOtherwise(text):
		return "tied"
	case !found:
		return ""
	}
	var out strings.Builder
	for word := range strings.FieldsSeq(by) {
		if _, err := strconv.Atoi(word); err == nil || strings.HasPrefix(word, "innings") {
			out.WriteString(word[:min(len(word), 3)])
		} else if strings.HasPrefix(word, "run") || strings.HasPrefix(word, "wicket") || strings.HasPrefix(word, "wkt") {
			return out.String() + word[:1]
		}
	}
	return out.String()
}

// result reads how a finished match ended. While the feed names neither a winner nor a reason for none, the text has only the scores.
func (s *Snapshot) result() (EventType, string) {
	none := strings.ToLower(s.NoResult)
	switch {
	case s.Winner != 0:
		return EventResult, s.winText()
	case strings.Contains(none, "draw"):
		return EventDraw, "Match drawn"
	case strings.Contains(none, "tie"), none == "" && s.saysTied(), none == "" && s.level():
		return EventTie, s.tieText()
	case s.phase() == PhaseAbandoned, strings.Contains(none, "aban"):
		return EventAbandoned, "Match abandoned"
	case none != "":
		return EventNoResult, "No result"
	default:
		return EventResult, s.scoresText()
	}
}

// tieText keeps a rain rule that the note names.
func (s *Snapshot) tieText() string {
	if strings.HasPrefix(s.Note, "Match tied") {
		return s.Note
	}
	return "Match tied"
}

// saysTied reports whether the note calls the match a tie and names no winner.
func (s *Snapshot) saysTied() bool {
	note := strings.ToLower(s.Note)
	return strings.HasPrefix(note, "match tied") && !strings.Contains(note, "won")
}

// winText returns the feed's own wording if it names the winner; for a tie decided otherwise only the decision,
// as in "Match tied (England won on boundary count)". Without such a note the scores give the text.
func (s *Snapshot) winText() string {
	name := s.name(s.Winner)
	text := strings.TrimSpace(s.Note)
	if _, inner, ok := strings.Cut(text, "("); ok && strings.HasPrefix(strings.ToLower(text), "match tied") {
		text = strings.TrimSuffix(inner, ")")
	}
	if strings.HasPrefix(text, name+" ") {
		return text
	}
	return name + " won" + s.margin()
}

// margin returns the winning margin, as far as the scores show it: " by 18 runs (DLS)".
func (s *Snapshot) margin() string {
	in := s.current()
	if in == nil || strings.Contains(strings.ToLower(s.Note), "award") {
		return ""
	}
	target, rule := s.Target(in), s.rainRule()
	switch {
	case s.IsSuperOver(in.No):
		return s.superOverMargin(in, target)
	case target > 0 && in.TeamID == s.Winner && in.Runs >= target:
		return " by " + plural(max(1, 10-in.Wickets), "wicket") + rule
	case target > 0 && in.TeamID != s.Winner && in.Runs < target-1:
		return " by " + plural(target-1-in.Runs, "run") + rule
	case target == 0 && s.MultiDay() && in.TeamID != s.Winner && s.lead(in) < 0:
		return " by an innings and " + plural(-s.lead(in), "run")
	default:
		return ""
	}
}

// superOverMargin credits the super over if its scores do. A tied super over is decided by something else, and
// in one that a snapshot finishes too early nothing is decided yet.
func (s *Snapshot) superOverMargin(in *Innings, target int) string {
	chased := in.TeamID == s.Winner && in.Runs >= target
	held := in.TeamID != s.Winner && in.Runs < target-1
	if target > 0 && s.CauseOfEnd(in) != CauseNone && (chased || held) {
		return " the Super Over"
	}
	return ""
}

// scoresText lists the scores without a winner.
func (s *Snapshot) scoresText() string {
	if len(s.Innings) == 0 {
		return "Match over"
	}
	parts := make([]string, 0, len(s.Innings))
	for i := range s.Innings {
		in := &s.Innings[i]
		parts = append(parts, s.code(in.TeamID)+" "+ScoreLine(in, s.CauseOfEnd(in)))
	}
	return "Match over: " + strings.Join(parts, ", ")
}

func (s *Snapshot) isAbandoned() bool { return s.phase() == PhaseAbandoned }

// level reports whether a limited-overs match was tied after its regulation innings.
func (s *Snapshot) level() bool {
	second := s.innings(2)
	return !s.MultiDay() && second != nil && s.Target(second) > 0 && second.Runs == s.Target(second)-1 && s.CauseOfEnd(second) != CauseNone
}
