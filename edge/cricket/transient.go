package cricket

import (
	"strconv"
	"strings"
	"time"
)

// transientWait is how soon after it was told that play stands still it must be going on for that to have been a mistake of
// the feed: one that stands still itself repeats a wrong word for minutes.
const transientWait = 5 * time.Minute

// transient are the events that pass by themselves, so that they cannot be held to stay true.
func transient(t EventType) bool {
	switch t {
	case EventDelayed, EventInterrupted, EventStumps, EventDrinks, EventLunch, EventTea, EventDinner:
		return true
	default:
		return false
	}
}

// transientFact is what is kept of such an event: its subject is when it was recorded, in seconds.
func transientFact(key string, told bool, now time.Time) fact {
	f := fact{key: key, standing: factTransientQuiet, subject: strconv.FormatInt(now.Unix(), 10)}
	if told {
		f.standing = factTransient
	}
	return f
}

// outlived reports whether it has stood too long to be a mistake.
func (f *fact) outlived(now time.Time) bool {
	told, err := strconv.ParseInt(f.subject, 10, 64)
	return err != nil || now.Sub(time.Unix(told, 0)) >= transientWait
}

// still reports whether a snapshot says the same of play as such an event, or nothing that is known.
func (s *Snapshot) still(key string) bool {
	switch phase := s.phase(); {
	case phase == PhaseAbandoned || phase == "":
		return true
	case strings.HasPrefix(key, stumpsKey("")):
		return phase == PhaseStumps
	case strings.HasPrefix(key, breakPrefix):
		return strings.HasSuffix(key, ":"+s.Status.word())
	default:
		return phase == PhaseInterrupted || s.Status.word() == "delayed"
	}
}

// goesOn is what is so instead, true also of a short shower: "play goes on", "Innings Break".
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
