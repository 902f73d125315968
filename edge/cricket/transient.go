package cricket

import (
	"strconv"
	"strings"
	"time"
)

// transientWait is how long a standstill stays open to withdrawal. If play goes on sooner, the report was a
// mistake: a stuck feed repeats a wrong status for minutes.
const transientWait = 5 * time.Minute

// transient reports whether an event ends by itself, so that it cannot be required to stay true.
func transient(t EventType) bool {
	switch t {
	case EventDelayed, EventInterrupted, EventStumps, EventDrinks, EventLunch, EventTea, EventDinner:
		return true
	default:
		return false
	}
}

// transientFact returns the fact of such an event; its subject is when it was recorded, in epoch seconds.
func transientFact(key string, told bool, now time.Time) fact {
	f := fact{key: key, standing: factTransientQuiet, subject: strconv.FormatInt(now.Unix(), 10)}
	if told {
		f.standing = factTransient
	}
	return f
}

// hasOutlived reports whether the event has stood too long to be a mistake.
func (f *fact) hasOutlived(now time.Time) bool {
	told, err := strconv.ParseInt(f.subject, 10, 64)
	return err != nil || now.Sub(time.Unix(told, 0)) >= transientWait
}

// standsStill reports whether the snapshot does not deny the standstill: it shows the same, a match that is put off or an unknown status.
func (s *Snapshot) standsStill(key string) bool {
	switch phase := s.phase(); {
	case phase == PhaseAbandoned || phase == PhasePostponed || phase == "":
		return true
	case strings.HasPrefix(key, stumpsKey("")):
		return phase == PhaseStumps
	case strings.HasPrefix(key, breakPrefix):
		return strings.HasSuffix(key, ":"+s.Status.word())
	default:
		shown, _ := s.Status.Phase()
		return shown == PhaseInterrupted || s.Status.word() == "delayed"
	}
}

// goesOn returns the text that replaces a withdrawn standstill, true of a short shower too: "play goes on", "Innings Break".
func (s *Snapshot) goesOn() string {
	switch s.phase() {
	case PhaseLive:
		return "play goes on"
	case PhaseStumps:
		return "stumps"
	default:
		return string(s.Status)
	}
}
