package sportmonks

import (
	"strconv"
	"strings"
	"unique"

	"github.com/touchline/touchline/edge/cricket"
)

// ball converts a row of the feed to a delivery, by rules that two independent public adapters found to agree with the
// score lines: a wide has no field of its own, a no-ball counts as a ball for the feed but not in the game, and only the
// flag makes a boundary.
func (d *decoder) ball(w *wireBall) cricket.Ball {
	b := cricket.Ball{
		ID:        int64(w.ID),
		Innings:   inningsOf(w.Scoreboard),
		TeamID:    int64(w.TeamID),
		Over:      overOf(w.Label),
		Label:     oversText(w.Label),
		BatterID:  int64(w.BatterID),
		BowlerID:  int64(w.BowlerID),
		PairIDs:   [2]int64{int64(w.FirstID), int64(w.SecondID)},
		CatchID:   int64(w.CatchID),
		RunOutID:  int64(w.RunOutID),
		UpdatedAt: w.UpdatedAt.Time,
	}
	d.odd.instant(w.UpdatedAt)
	score := w.Score.value
	if !w.Score.is {
		if score = d.scores.find(int64(w.ScoreID)); score.ID == 0 && w.ScoreID != 0 {
			d.odd.unknown(OddUnknownScore, idText(w.ScoreID))
		}
	} else {
		d.scores.learn(score)
	}
	name := words(score.Name)
	b.Outcome = unique.Make(name).Value()
	b.Runs = int(score.Runs)
	b.Byes = int(score.Bye)
	b.LegByes = int(score.LegBye)
	b.Four = bool(score.Four)
	b.Six = bool(score.Six)
	b.NoBall, b.NoBallRuns = noBall(&score, name)
	b.Wide = !b.NoBall && (score.Ball != nil && !bool(*score.Ball) || containsFold(name, "wide"))
	if b.Wicket = wicket(&score, name, w.OutID != 0); b.Wicket {
		b.OutID = int64(w.OutID)
	}
	return b
}

// noBall uses the flag. A run out on a no-ball has been seen under the name "1NB + 1 Run+ Run Out" with the flag
// in doubt, so the name counts too; the penalty is then one run.
func noBall(score *wireScore, name string) (is bool, runs int) {
	if score.NoBall > 0 || score.NoBallRuns > 0 {
		return true, int(score.NoBallRuns)
	}
	if !noBallName(name) {
		return false, 0
	}
	return true, min(1, int(score.Runs))
}

func noBallName(name string) bool {
	if containsFold(name, "no ball") {
		return true
	}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '+' }) {
		switch strings.ToLower(strings.TrimLeft(word, "0123456789")) {
		case "nb", "noball":
			return true
		}
	}
	return false
}

// wicket reports whether a ball led to a dismissal. A batter who retires hurt or not out may bat again: the pair
// changes, the wickets do not.
func wicket(score *wireScore, name string, someoneOut bool) bool {
	if notDismissed(name) {
		return false
	}
	return bool(score.IsWicket) || bool(score.Out) || someoneOut
}

func notDismissed(name string) bool {
	return containsFold(name, "retired") &&
		(containsFold(name, "hurt") || containsFold(name, "not out") || containsFold(name, " ill"))
}

func containsFold(s, lower string) bool { return strings.Contains(strings.ToLower(s), lower) }

// words collapses repeated spaces: the feed's spelling varies.
func words(t text) string {
	s := string(t)
	if !strings.Contains(s, "  ") && strings.TrimSpace(s) == s {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// overOf returns the whole part of a label: "12.4" is over 12.
func overOf(label text) int {
	whole, _, _ := strings.Cut(strings.TrimSpace(string(label)), ".")
	n, err := strconv.Atoi(whole)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
