package cricket

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// wicketCry starts the text of a wicket.
const wicketCry = "WICKET! "

// WicketsCry follows the number when several wickets fell.
const WicketsCry = " wickets! "

// correctionWord starts every correction.
const correctionWord = "Correction: "

// speaksFor reports whether the text of an alert includes another event of its tick: a wicket and what ends an innings those of
// players, a milestone the boundary that made it.
func speaksFor(alert, other *Event) bool {
	switch alert.Type {
	case EventWicket, EventInningsEnd, EventHatTrick:
		return other.Type == EventWicket || isHaul(other.Type) || isMilestone(other.Type)
	default:
		return isMilestone(alert.Type) && makes(other, alert)
	}
}

func isHaul(t EventType) bool { return t == EventFiveFor || t == EventTenFor }

func isMilestone(t EventType) bool {
	return slices.ContainsFunc(milestones(), func(m milestone) bool { return m.kind == t })
}

// makes reports whether a boundary, or the last of several sixes, is of the ball that made a milestone.
func makes(e, milestone *Event) bool {
	_, made := splitKey(milestone.Key)
	innings, batter := hitter(e.Key)
	return batter != 0 && innings == made[1] && batter == made[2] && e.BallID == milestone.BallID
}

// hitter returns the innings and the batter of a boundary, or of several sixes, by its key; zeros for any other event.
func hitter(key string) (innings, batter int64) {
	switch family, numbers := splitKey(key); family {
	case familyBoundary:
		return numbers[1], numbers[2]
	case familySixes, familyRowSixes:
		return numbers[0], numbers[1]
	default:
		return 0, 0
	}
}

// cryOf returns the words of a boundary before those of the milestone that it made, "SIX! FIFTY! Kohli 54 (30)".
func cryOf(t EventType) string {
	switch t {
	case EventFour:
		return "FOUR! "
	case EventSix:
		return "SIX! "
	case EventConsecutiveSixes:
		return "Three sixes in a row! "
	default:
		return ""
	}
}

// milestoneFor words a milestone as part of another alert, "HUNDRED! Kohli 104 (70)" as "Hundred for Kohli 104 (70)".
func milestoneFor(text string) string {
	word, who, found := strings.Cut(text, "! ")
	if !found {
		return text
	}
	return word[:1] + strings.ToLower(word[1:]) + " for " + who
}

// tickWords are the words of a tick's events for the text of its alert.
type tickWords struct {
	wickets, feats, corrections []string
	ball                        string // the boundary that made a milestone
}

// addFeat adds a wicket, a haul or a milestone, in the order of the balls.
func (w *tickWords) addFeat(e *Event) {
	switch {
	case e.Type == EventWicket:
		w.wickets = append(w.wickets, strings.TrimPrefix(e.Text, wicketCry))
	case isHaul(e.Type):
		w.feats = append(w.feats, e.Text)
	case isMilestone(e.Type):
		w.feats = append(w.feats, milestoneFor(e.Text))
	}
}

// addRest adds another event that the alert says: a correction, or the boundary that made its milestone.
func (w *tickWords) addRest(e *Event) {
	if e.Type == EventCorrection {
		w.corrections = append(w.corrections, e.Text)
	}
	if cry := cryOf(e.Type); len(cry) > len(w.ball) {
		w.ball = cry
	}
}

// text returns the text of an alert with the words of its tick.
func (w *tickWords) text(e *Event) string {
	text := inWordsOf(e, w.wickets, w.feats)
	switch {
	case len(w.corrections) > 0:
		return combine(text, w.corrections)
	case isMilestone(e.Type):
		return w.ball + text
	default:
		return text
	}
}

// inWordsOf returns the text of an alert with the wickets of its tick, in the order they fell, and the feats that come with them.
func inWordsOf(e *Event, wickets, feats []string) string {
	switch {
	case e.Type == EventWicket, e.Type == EventInningsEnd && len(wickets) > 0:
		text := wicketsText(wickets, feats)
		if e.Type == EventInningsEnd {
			fell, _, _ := strings.Cut(text, " · ")
			text = fell + ". " + e.Text
		}
		return text
	case e.Type == EventInningsEnd:
		return strings.Join(append(feats, e.Text), ". ")
	case e.Type == EventHatTrick:
		return withFeats(e.Text, feats)
	default:
		return e.Text
	}
}

// wicketsText returns "2 wickets! Kohli b Starc 54 (63), Rahul run out 12 (10) · IND 182/5 (32.2)": every batter
// out, and the score after the last wicket.
func wicketsText(wickets, feats []string) string {
	cry, score := wicketCry, ""
	if n := len(wickets); n > 1 {
		cry = strconv.Itoa(n) + WicketsCry
	}
	var out []string
	for _, w := range wickets {
		who, after, named := strings.Cut(w, " · ")
		if !named { // known only from the score
			who, after = "", w
		}
		score = after
		if who != "" {
			out = append(out, who)
		}
	}
	if len(out) == 0 {
		return withFeats(cry+score, feats)
	}
	return withFeats(cry+strings.Join(out, ", ")+" · "+score, feats)
}

// withFeats inserts feats after the players of a text, "WICKET! Kohli b Bumrah 54 (63), five for Bumrah 5-31 · IND 182/4".
func withFeats(text string, feats []string) string {
	who, score, _ := strings.Cut(text, " · ")
	for _, h := range feats {
		who += ", " + strings.ToLower(h[:1]) + h[1:]
	}
	if score == "" {
		return who
	}
	return who + " · " + score
}

// boundaryText takes a boundary back: what the ball was instead, and the score.
func (s *Snapshot) boundaryText(ch challenge, all []Candidate) string {
	word := "four"
	if _, numbers := splitKey(ch.fact.key); numbers[0] == 6 {
		word = "six"
	}
	for i := range all {
		if c := &all[i]; (c.Type == EventFour || c.Type == EventSix) && c.place() != 0 && c.place() == ch.fact.place() {
			return correctionWord + c.Text
		}
	}
	_, numbers := splitKey(ch.fact.key)
	return fmt.Sprintf(correctionWord+"no %s for %s", word, s.lastName(numbers[2])) + s.andScore()
}

// andScore returns the score for the end of a correction, " · IND 96/1 (10.2)".
func (s *Snapshot) andScore() string {
	if in := s.current(); in != nil {
		return " · " + s.scoreNow(in)
	}
	return ""
}

// correctionText states the corrected fact as a scorer would.
func (s *Snapshot) correctionText(ch challenge) string {
	if ch.fact.standing == factTransient {
		return "Correction: " + s.goesOn()
	}
	family, numbers := s.splitFact(&ch.fact)
	who := s.nameOf(ch.fact.subject)
	switch family {
	case resultKey:
		if ch.now == nil {
			return "Correction: the match is not over" + s.andScore()
		}
		return "Correction: " + ch.now.Text
	case familyWicket:
		switch {
		case ch.now == nil && ch.elsewhere > 0:
			return fmt.Sprintf("Correction: %s was the %s wicket, not the %s", who, ordinal(ch.elsewhere), ordinal(int(numbers[1]))) + s.andScore()
		case ch.now == nil:
			text := "Correction: " + who + " not out"
			if s.noteHas("review", "drs", "overturn") {
				text += " (review)"
			}
			return text + s.andScore()
		case who == s.nameOf(ch.now.Subject), ch.fact.subject == unknownSubject:
			return correctionWord + strings.TrimPrefix(ch.now.Text, wicketCry)
		default:
			return fmt.Sprintf("Correction: not %s but %s", who, strings.TrimPrefix(ch.now.Text, wicketCry))
		}
	case familyMilestone:
		if ch.now != nil {
			return "Correction: " + ch.now.Text + s.andScore()
		}
		if row := s.battingRow(int(numbers[1]), numbers[2]); row != nil {
			return fmt.Sprintf("Correction: %s on %d, not %d", s.lastName(row.PlayerID), row.Runs, numbers[0]) + s.andScore()
		}
		return fmt.Sprintf("Correction: no %d for %s", numbers[0], s.lastName(numbers[2])) + s.andScore()
	default:
		if ch.now == nil {
			return "Correction: " + s.notSo(family, numbers) + s.andScore()
		}
		if isHaul(ch.now.Type) {
			return "Correction: " + ch.now.Text + s.andScore()
		}
		return "Correction: " + ch.now.Text
	}
}

// notSo denies an event of a family.
func (s *Snapshot) notSo(family string, numbers []int64) string {
	switch family {
	case familyInningsEnd:
		return "the innings goes on"
	case familyHaul:
		return fmt.Sprintf("not %d wickets for %s yet", numbers[0], s.lastName(numbers[2]))
	case familyHatTrick:
		return "no hat-trick for " + s.lastName(numbers[1])
	case familyOnHatTrick:
		return s.lastName(numbers[1]) + " not on a hat-trick"
	case familySixes, familyRowSixes:
		return "not three sixes in a row for " + s.lastName(numbers[1])
	case familySuperOver:
		return "no super over"
	case followOnKey:
		return "no follow-on"
	case closeKey, closeLastKey:
		return "the chase is not that close"
	case targetFact:
		return "the target stands"
	default:
		return "that was not so"
	}
}

// nameOf returns the name of the player a subject is about.
func (s *Snapshot) nameOf(subject string) string {
	who, _, _ := strings.Cut(subject, "+")
	if id, err := strconv.ParseInt(who, 10, 64); err == nil {
		return s.lastName(id)
	}
	return "the batter"
}

// andAlso returns a correction's text for appending to another. The score is said once, at the end.
func andAlso(text string) string {
	said, _ := withoutScore(text)
	return "; " + strings.TrimPrefix(said, correctionWord)
}

// withoutScore splits a text before its score, " · IND 96/1 (10.2)".
func withoutScore(text string) (said, score string) {
	if i := strings.LastIndex(text, " · "); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// combine returns the text of several corrections, with the last score.
func combine(text string, others []string) string {
	said, score := withoutScore(text)
	for _, other := range others {
		said += andAlso(other)
		if _, its := withoutScore(other); its != "" {
			score = its
		}
	}
	return said + score
}
