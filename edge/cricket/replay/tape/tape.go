// Package tape is the text form of a recorded match: who played, what was agreed, and every delivery. It has a strict
// reader, whose errors name file and line, and a writer; what one writes the other reads back unchanged.
//
// The form is described in edge/cricket/replay/matches/README.md, beside the recordings.
package tape

// Ref names a player within one match by a letter: a to z are the players of the first team, A to Z those of the
// second. The zero Ref is nobody.
type Ref byte

// Team is the index of the player's side in Match.Teams.
func (r Ref) Team() int {
	if r >= 'A' && r <= 'Z' {
		return 1
	}
	return 0
}

func (r Ref) index() int {
	if r.Team() == 1 {
		return int(r - 'A')
	}
	return int(r - 'a')
}

// RefOf is the name of the i-th player of a side.
func RefOf(team, i int) Ref {
	if team == 1 {
		return Ref('A' + i)
	}
	return Ref('a' + i)
}

// Match is one recorded match.
type Match struct {
	ID           string
	Why          string // what makes the match worth keeping
	Type         string // T20, IT20, ODI, ODM, Test, MDM
	Gender       string // male, female
	Sides        string // international, club
	Event        Event
	Season       string
	Dates        []string // 2019-07-14, ascending
	Venue, City  string
	BallsPerOver int
	Overs        int // scheduled overs an innings as recorded, 0 in multi-day matches
	Toss         Toss
	Umpires      []string
	TVUmpires    []string
	Reserves     []string
	Referees     []string
	Outcome      Outcome
	Best         []Ref // players of the match
	BowlOut      []BowlOut
	Teams        [2]Team
	Innings      []Innings
}

// Event is the competition or tour the match belongs to.
type Event struct {
	Name   string
	Number int // of the match within the event, 0 unknown
	Group  string
	Stage  string
}

// Toss is who won it, as an index of Match.Teams, and what they chose.
type Toss struct {
	Winner      int
	Bat         bool
	Uncontested bool
}

// Outcome is how the match ended. Teams are named as in Match.Teams; at most one of Winner, Eliminator and BowlOut is
// set, the latter two together with the result tie.
type Outcome struct {
	Winner     string
	Runs       int
	Wickets    int
	Innings    int
	Result     string // tie, draw, no result
	Method     string // D/L, VJD, Awarded
	Eliminator string // winner of the super over, or of what decided after it
	BowlOut    string
}

// BowlOut is one ball of a bowl-out.
type BowlOut struct {
	Bowler Ref
	Hit    bool
}

// Team is a side.
type Team struct {
	Name    string
	Players []Player
}

// Player is somebody who took part.
type Player struct {
	Name       string
	Registry   string // eight hexadecimal digits, the same in every match
	Listed     bool   // in the side as named; otherwise only a substitute fielder
	SuperSub   bool   // named as the supersub
	Substitute bool   // came in for another during the match; derived, not written
}

// Innings is one innings, super overs and forfeited ones included.
type Innings struct {
	Team       int
	SuperOver  bool
	Declared   bool
	Forfeited  bool
	Target     Target
	Pre, Post  int   // penalty runs before the first and after the last ball
	Absent     []Ref // could not bat
	Miscounted []Miscount
	Powerplays []Powerplay
	Overs      []Over
}

// Target is what the side chases; the zero Target where the record gives none.
type Target struct {
	Runs  int
	Overs string // "50", "7.3"
}

// Miscount is an over in which the umpire lost count.
type Miscount struct {
	Over  int
	Balls int
}

// Powerplay is a stretch of fielding restrictions, from and to as over.ball.
type Powerplay struct {
	From, To string
	Kind     string
}

// Over is one over, numbered from 0.
type Over struct {
	No    int
	Balls []Delivery
}

// Delivery is one ball. Total is what it adds to the team's score.
type Delivery struct {
	Batter, NonStriker, Bowler Ref
	Bat                        int  // off the bat
	Run                        bool // four or six that were run, not hit to the boundary
	Wides, NoBalls             int
	Byes, LegByes              int
	Penalty                    int
	Wickets                    []Wicket
	Subs                       []Sub // replacements made just before the ball
}

// Total is what the ball adds to the team's score.
func (d *Delivery) Total() int {
	return d.Bat + d.Wides + d.NoBalls + d.Byes + d.LegByes + d.Penalty
}

// Legal reports whether the ball counts towards the over.
func (d *Delivery) Legal() bool { return d.Wides == 0 && d.NoBalls == 0 }

// Kind is the way of a dismissal or retirement, in the record's own words.
type Kind string

// The kinds.
const (
	Bowled          Kind = "bowled"
	Caught          Kind = "caught"
	CaughtAndBowled Kind = "caught and bowled"
	LBW             Kind = "lbw"
	Stumped         Kind = "stumped"
	HitWicket       Kind = "hit wicket"
	RunOut          Kind = "run out"
	Obstructing     Kind = "obstructing the field"
	HandledBall     Kind = "handled the ball"
	HitTwice        Kind = "hit the ball twice"
	TimedOut        Kind = "timed out"
	RetiredOut      Kind = "retired out"
	RetiredHurt     Kind = "retired hurt"
	RetiredNotOut   Kind = "retired not out"
)

// Out reports whether the batter is out: who retires hurt or by leave is not.
func (k Kind) Out() bool { return k != RetiredHurt && k != RetiredNotOut }

// Credited reports whether the wicket is the bowler's.
func (k Kind) Credited() bool {
	switch k {
	case Bowled, Caught, CaughtAndBowled, LBW, Stumped, HitWicket:
		return true
	default:
		return false
	}
}

// Wicket is a dismissal or a retirement.
type Wicket struct {
	Kind     Kind
	Out      Ref
	Fielders []Fielder
}

// Fielder had a hand in a dismissal. Who is 0 where the record does not name him.
type Fielder struct {
	Who        Ref
	Substitute bool
}

// Sub is a replacement: In plays on for Out.
type Sub struct {
	In, Out Ref
	Reason  string // supersub, concussion_substitute, impact_player
}

// Player finds a player; nil for nobody.
func (m *Match) Player(r Ref) *Player {
	if r == 0 || r.index() >= len(m.Teams[r.Team()].Players) {
		return nil
	}
	return &m.Teams[r.Team()].Players[r.index()]
}

// TeamIndex is the index of a team by its name, or -1.
func (m *Match) TeamIndex(name string) int {
	for i := range m.Teams {
		if m.Teams[i].Name == name {
			return i
		}
	}
	return -1
}

// MultiDay reports whether a match is first-class cricket, where an innings has no quota of overs.
func (m *Match) MultiDay() bool { return m.Type == "Test" || m.Type == "MDM" }
