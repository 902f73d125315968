package cricket

import "strings"

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
	PhaseAbandoned    Phase = "abandoned"
)

// Phase classifies the status; known is false for a text we have not seen, which keeps the last phase.
func (s Status) Phase() (phase Phase, known bool) {
	switch t := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(string(s))), "."); t {
	case "ns", "delayed", "postp":
		return PhasePrematch, true
	case "1st innings", "2nd innings", "3rd innings", "4th innings":
		return PhaseLive, true
	case "innings break":
		return PhaseInningsBreak, true
	case "lunch", "tea break", "dinner":
		return PhaseBreak, true
	case "int":
		return PhaseInterrupted, true
	case "finished":
		return PhaseCompleted, true
	case "aban", "cancl":
		return PhaseAbandoned, true
	default:
		if strings.HasPrefix(t, "stump day ") {
			return PhaseStumps, true
		}
		return "", false
	}
}
