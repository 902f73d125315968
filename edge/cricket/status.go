package cricket

import (
	"strconv"
	"strings"
)

// Status is the feed's status text, exactly as sent.
type Status string

// Phase is the meaning of a status for a viewer.
type Phase string

// The phases of the display state.
const (
	PhasePrematch     Phase = "prematch"
	PhaseLive         Phase = "live"
	PhaseInningsBreak Phase = "innings_break"
	PhaseBreak        Phase = "break"
	PhaseInterrupted  Phase = "interrupted"
	PhaseStumps       Phase = "stumps"
	PhaseCompleted    Phase = "completed"
	PhasePostponed    Phase = "postponed" // to be played at another time
	PhaseAbandoned    Phase = "abandoned" // given up after the start, or cancelled
	PhaseNoNews       Phase = "no_news"   // the feed has it no more, and never said how it ended
)

// Phases lists the phases.
func Phases() []Phase {
	return []Phase{
		PhasePrematch, PhaseLive, PhaseInningsBreak, PhaseBreak, PhaseInterrupted, PhaseStumps, PhaseCompleted, PhasePostponed, PhaseAbandoned, PhaseNoNews,
	}
}

// InPlay reports whether a match in this phase has begun and goes on, now or after a pause.
func (p Phase) InPlay() bool {
	switch p {
	case PhaseLive, PhaseInningsBreak, PhaseBreak, PhaseInterrupted, PhaseStumps:
		return true
	default:
		return false
	}
}

// word returns the status as it is compared: lower case, without a final dot. The feed writes both "Cancl" and "Cancl.".
func (s Status) word() string {
	return strings.TrimRight(strings.ToLower(strings.TrimSpace(string(s))), ". ")
}

// Phase classifies the status; known is false for an unknown text, which keeps the last phase.
func (s Status) Phase() (phase Phase, known bool) {
	switch t := s.word(); t {
	case "ns", "delayed":
		return PhasePrematch, true
	case "1st innings", "2nd innings", "3rd innings", "4th innings", "super over":
		return PhaseLive, true
	case "innings break":
		return PhaseInningsBreak, true
	case "int":
		return PhaseInterrupted, true
	case "finished":
		return PhaseCompleted, true
	case "postp":
		return PhasePostponed, true
	case "aban", "cancl":
		return PhaseAbandoned, true
	default:
		if s.stops() != "" {
			return PhaseInterrupted, true
		}
		if _, ok := breakOf(t); ok {
			return PhaseBreak, true
		}
		if s.stumps() > 0 {
			return PhaseStumps, true
		}
		return "", false
	}
}

// NotPlayed reports whether a match was postponed or cancelled: it has no result, and is not played now.
func (s Status) NotPlayed() bool {
	w := s.word()
	return w == "postp" || w == "cancl"
}

// IsListed reports whether a status is one of the feed's documented ones. Others are told as far as their words say what they are.
func (s Status) IsListed() bool {
	_, known := s.Phase()
	return known && s.stops() == "" && !strings.HasPrefix(s.word(), "stumps ")
}

// stops returns the text for a status that is not documented and whose words say that play has stopped, "Wet Outfield"; "" for any other.
func (s Status) stops() string {
	w := s.word()
	for _, sign := range [...]string{"wet ", "rain", "bad light", "suspend", "stopped", "interrupt"} {
		if strings.Contains(w, sign) {
			return strings.TrimSpace(string(s))
		}
	}
	return ""
}

// stumps returns the day number of "Stump Day 2" or "Stumps Day 2", 0 for any other status.
func (s Status) stumps() int {
	day, ok := strings.CutPrefix(strings.Replace(s.word(), "stumps ", "stump ", 1), "stump day ")
	n, err := strconv.Atoi(strings.TrimSpace(day))
	if !ok || err != nil || n < 1 {
		return 0
	}
	return n
}

// breakOf returns the event type of a break within a day's play.
func breakOf(word string) (EventType, bool) {
	switch word {
	case "lunch", "lunch break":
		return EventLunch, true
	case "tea", "tea break":
		return EventTea, true
	case "dinner", "dinner break":
		return EventDinner, true
	case "drinks", "drinks break":
		return EventDrinks, true
	default:
		return "", false
	}
}

// phaseKnown returns the phase of a snapshot; known is false for an unknown status. "Delayed" in a match with a
// score is an interruption: the start cannot be delayed any more.
func (s *Snapshot) phaseKnown() (phase Phase, known bool) {
	if len(s.Innings) > 0 && s.Status.word() == "delayed" {
		return PhaseInterrupted, true
	}
	phase, known = s.Status.Phase()
	if phase == PhaseInterrupted && len(s.Innings) == 0 {
		return PhasePrematch, true // the start is delayed
	}
	return phase, known
}

// phase returns the phase of a snapshot, "" for an unknown status.
func (s *Snapshot) phase() Phase {
	p, _ := s.phaseKnown()
	return p
}

// isOver reports whether the match is over: nothing more will be played.
func (s *Snapshot) isOver() bool {
	p := s.phase()
	return p == PhaseCompleted || p == PhaseAbandoned
}
