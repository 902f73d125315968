package replay

import (
	"fmt"
	"strings"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// total returns an innings' score, including penalty runs.
func total(in *recording.Innings) int {
	n := in.Pre + in.Post
	for o := range in.Overs {
		for b := range in.Overs[o].Balls {
			n += in.Overs[o].Balls[b].Total()
		}
	}
	return n
}

// winner returns the index of the team that the record names, however it won, or -1.
func winner(t *recording.Match) int {
	for _, name := range []string{t.Outcome.Winner, t.Outcome.Eliminator, t.Outcome.BowlOut} {
		if name != "" {
			return t.TeamIndex(name)
		}
	}
	return -1
}

// drawOrNoResult returns the feed's text for a match without a winner, "" for others.
func drawOrNoResult(t *recording.Match) string {
	if winner(t) >= 0 {
		return ""
	}
	return t.Outcome.Result
}

// resultNote returns the feed's note about the result.
func resultNote(t *recording.Match) string {
	o := &t.Outcome
	switch {
	case o.Winner != "":
		return winNote(t)
	case o.BowlOut != "":
		return fmt.Sprintf("Match tied (%s won the bowl-out)", o.BowlOut)
	case o.Eliminator != "" && superOverTied(t):
		return fmt.Sprintf("Match tied (%s won on boundary count)", o.Eliminator)
	case o.Eliminator != "":
		return fmt.Sprintf("Match tied (%s won the Super Over)", o.Eliminator)
	case o.Result == "tie":
		return "Match tied" + rule(o.Method)
	case o.Result == "draw":
		return "Match drawn"
	default:
		return "No result"
	}
}

func winNote(t *recording.Match) string {
	o := &t.Outcome
	switch {
	case o.Method == "Awarded":
		return o.Winner + " won (match awarded)"
	case o.Innings > 0:
		return fmt.Sprintf("%s won by an innings and %s", o.Winner, strings.ToLower(plural(o.Runs, "run")))
	case o.Runs > 0:
		return fmt.Sprintf("%s won by %s%s", o.Winner, plural(o.Runs, "run"), rule(o.Method))
	case o.Wickets > 0:
		return fmt.Sprintf("%s won by %s%s", o.Winner, plural(o.Wickets, "wicket"), rule(o.Method))
	default: // level on runs: the side that lost fewer wickets
		return fmt.Sprintf("Match tied (%s won by losing fewer wickets)", o.Winner)
	}
}

// rule returns the feed's name of the rain rule.
func rule(method string) string {
	switch method {
	case "":
		return ""
	case "D/L":
		return " (DLS)"
	default:
		return " (" + method + ")"
	}
}

// superOverTied reports whether the last super over was tied too.
func superOverTied(t *recording.Match) bool {
	n := len(t.Innings)
	return n >= 2 && t.Innings[n-1].SuperOver && total(&t.Innings[n-1]) == total(&t.Innings[n-2])
}

// feedNote returns the feed's note at a moment; "" for none.
func (m *Match) feedNote(v *view) string {
	t := m.rec
	switch {
	case v.Finished && v.verdict != nil:
		return v.verdict.note
	case v.Finished:
		return resultNote(t)
	case v.Closed == 0 || v.Closed >= len(t.Innings):
		return ""
	}
	next := &t.Innings[v.Closed] // being played, or next
	if runs := m.target(v.Closed); runs > 0 {
		text := fmt.Sprintf("Target %d runs", runs)
		if overs, _, revised := m.revisedFigures(v); revised && overs != "" && !next.SuperOver {
			text += " from " + overs + " overs" + rule(t.Outcome.Method)
		}
		return text
	}
	if next.SuperOver {
		return "Super Over"
	}
	return ""
}

// target returns what an innings chases, 0 if it does not chase.
func (m *Match) target(i int) int {
	t := m.rec
	in := &t.Innings[i]
	switch {
	case in.SuperOver:
		if i%2 == 1 {
			return total(&t.Innings[i-1]) + 1
		}
		return 0
	case in.Target.Runs > 0:
		return in.Target.Runs
	case !t.MultiDay() && i == 1:
		return total(&t.Innings[0]) + 1
	case t.MultiDay() && i == 3:
		lead := 0
		for k := range 3 {
			if t.Innings[k].Team == in.Team {
				lead -= total(&t.Innings[k])
			} else {
				lead += total(&t.Innings[k])
			}
		}
		return max(lead+1, 0)
	default:
		return 0
	}
}

// revisedFigures returns the feed's revised overs and target as far as they are known at a moment: from the innings
// break on, or the overs from the first ball if the first innings was as short already.
func (m *Match) revisedFigures(v *view) (overs string, runs int, ok bool) {
	t := m.rec
	if len(t.Innings) < 2 || t.Innings[1].Target == (recording.Target{}) || v.Begun == 0 {
		return "", 0, false
	}
	target := t.Innings[1].Target
	shorter := target.Overs != fmt.Sprint(scheduledOvers(t))
	if !shorter && target.Runs == total(&t.Innings[0])+1 {
		return "", 0, false
	}
	if v.Closed > 0 {
		return target.Overs, target.Runs, true
	}
	if shorter && oversText(m.legal(0), t.BallsPerOver) == target.Overs {
		return target.Overs, 0, true
	}
	return "", 0, false
}

// legal returns the number of legal balls of a whole innings.
func (m *Match) legal(innings int) int {
	n := 0
	for i := range m.balls {
		if m.balls[i].innings == innings && m.balls[i].d.Legal() {
			n++
		}
	}
	return n
}

// oversText returns legal balls as overs, without a fraction if whole: "20", "7.3".
func oversText(legal, perOver int) string {
	if legal%perOver == 0 {
		return fmt.Sprint(legal / perOver)
	}
	return fmt.Sprintf("%d.%d", legal/perOver, legal%perOver)
}
