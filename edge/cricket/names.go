package cricket

import (
	"fmt"
	"strings"
)

// lastName is how a player is called on a card.
func (s *Snapshot) lastName(id int64) string {
	if n, ok := s.Players[id]; ok && n.Last != "" {
		return n.Last
	}
	return fmt.Sprintf("#%d", id)
}

// team finds a side by its id.
func (s *Snapshot) team(id int64) Team {
	for _, t := range s.Teams {
		if t.ID == id {
			return t
		}
	}
	return Team{ID: id, Name: fmt.Sprintf("Team %d", id), Code: "?"}
}

// dismissal is a way to be out.
type dismissal string

// The ways to be out that the feed's words tell apart.
const (
	outBowled      dismissal = "bowled"
	outCaught      dismissal = "caught"
	outCaughtBowl  dismissal = "caught_and_bowled"
	outLBW         dismissal = "lbw"
	outStumped     dismissal = "stumped"
	outRunOut      dismissal = "run_out"
	outHitWicket   dismissal = "hit_wicket"
	outRetired     dismissal = "retired_out"
	outObstructing dismissal = "obstructing"
	outTimedOut    dismissal = "timed_out"
	outUnknown     dismissal = "out"
)

// dismissalOf reads the kind from the feed's words, whose spelling varies.
func dismissalOf(outcome string, bowler, catcher int64) dismissal {
	t := strings.ToLower(outcome)
	has := func(part string) bool { return strings.Contains(t, part) }
	switch {
	case has("run out"), has("runout"):
		return outRunOut
	case has("caught & bowled"), has("caught and bowled"), has("catch") && catcher == bowler && bowler != 0:
		return outCaughtBowl
	case has("catch"), has("caught"):
		return outCaught
	case has("lbw"):
		return outLBW
	case has("stump"):
		return outStumped
	case has("hit wicket"), has("hit-wicket"):
		return outHitWicket
	case has("retire"):
		return outRetired
	case has("obstruct"):
		return outObstructing
	case has("timed"):
		return outTimedOut
	case has("bowled"):
		return outBowled
	default:
		return outUnknown
	}
}

// credited tells whether the bowler gets the wicket.
func (d dismissal) credited() bool {
	switch d {
	case outRunOut, outRetired, outObstructing, outTimedOut:
		return false
	default:
		return true
	}
}

// howOut writes a dismissal as a scorecard does.
func (s *Snapshot) howOut(d dismissal, bowler, catcher int64) string {
	b := "b " + s.lastName(bowler)
	switch d {
	case outCaught:
		if catcher == 0 {
			return "c sub " + b
		}
		return "c " + s.lastName(catcher) + " " + b
	case outCaughtBowl:
		return "c & " + b
	case outLBW:
		return "lbw " + b
	case outStumped:
		if catcher == 0 {
			return "st " + b
		}
		return "st " + s.lastName(catcher) + " " + b
	case outHitWicket:
		return "hit wicket " + b
	case outBowled:
		return b
	case outRunOut:
		return "run out"
	case outRetired:
		return "retired out"
	case outObstructing:
		return "obstructing the field"
	case outTimedOut:
		return "timed out"
	default:
		return "out"
	}
}
