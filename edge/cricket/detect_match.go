package cricket

import (
	"fmt"
	"strings"
	"time"
)

// inningsEvent returns an event of an innings as a whole.
func (d *detection) inningsEvent(in *Innings, kind EventType, key, text string) Candidate {
	return Candidate{Event: Event{Key: key, Type: kind, Text: text, Innings: in.No}, SeenAt: in.UpdatedAt}
}

// start reports the start of play: at the first ball or, if balls are not requested, by the status.
func (d *detection) start(in *Innings, balls []Ball) {
	s := d.s
	if in.No != s.Innings[0].No || len(balls) == 0 && (s.Balls != nil || s.phase() == PhasePrematch) && s.legal(in) == 0 && in.Runs == 0 {
		return
	}
	text := fmt.Sprintf("%s v %s is under way. %s batting.",
		s.code(s.Teams[0].ID), s.code(s.Teams[1].ID), s.code(in.TeamID))
	c := d.inningsEvent(in, EventMatchStart, startKey, text)
	c.SeenAt = s.begunAt(in)
	d.add(c)
}

// begunAt returns when an innings began: at its first ball or, without balls, estimated from the number of balls bowled.
func (s *Snapshot) begunAt(in *Innings) time.Time {
	if balls := s.ballsIn(in.No); len(balls) > 0 {
		return balls[0].UpdatedAt
	}
	return in.UpdatedAt.Add(-time.Duration(s.legal(in)) * perBall)
}

// missing reports the forfeited innings without score lines before one that has a line.
func (d *detection) missing(in *Innings) {
	s := d.s
	first := in.No
	for first > 1 && s.innings(first-1) == nil {
		first--
	}
	for no := first; no < in.No && s.MultiDay(); no++ {
		absent := Innings{No: no, TeamID: in.TeamID, Overs: "0.0", UpdatedAt: in.UpdatedAt}
		if (in.No-no)%2 == 1 {
			absent.TeamID = s.opponentOf(in.TeamID)
		}
		d.inningsEnd(&absent, CauseForfeited)
	}
}

// superOver returns the start of the nth super over.
func (s *Snapshot) superOver(n, innings int, at time.Time) Candidate {
	text := "Scores level – super over!"
	if n > 1 {
		text = "Super over tied – another super over!"
	}
	return Candidate{Event: Event{Key: superOverKey(n), Type: EventSuperOver, Text: text, Innings: innings}, SeenAt: at}
}

// superOverAhead reports a super over from the feed's flag or note, before its first innings has a score line.
func (d *detection) superOverAhead() {
	s, in := d.s, d.s.current()
	if in == nil || s.isOver() || s.MultiDay() || in.No < 2 || in.No%2 == 1 {
		return
	}
	if said := s.saysSuperOver(); !said && (!s.SuperOver || in.No > 2) {
		return
	}
	first := s.innings(in.No - 1)
	if first == nil || first.Runs != in.Runs && s.Target(in)-1 != in.Runs || s.CauseOfEnd(in) == CauseNone {
		return
	}
	d.add(s.superOver(in.No/2, in.No+1, in.UpdatedAt))
}

// saysSuperOver reports whether the note announces a super over; a note with its winner is about the past.
func (s *Snapshot) saysSuperOver() bool {
	note := strings.ToLower(s.Note)
	return strings.Contains(note, "super over") && !strings.Contains(note, "won")
}

// followOn reports that a side follows on.
func (d *detection) followOn() {
	s := d.s
	second := s.innings(2)
	if !s.followsOn() || second == nil {
		return
	}
	text, lead := s.code(second.TeamID)+" follow on", s.lead(second)
	if lead < 0 {
		text += fmt.Sprintf(", trail by %d", -lead)
	}
	c := d.inningsEvent(second, EventFollowOn, followOnKey, text)
	c.Innings, c.Subject = 3, fmt.Sprintf("%d+%d", second.TeamID, lead)
	if third := s.innings(3); third != nil {
		c.SeenAt = s.begunAt(third)
	}
	d.add(c)
}

// followsOn reports whether the side that batted second also bats third, or was asked to.
func (s *Snapshot) followsOn() bool {
	second, third := s.innings(2), s.innings(3)
	if !s.MultiDay() || second == nil {
		return false
	}
	return third == nil && s.FollowOn || third != nil && third.TeamID == second.TeamID
}

// playsSuperOver reports whether the innings in play is one of a super over.
func (s *Snapshot) playsSuperOver() bool {
	in := s.current()
	return in != nil && s.IsSuperOver(in.No)
}

// inningsEnd reports the end of an innings, and a declaration or a target reached with it.
func (d *detection) inningsEnd(in *Innings, cause Cause) {
	s := d.s
	c := d.inningsEvent(in, EventInningsEnd, inningsEndKey(in.No), s.inningsEndText(in, cause))
	c.Detail = string(cause)
	c.Mark = fmt.Sprintf("%d/%d/%s", in.Runs, in.Wickets, cause)
	c.Subject = fmt.Sprintf("%d/%d/%d/%s", in.TeamID, in.Runs, in.Wickets, cause) + s.inningsLeaves(in)
	d.add(c)
	switch cause {
	case CauseDeclared:
		c = d.inningsEvent(in, EventDeclared, declaredKey(in.No), fmt.Sprintf("%s declare %d/%d", s.code(in.TeamID), in.Runs, in.Wickets))
		c.Mark = fmt.Sprintf("%d/%d", in.Runs, in.Wickets)
		c.Subject = subject(in.TeamID) + "+" + c.Mark
		d.add(c)
	case CauseTarget:
		d.targetReached(in)
	}
}

// needMark starts the part of an innings' subject that says what the chase needs.
const needMark = "need"

// inningsLeaves returns the part of an innings' subject that depends on more than that innings: the lead, or
// what the chase needs. Once the match is over a snapshot no longer shows what the chase needed.
func (s *Snapshot) inningsLeaves(in *Innings) string {
	switch {
	case s.MultiDay():
		return fmt.Sprintf("+lead%d", s.lead(in))
	case in.No == 1 && !s.isOver():
		return fmt.Sprintf("+%s%d%s", needMark, s.chaseTarget(), s.chaseOvers(in))
	default:
		return ""
	}
}

// inningsEndText returns "IND 352/8 (50). AUS need 353".
func (s *Snapshot) inningsEndText(in *Innings, cause Cause) string {
	side := s.code(in.TeamID)
	text := side + " " + ScoreLine(in, cause)
	switch {
	case cause == CauseForfeited && in.No < 3:
		return side + " forfeit the innings"
	case cause == CauseForfeited:
		return side + " forfeit the innings" + s.chaseText(in)
	case cause == CauseTarget:
		return side + " reach the target: " + ScoreLine(in, cause)
	case s.MultiDay():
		return text + s.chaseText(in)
	default:
		return strings.Join(append([]string{text}, s.nextNeeds(in)...), ". ")
	}
}

// nextNeeds returns what the side batting next needs in limited overs, "AUS need 353"; nothing after a chase.
func (s *Snapshot) nextNeeds(in *Innings) []string {
	other := s.code(s.opponentOf(in.TeamID))
	switch {
	case s.IsSuperOver(in.No) && s.Target(in) == 0:
		return []string{fmt.Sprintf("%s need %d to win the super over", other, in.Runs+1)}
	case in.No == 1 && !s.MultiDay(): // also if the match is over, because feeds may say so in the break
		return []string{fmt.Sprintf("%s need %d", other, s.chaseTarget()) + s.chaseOvers(in)}
	default:
		return nil
	}
}

// chaseText returns what the fourth innings needs, or the lead.
func (s *Snapshot) chaseText(in *Innings) string {
	if second := s.innings(2); in.No == 3 && (second == nil || second.TeamID != in.TeamID) {
		if lead := s.lead(in); lead >= 0 {
			return fmt.Sprintf(". %s need %d", s.code(s.opponentOf(in.TeamID)), lead+1)
		}
	}
	if in.No >= 4 {
		return ""
	}
	return s.leadText(in)
}

// chaseOvers returns the overs of a shortened chase, " off 18".
func (s *Snapshot) chaseOvers(in *Innings) string {
	if s.RevTarget == 0 || s.RevOvers == "" || s.quota(in) == s.Overs*s.BallsPerOver() {
		return ""
	}
	return " off " + wholeOvers(s.RevOvers)
}

// wholeOvers drops an empty fraction, "18.0" becomes "18".
func wholeOvers(overs string) string { return strings.TrimSuffix(overs, ".0") }

// ScoreLine returns "352/8 (50)", with "all out" or "dec" if it applies.
func ScoreLine(in *Innings, cause Cause) string {
	overs := wholeOvers(in.Overs)
	switch cause {
	case CauseAllOut:
		return fmt.Sprintf("%d all out (%s)", in.Runs, overs)
	case CauseDeclared:
		return fmt.Sprintf("%d/%d dec (%s)", in.Runs, in.Wickets, overs)
	default:
		return fmt.Sprintf("%d/%d (%s)", in.Runs, in.Wickets, overs)
	}
}

// lead returns the batting side's lead over all innings so far, negative if it trails.
func (s *Snapshot) lead(in *Innings) int {
	return s.sum(in.TeamID, in.No) + in.Runs - s.sum(s.opponentOf(in.TeamID), in.No)
}

func (s *Snapshot) leadText(in *Innings) string {
	if in.No == 1 {
		return ""
	}
	switch lead := s.lead(in); {
	case lead > 0:
		return fmt.Sprintf(", lead by %d", lead)
	case lead < 0:
		return fmt.Sprintf(", trail by %d", -lead)
	default:
		return ", scores level"
	}
}
