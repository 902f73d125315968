package cricket

import (
	"fmt"
	"strings"
)

func (s *Snapshot) detectStart(in *Innings, balls []Ball) []Candidate {
	if len(balls) == 0 && s.legal(in) == 0 {
		return nil
	}
	seen := in.UpdatedAt
	if len(balls) > 0 {
		seen = balls[0].UpdatedAt
	}
	text := fmt.Sprintf("%s v %s is under way. %s batting.", s.Teams[0].Code, s.Teams[1].Code, s.team(in.TeamID).Code)
	return []Candidate{{Event: Event{Key: startKey, Type: EventMatchStart, Text: text, Innings: in.No}, SeenAt: seen}}
}

func (s *Snapshot) detectSuperOver(in *Innings) Candidate {
	n := (in.No - s.regulation() + 1) / 2
	text := "Scores level – super over!"
	if n > 1 {
		text = "Super over tied – another super over!"
	}
	return Candidate{
		Event:  Event{Key: superOverKey(n), Type: EventSuperOver, Text: text, Innings: in.No},
		SeenAt: in.UpdatedAt,
	}
}

func (s *Snapshot) detectInningsEnd(in *Innings, cause Cause) Candidate {
	return Candidate{
		Event: Event{
			Key: inningsEndKey(in.No), Type: EventInningsEnd, Innings: in.No,
			Text: s.inningsEndText(in, cause), Detail: string(cause),
		},
		SeenAt:  in.UpdatedAt,
		Mark:    fmt.Sprintf("%d/%d/%s", in.Runs, in.Wickets, cause),
		Subject: subject(in.TeamID),
	}
}

// inningsEndText is "IND 352/8 (50.0). AUS need 353".
func (s *Snapshot) inningsEndText(in *Innings, cause Cause) string {
	side, other := s.team(in.TeamID), s.team(s.other(in.TeamID))
	text := fmt.Sprintf("%s %s", side.Code, scoreLine(in, cause))
	switch {
	case cause == CauseForfeited:
		return side.Code + " forfeit the innings"
	case cause == CauseTarget:
		return side.Code + " reach the target: " + scoreLine(in, cause)
	case s.MultiDay():
		return text + s.leadText(in)
	case s.IsSuperOver(in.No) && s.Target(in) == 0:
		return text + fmt.Sprintf(". %s need %d to win the super over", other.Code, in.Runs+1)
	case in.No == 1:
		target := in.Runs + 1
		if s.RevTarget > 0 {
			target = s.RevTarget
		}
		return text + fmt.Sprintf(". %s need %d", other.Code, target)
	default:
		return text
	}
}

// scoreLine is "352/8 (50.0)", with "all out" and "dec" where they apply.
func scoreLine(in *Innings, cause Cause) string {
	switch cause {
	case CauseAllOut:
		return fmt.Sprintf("%d all out (%s)", in.Runs, in.Overs)
	case CauseDeclared:
		return fmt.Sprintf("%d/%d dec (%s)", in.Runs, in.Wickets, in.Overs)
	default:
		return fmt.Sprintf("%d/%d (%s)", in.Runs, in.Wickets, in.Overs)
	}
}

// lead is how far the batting side of an innings is ahead over all innings so far, negative when it trails.
func (s *Snapshot) lead(in *Innings) int {
	return s.sum(in.TeamID, in.No) + in.Runs - s.sum(s.other(in.TeamID), in.No)
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

func (s *Snapshot) detectStumps() []Candidate {
	in := s.current()
	if phase, _ := s.Status.Phase(); phase != PhaseStumps || in == nil {
		return nil
	}
	day := stumpsDay(s.Status)
	text := fmt.Sprintf("Stumps day %s: %s %s%s", day, s.team(in.TeamID).Code, scoreLine(in, s.Ended(in)), s.leadText(in))
	return []Candidate{{
		Event:  Event{Key: stumpsKey(day), Type: EventStumps, Text: text, Innings: in.No},
		SeenAt: in.UpdatedAt,
	}}
}

// stumpsDay reads the day from "Stump Day 2".
func stumpsDay(status Status) string {
	fields := strings.Fields(string(status))
	return fields[len(fields)-1]
}

// detectResult makes a candidate of a finished match. Whether the result may be told is the gate's question.
func (s *Snapshot) detectResult() []Candidate {
	phase, _ := s.Status.Phase()
	if phase != PhaseCompleted && phase != PhaseAbandoned {
		return nil
	}
	kind, text := s.result()
	seen := s.StartsAt
	if in := s.current(); in != nil {
		seen = in.UpdatedAt
	}
	return []Candidate{{
		Event:   Event{Key: resultKey, Type: kind, Text: text, Innings: len(s.Innings)},
		SeenAt:  seen,
		Mark:    fmt.Sprintf("%s/%d/%s/%s", kind, s.Winner, s.NoResult, s.Note),
		Subject: fmt.Sprintf("%s/%d", kind, s.Winner),
	}}
}

// result reads how a finished match ended. While the feed names neither winner nor why there is none, the text
// gives the scores alone.
func (s *Snapshot) result() (EventType, string) {
	none := strings.ToLower(s.NoResult)
	switch {
	case s.Winner != 0:
		return EventResult, s.winText()
	case strings.Contains(none, "draw"):
		return EventDraw, "Match drawn"
	case strings.Contains(none, "tie"), strings.HasPrefix(strings.ToLower(s.Note), "match tied"), none == "" && s.level():
		return EventTie, "Match tied"
	case none != "":
		return EventNoResult, "No result"
	case s.abandoned():
		return EventNoResult, "Match abandoned"
	default:
		return EventResult, s.scoresText()
	}
}

// winText is the feed's own wording when it names the winner; of a tie decided otherwise it keeps the decision:
// "Match tied (England won on boundary count)".
func (s *Snapshot) winText() string {
	name := s.team(s.Winner).Name
	text := s.Note
	if _, inner, ok := strings.Cut(text, "("); ok && strings.HasPrefix(strings.ToLower(text), "match tied") {
		text = strings.TrimSuffix(inner, ")")
	}
	if strings.HasPrefix(text, name) {
		return text
	}
	return name + " won"
}

func (s *Snapshot) scoresText() string {
	parts := make([]string, 0, len(s.Innings))
	for i := range s.Innings {
		in := &s.Innings[i]
		parts = append(parts, s.team(in.TeamID).Code+" "+scoreLine(in, s.Ended(in)))
	}
	return "Match over: " + strings.Join(parts, ", ")
}

func (s *Snapshot) abandoned() bool {
	phase, _ := s.Status.Phase()
	return phase == PhaseAbandoned
}

// level tells whether a limited-overs match was tied on its regulation innings.
func (s *Snapshot) level() bool {
	return !s.MultiDay() && len(s.Innings) >= 2 && s.Innings[1].Runs == s.Target(&s.Innings[1])-1
}
