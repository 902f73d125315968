package cricket

import (
	"strconv"
	"strings"
)

// Status is the feed's word for where a match stands, kept as it was sent.
type Status string

// Phase is what a status means to a viewer.
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
	PhaseAbandoned    Phase = "abandoned" // begun and given up, or not played: postponed, cancelled
)

// word is the status as it is compared: small letters, no dot at the end. The feed writes "Cancl" and "Cancl.".
func (s Status) word() string {
	return strings.TrimRight(strings.ToLower(strings.TrimSpace(string(s))), ". ")
}

// Phase classifies the status; known is false for a text we have not seen, which keeps the last phase.
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
	case "aban", "postp", "cancl":
		return PhaseAbandoned, true
	default:
		if _, ok := breakOf(t); ok {
			return PhaseBreak, true
		}
		if s.stumps() > 0 {
			return PhaseStumps, true
		}
		return "", false
	}
}

// NotPlayed reports whether a match was postponed or cancelled: it has no result, and play is not coming.
func (s Status) NotPlayed() bool {
	w := s.word()
	return w == "postp" || w == "cancl"
}

// stumps is the day of "Stump Day 2", 0 for any other status.
func (s Status) stumps() int {
	day, ok := strings.CutPrefix(s.word(), "stump day ")
	n, err := strconv.Atoi(strings.TrimSpace(day))
	if !ok || err != nil || n < 1 {
		return 0
	}
	return n
}

// breakOf tells the breaks within a day's play apart.
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

// phaseKnown is the phase of a snapshot; known is false where the status is not. A match with a score has begun: its start
// is delayed no more, play is interrupted.
func (s *Snapshot) phaseKnown() (phase Phase, known bool) {
	if len(s.Innings) > 0 && s.Status.word() == "delayed" {
		return PhaseInterrupted, true
	}
	return s.Status.Phase()
}

// phase is the phase of a snapshot, "" where the status is not known.
func (s *Snapshot) phase() Phase {
	p, _ := s.phaseKnown()
	return p
}

// over reports whether the match is: nothing more is played.
func (s *Snapshot) over() bool {
	p := s.phase()
	return p == PhaseCompleted || p == PhaseAbandoned
}
