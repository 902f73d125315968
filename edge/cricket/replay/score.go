package replay

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// score is the feed's object for the outcome of a ball. Penalty runs and a second wicket on the same ball have
// no field in it, and show only in the totals.
type score struct {
	id                  int64
	name                string
	runs                int // bat, no-ball and wides: what the bowler concedes
	four, six           bool
	bye, legBye         int
	noBall, noBallRuns  int
	wicket, ball, isOut bool
}

// outcome is what determines the name and id of a score.
type outcome struct {
	kind             recording.Kind // "": no wicket
	bat              int
	run              bool // an all-run four or six
	wides, noBalls   int
	byes, legByes    int
	fourFlag, sixFlg bool
}

const (
	scoreNotOut   = 84
	scoreFirstOwn = 200 // ids of scores without a known id in the real catalogue
)

// knownScores returns the ids seen in real replies.
func knownScores() map[string]int64 {
	return map[string]int64{
		"1 Leg Bye": 4, "1 Wide": 17, "FOUR": 47, "5 Wides": 52, "Catch Out": 54, "1 Run": 69, "Clean Bowled": 79,
		"No Run": 82, "LBW OUT": 83, "1 No Ball + 1 Bye": 114,
	}
}

// scoreOf maps a delivery. Of several dismissals on it the first counts.
func scoreOf(d *recording.Delivery) score {
	o := outcome{
		bat: d.Bat, run: d.Run, wides: d.Wides, noBalls: d.NoBalls, byes: d.Byes, legByes: d.LegByes,
		fourFlag: d.Bat == 4 && !d.Run, sixFlg: d.Bat == 6 && !d.Run,
	}
	if w := firstOut(d); w != nil {
		o.kind = w.Kind
	}
	return o.score()
}

func firstOut(d *recording.Delivery) *recording.Wicket {
	for i := range d.Wickets {
		if d.Wickets[i].Kind.IsOut() {
			return &d.Wickets[i]
		}
	}
	return nil
}

func (o outcome) score() score {
	s := score{
		name: o.name(), runs: o.bat + o.wides + o.noBalls, four: o.fourFlag, six: o.sixFlg,
		bye: o.byes, legBye: o.legByes, noBallRuns: o.noBalls,
		wicket: o.kind != "", isOut: o.kind != "", ball: o.wides == 0,
	}
	if o.noBalls > 0 {
		s.noBall = 1
	}
	s.id = scoreIDs()[s.name]
	return s
}

// name returns "FOUR", "2 Wides", "1 No Ball + 1 Bye", "Run Out + 1 Run".
func (o outcome) name() string {
	what := o.runsName()
	switch {
	case o.kind == "":
		return what
	case what == "No Run":
		return dismissalName(o.kind)
	default:
		return dismissalName(o.kind) + " + " + what
	}
}

func (o outcome) runsName() string {
	switch {
	case o.wides > 0:
		return plural(o.wides, "Wide")
	case o.noBalls > 0:
		base := fmt.Sprintf("%d No Ball", o.noBalls)
		if o.bat+o.byes+o.legByes == 0 {
			return base
		}
		return base + " + " + o.offBall("Four", "Six")
	case o.bat+o.byes+o.legByes == 0:
		return "No Run"
	default:
		return o.offBall("FOUR", "SIX")
	}
}

func (o outcome) offBall(four, six string) string {
	switch {
	case o.byes > 0:
		return fmt.Sprintf("%d Bye", o.byes)
	case o.legByes > 0:
		return fmt.Sprintf("%d Leg Bye", o.legByes)
	case o.fourFlag:
		return four
	case o.sixFlg:
		return six
	default:
		return plural(o.bat, "Run")
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func dismissalName(k recording.Kind) string {
	return cmp.Or(map[recording.Kind]string{
		recording.Bowled:          "Clean Bowled",
		recording.Caught:          "Catch Out",
		recording.CaughtAndBowled: "Catch Out",
		recording.LBW:             "LBW OUT",
		recording.Stumped:         "Stump Out",
		recording.HitWicket:       "Hit Wicket",
		recording.RunOut:          "Run Out",
		recording.Obstructing:     "Obstructing the Field",
		recording.HandledBall:     "Handled the Ball",
		recording.HitTwice:        "Hit the Ball Twice",
		recording.TimedOut:        "Timed Out",
	}[k], "Retired Out")
}

// scoreIDs maps every name of the catalogue to its id, the same in every process.
var scoreIDs = sync.OnceValue(func() map[string]int64 {
	ids := knownScores()
	next := int64(scoreFirstOwn)
	for _, o := range outcomes() {
		if name := o.name(); ids[name] == 0 {
			ids[name] = next
			next++
		}
	}
	return ids
})

// outcomes returns all possible outcomes of a ball; some have never happened.
func outcomes() []outcome {
	kinds := []recording.Kind{
		"", recording.Bowled, recording.Caught, recording.LBW, recording.Stumped, recording.HitWicket, recording.RunOut, recording.Obstructing,
		recording.HandledBall, recording.HitTwice, recording.TimedOut, recording.RetiredOut,
	}
	var all []outcome
	for _, k := range kinds {
		for nb := range 3 {
			for n := range 8 {
				all = append(all,
					outcome{kind: k, noBalls: nb, bat: n, run: true},
					outcome{kind: k, noBalls: nb, bat: n, fourFlag: n == 4, sixFlg: n == 6},
					outcome{kind: k, noBalls: nb, byes: n}, outcome{kind: k, noBalls: nb, legByes: n})
			}
		}
		for n := 1; n <= 7; n++ {
			all = append(all, outcome{kind: k, wides: n})
		}
	}
	return all
}

// catalogue returns every score object.
func catalogue() []score {
	seen := map[int64]bool{}
	list := []score{{id: scoreNotOut, name: "Not Out", ball: true}}
	for _, o := range outcomes() {
		if s := o.score(); !seen[s.id] {
			seen[s.id] = true
			list = append(list, s)
		}
	}
	return list
}
