package hacktracker

import "github.com/touchline/touchline/internal/fraction"

// The results of a plate appearance. The original's own are K to E; FO to TP are those that its client counts as well.
const (
	Strikeout = "K"
	Walk      = "BB"
	HitByP    = "HBP"
	Single    = "1B"
	Double    = "2B"
	Triple    = "3B"
	HomeRun   = "HR"
	Sacrifice = "SAC"
	SacFly    = "SF"
	SacBunt   = "SH"
	Choice    = "FC"
	OnError   = "E"
)

const flyBall = "fly_ball"

// outsOf is the number of outs that a result makes. Results not listed make none.
var outsOf = map[string]int{
	Strikeout: 1, "OUT": 1, "FO": 1, "GO": 1, "PO": 1, "LO": 1, SacFly: 1, SacBunt: 1, Sacrifice: 1, "DP": 2, "TP": 3,
}

// Line counts plate appearances: the columns of a scorebook.
type Line struct {
	PA      int `json:"PA"`
	AB      int `json:"AB"`
	H       int `json:"H"`
	Doubles int `json:"2B"`
	Triples int `json:"3B"`
	HR      int `json:"HR"`
	RBI     int `json:"RBI"`
	BB      int `json:"BB"`
	HBP     int `json:"HBP"`
	K       int `json:"K"`
	SF      int `json:"SF"`
	SH      int `json:"SH"`
	TB      int `json:"TB"`
}

// Count counts at-bats, in whatever order.
func Count(all []AtBat) (l Line) {
	for i := range all {
		l.add(&all[i])
	}
	return l
}

// counts lists the columns that a result adds to, besides the plate appearance and its runs. Walks, hit batters and sacrifices are not
// at-bats (MLB rule 9.02). A result not listed, such as a fielder's choice or an error, is an at-bat without a hit.
var counts = map[string]Line{
	Walk: {BB: 1}, HitByP: {HBP: 1}, SacFly: {SF: 1}, SacBunt: {SH: 1}, Strikeout: {AB: 1, K: 1},
	Single: {AB: 1, H: 1, TB: 1}, Double: {AB: 1, H: 1, Doubles: 1, TB: 2}, Triple: {AB: 1, H: 1, Triples: 1, TB: 3}, HomeRun: {AB: 1, H: 1, HR: 1, TB: 4},
}

// add counts one plate appearance. A sacrifice of unspecified kind is a fly if the ball was hit as one, else a bunt.
func (l *Line) add(a *AtBat) {
	result := a.Result
	if result == Sacrifice {
		result = SacBunt
		if a.HitType == flyBall {
			result = SacFly
		}
	}
	n, ok := counts[result]
	if !ok {
		n.AB = 1
	}
	n.PA, n.RBI = 1, a.RBIs
	*l = Line{
		l.PA + n.PA, l.AB + n.AB, l.H + n.H, l.Doubles + n.Doubles, l.Triples + n.Triples, l.HR + n.HR, l.RBI + n.RBI,
		l.BB + n.BB, l.HBP + n.HBP, l.K + n.K, l.SF + n.SF, l.SH + n.SH, l.TB + n.TB,
	}
}

// AVG is the batting average.
func (l Line) AVG() fraction.Fraction { return fraction.Of(l.H, l.AB) }

// Batting is a line with its averages.
type Batting struct {
	Line
	AVG   fraction.Fraction `json:"AVG"`
	OBP   fraction.Fraction `json:"OBP"`   // on-base percentage, sacrifice flies in its denominator (MLB rule 9.21)
	SLG   fraction.Fraction `json:"SLG"`   // slugging percentage: total bases per at-bat
	OPS   fraction.Fraction `json:"OPS"`   // on-base plus slugging, added before either is rounded
	ISO   fraction.Fraction `json:"ISO"`   // isolated power: extra bases per at-bat
	BABIP fraction.Fraction `json:"BABIP"` // average on balls in play
}

// Batting computes a line's averages.
func (l Line) Batting() Batting {
	obp, slg := fraction.Of(l.H+l.BB+l.HBP, l.AB+l.BB+l.HBP+l.SF), fraction.Of(l.TB, l.AB)
	return Batting{l, l.AVG(), obp, slg, obp.Plus(slg), fraction.Of(l.TB-l.H, l.AB), fraction.Of(l.H-l.HR, l.AB-l.K-l.HR+l.SF)}
}
