package cricket

import (
	"fmt"
	"strings"
	"time"
)

// bothLineUps is the number of players in two elevens.
const bothLineUps = 22

// matchEvent returns an event known from the feed's status or fields. at is by our clock, SeenAt by the feed's.
func (d *detection) matchEvent(kind EventType, key, text string, at time.Time) Candidate {
	return Candidate{
		Event:  Event{Key: key, Type: kind, Text: text, Innings: d.s.stop().Innings},
		SeenAt: at.Add(d.s.Skew),
		Mark:   key,
	}
}

// beforePlay reports the toss, the line-ups, and a start that is delayed, postponed or cancelled.
func (d *detection) beforePlay() {
	s := d.s
	if s.Toss.TeamID != 0 {
		text := s.code(s.Toss.TeamID) + " won the toss"
		if s.Toss.Chose != "" {
			text += ", chose to " + s.Toss.Decision()
		}
		c := d.matchEvent(EventToss, tossKey, text, d.m.TossAt)
		c.Mark = fmt.Sprintf("%d/%s", s.Toss.TeamID, s.Toss.Chose)
		c.Subject = strings.TrimRight(subject(s.Toss.TeamID)+"+"+s.Toss.Chose, "+")
		c.Innings = 0
		d.add(c)
	}
	if s.LineUp >= bothLineUps {
		c := d.matchEvent(EventLineup, lineupKey, "Teams are in", d.m.LineUpAt)
		c.Innings = 0
		d.add(c)
	}
	d.notStarted()
}

// notStarted reports a start that is delayed, postponed or cancelled. Once play has begun, "Delayed" is not about the start.
func (d *detection) notStarted() {
	s := d.s
	var kind EventType
	var text string
	word := s.Status.word()
	if phase, _ := s.Status.Phase(); phase == PhaseInterrupted {
		word = "delayed" // before the first ball
	}
	switch word {
	case "delayed":
		if len(s.Innings) > 0 {
			return // this is an interruption
		}
		kind, text = EventDelayed, "Start delayed"
		if why := s.Status.stops(); why != "" {
			text += ": " + why
		}
	case "postp":
		kind, text = EventPostponed, "Match postponed"
	case "cancl":
		kind, text = EventCancelled, "Match cancelled"
	default:
		return
	}
	key := statusKey(word)
	if s.Status.NotPlayed() {
		key = putOffKey(word, d.putOff)
	}
	d.add(d.matchEvent(kind, key, text, d.m.StatusAt))
}

// hasBegun reports whether a ball has been bowled.
func (s *Snapshot) hasBegun() bool {
	in := s.current()
	return in != nil && (in.No > 1 || in.Runs > 0 || s.legal(in) > 0 || len(s.Balls) > 0)
}

// standstill reports breaks (lunch, tea and the like), stumps, interruptions, and the resumption after one.
func (d *detection) standstill() {
	s, in := d.s, d.s.current()
	if kind, ok := breakOf(s.Status.word()); ok {
		text := breakWord(kind)
		if in != nil {
			text += ": " + s.standing(in)
		}
		d.add(d.matchEvent(kind, breakKey(d.m.day(s), s.Status.word()), text, d.m.StatusAt))
	}
	if in == nil {
		return
	}
	switch day := s.Status.stumps(); {
	case day > 0:
		text := fmt.Sprintf("Stumps day %d: %s", day, s.standing(in))
		c := d.inningsEvent(in, EventStumps, stumpsKey(fmt.Sprint(day)), text)
		c.Mark = c.Key
		c.SeenAt = d.m.StatusAt.Add(s.Skew)
		d.add(c)
	case s.phase() == PhaseInterrupted:
		key := d.stopKey(s.stop())
		d.add(d.matchEvent(EventInterrupted, key, s.stopWord()+": "+s.standing(in), d.m.StatusAt))
	case s.phase() == PhaseLive && d.m.Stopped:
		key := d.stopKey(d.m.Stops[len(d.m.Stops)-1])
		if d.recorded.has(key) { // otherwise it was too short to be announced
			d.add(d.matchEvent(EventResumed, key+resumedAfter, "Play resumes: "+s.standing(in), d.m.StatusAt))
		}
	}
}

// stopKey returns the key of an interruption. The same overs occur in every innings, so a later innings'
// interruption at the same overs has its own key.
func (d *detection) stopKey(x Stop) string {
	for _, y := range d.m.Stops {
		if y.Overs == x.Overs && y.Innings < x.Innings {
			return fmt.Sprintf("%s:%d", interruptedKey(x.Overs), x.Innings)
		}
	}
	return interruptedKey(x.Overs)
}

// stopWord says what stopped play, as far as the note tells.
func (s *Snapshot) stopWord() string {
	note := strings.ToLower(s.Note)
	switch why := s.Status.stops(); {
	case why != "":
		return "Play stopped (" + why + ")"
	case strings.Contains(note, "light"):
		return "Bad light stops play"
	case strings.Contains(note, "rain"), strings.Contains(note, "wet"), note == "":
		return "Rain stops play"
	default:
		return "Play interrupted"
	}
}

func breakWord(kind EventType) string {
	switch kind {
	case EventLunch:
		return "Lunch"
	case EventTea:
		return "Tea"
	case EventDinner:
		return "Dinner"
	default:
		return "Drinks"
	}
}

// standing returns the state of the match in a break, "ENG 312/7, trail by 40".
func (s *Snapshot) standing(in *Innings) string {
	text := s.code(in.TeamID)
	switch cause := s.CauseOfEnd(in); cause {
	case CauseAllOut:
		text += fmt.Sprintf(" %d all out", in.Runs)
	case CauseDeclared:
		text += fmt.Sprintf(" %d/%d dec", in.Runs, in.Wickets)
	default:
		text += fmt.Sprintf(" %d/%d", in.Runs, in.Wickets)
	}
	if !s.MultiDay() {
		return text + " (" + wholeOvers(in.Overs) + ")"
	}
	if target := s.Target(in); target > 0 && in.Runs < target {
		return text + fmt.Sprintf(", need %d more", target-in.Runs)
	}
	return text + s.leadText(in)
}

// reportRevision reports overs and target changed by rain, as far as the feed gives them.
func (d *detection) reportRevision(in *Innings) {
	s := d.s
	if in.No != s.stop().Innings || s.MultiDay() {
		return
	}
	target := s.RevTarget
	if target == 0 && in.No == 2 && s.noteTarget() > 0 && s.noteTarget() != s.chaseSum() {
		target = s.noteTarget()
	}
	if first := s.innings(1); first != nil && target == s.chaseSum() && s.legal(first) <= s.revisedQuota(first) {
		target = 0 // both sides have the same overs: the target is the usual one
	}
	if target == 0 && s.RevOvers == "" {
		return
	}
	overs := wholeOvers(s.RevOvers)
	c := d.matchEvent(EventTargetRevised, revisedKey(target, overs), s.revisedText(target, overs), in.UpdatedAt.Add(-s.Skew))
	c.Innings, c.Subject = in.No, strings.TrimRight(strings.TrimPrefix(c.Key, revisedPrefix)+"+"+ruleIn(c.Text), "+")
	d.add(c)
}

func (s *Snapshot) revisedText(target int, overs string) string {
	switch {
	case target == 0 && s.shorterChase():
		return "Chase reduced to " + overs + " overs"
	case target == 0:
		return "Match reduced to " + overs + " overs a side"
	case overs == "":
		return fmt.Sprintf("Revised target: %d", target)
	default:
		return fmt.Sprintf("Revised target: %d off %s%s", target, overs, s.rainRule())
	}
}

// shorterChase reports whether the first innings had more overs than the second has left.
func (s *Snapshot) shorterChase() bool {
	first := s.innings(1)
	return first != nil && s.legal(first) > s.revisedQuota(first)
}

// rainRule names the rule that set the target, worded as in results; "" if none did.
func (s *Snapshot) rainRule() string {
	switch {
	case s.noteHas("vjd"):
		return " (VJD)"
	case s.rainRuled():
		return " (DLS)"
	default:
		return ""
	}
}
