// Package recording holds recorded matches: the players, the conditions, and every delivery. They are made from
// match files of cricsheet.org (JSON 1.0 and 1.1), read strictly: a file with a kind of fact that a replay would
// silently lose is refused. The project stores each as a packed Match (Pack): only the facts that a replay needs.
package recording

import "slices"

// Ref identifies a player within one match by a letter: a to z for the first team, A to Z for the second. The zero Ref is nobody.
type Ref byte

// Team returns the index of the player's side in Match.Teams.
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

// RefOf returns the ref of player i of a side.
func RefOf(team, i int) Ref {
	if team == 1 {
		return Ref('A' + i)
	}
	return Ref('a' + i)
}

// maxPlayers is how many players of a side can have a ref.
const maxPlayers = 26

// Match is one recorded match.
type Match struct {
	ID           string    `json:",omitzero"`
	Why          string    `json:",omitzero"` // why the match is worth keeping
	Type         string    `json:",omitzero"` // T20, IT20, ODI, ODM, Test, MDM
	Gender       string    `json:",omitzero"` // male, female
	Sides        string    `json:",omitzero"` // international, club
	Event        Event     `json:",omitzero"`
	Season       string    `json:",omitzero"`
	Dates        []string  `json:",omitzero"` // 2019-07-14, ascending
	Venue, City  string    `json:",omitzero"`
	BallsPerOver int       `json:",omitzero"`
	Overs        int       `json:",omitzero"` // scheduled overs per innings as recorded, 0 in multi-day matches
	Toss         Toss      `json:",omitzero"`
	Umpires      []string  `json:",omitzero"`
	TVUmpires    []string  `json:",omitzero"`
	Referees     []string  `json:",omitzero"`
	Outcome      Outcome   `json:",omitzero"`
	Best         []Ref     `json:",omitzero"` // players of the match
	Teams        [2]Team   `json:",omitzero"`
	Innings      []Innings `json:",omitzero"`
}

// Event is the match's competition or tour.
type Event struct {
	Name   string `json:",omitzero"`
	Number int    `json:",omitzero"` // of the match within the event, 0 if unknown
	Group  string `json:",omitzero"`
	Stage  string `json:",omitzero"`
}

// Toss is the winner, as an index in Match.Teams, and the decision.
type Toss struct {
	Winner int  `json:",omitzero"`
	Bat    bool `json:",omitzero"`
}

// Outcome is how the match ended. Teams are named as in Match.Teams; at most one of Winner, Eliminator and
// BowlOut is set, the latter two with the result tie.
type Outcome struct {
	Winner     string `json:",omitzero"`
	Runs       int    `json:",omitzero"`
	Wickets    int    `json:",omitzero"`
	Innings    int    `json:",omitzero"`
	Result     string `json:",omitzero"` // tie, draw, no result
	Method     string `json:",omitzero"` // D/L, VJD, Awarded
	Eliminator string `json:",omitzero"` // winner of the super over, or of whatever decided after it
	BowlOut    string `json:",omitzero"`
}

// Team is a side.
type Team struct {
	Name    string   `json:",omitzero"`
	Players []Player `json:",omitzero"`
}

// Player is a participant.
type Player struct {
	Name       string `json:",omitzero"`
	Registry   string `json:",omitzero"` // eight hexadecimal digits, the same in every match
	Listed     bool   `json:",omitzero"` // in the named side; otherwise only a substitute fielder
	SuperSub   bool   `json:",omitzero"` // named as the supersub
	Substitute bool   `json:",omitzero"` // replaced another player during the match
}

// Innings is one innings; super overs and forfeited innings are included.
type Innings struct {
	Team       int         `json:",omitzero"`
	SuperOver  bool        `json:",omitzero"`
	Target     Target      `json:",omitzero"`
	Forfeited  bool        `json:",omitzero"`
	Pre, Post  int         `json:",omitzero"` // penalty runs before the first and after the last ball
	Powerplays []Powerplay `json:",omitzero"`
	Overs      []Over      `json:",omitzero"`
}

// Target is what the side chases; zero if the record gives none.
type Target struct {
	Runs  int    `json:",omitzero"`
	Overs string `json:",omitzero"` // "50", "7.3"
}

// Powerplay is a period of fielding restrictions, from and to as over.ball.
type Powerplay struct{ From, To string }

// Over is one over, numbered from 0.
type Over struct {
	No    int        `json:",omitzero"`
	Balls []Delivery `json:",omitzero"`
}

// Delivery is one ball.
type Delivery struct {
	Batter, NonStriker, Bowler Ref      `json:",omitzero"`
	Bat                        int      `json:",omitzero"` // off the bat
	Run                        bool     `json:",omitzero"` // a four or six that was all run
	Wides, NoBalls             int      `json:",omitzero"`
	Byes, LegByes              int      `json:",omitzero"`
	Penalty                    int      `json:",omitzero"`
	Wickets                    []Wicket `json:",omitzero"`
}

// Total returns the runs that the ball adds to the team's score.
func (d *Delivery) Total() int {
	return d.Bat + d.Wides + d.NoBalls + d.Byes + d.LegByes + d.Penalty
}

// Legal reports whether the ball counts towards the over.
func (d *Delivery) Legal() bool { return d.Wides == 0 && d.NoBalls == 0 }

// Kind is the kind of a dismissal or retirement, in the record's words.
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

// IsOut reports whether the batter is out; retired hurt and retired not out are not.
func (k Kind) IsOut() bool { return k != RetiredHurt && k != RetiredNotOut }

// IsCredited reports whether the bowler gets the wicket.
func (k Kind) IsCredited() bool {
	return slices.Contains([]Kind{Bowled, Caught, CaughtAndBowled, LBW, Stumped, HitWicket}, k)
}

// isKnown reports whether a dismissal of this kind can be replayed.
func (k Kind) isKnown() bool {
	return k.IsCredited() || !k.IsOut() ||
		slices.Contains([]Kind{RunOut, Obstructing, HandledBall, HitTwice, TimedOut, RetiredOut}, k)
}

// Wicket is a dismissal or a retirement.
type Wicket struct {
	Kind     Kind      `json:",omitzero"`
	Out      Ref       `json:",omitzero"`
	Fielders []Fielder `json:",omitzero"`
}

// Fielder took part in a dismissal. Who is 0 if the record does not name the fielder.
type Fielder struct {
	Who        Ref  `json:",omitzero"`
	Substitute bool `json:",omitzero"`
}

// Player returns a player; nil for nobody.
func (m *Match) Player(r Ref) *Player {
	if r == 0 || r.index() >= len(m.Teams[r.Team()].Players) {
		return nil
	}
	return &m.Teams[r.Team()].Players[r.index()]
}

// TeamIndex returns the index of a team by its name, or -1.
func (m *Match) TeamIndex(name string) int {
	return slices.IndexFunc(m.Teams[:], func(t Team) bool { return t.Name == name })
}

// MultiDay reports whether the match is first-class cricket, where an innings has no limit of overs.
func (m *Match) MultiDay() bool { return m.Type == "Test" || m.Type == "MDM" }
