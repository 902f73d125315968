package cricket

import (
	"strconv"
	"strings"
	"time"
)

// Snapshot is one snapshot of the feed for one match, normalised: sorted, typed, without the feed's wrapping. It is
// not atomic: the score, the rows and the balls of one snapshot may be a ball apart.
type Snapshot struct {
	MatchID   string
	Status    Status
	Type      string // the feed's: T20I, ODI, Test/5day, 100-Ball, ...
	Round     string
	League    League
	SeasonID  int64
	Stage     string
	Venue     string
	Teams     [2]Team // local team first
	StartsAt  time.Time
	Toss      Toss
	Overs     int          // scheduled overs an innings, 0 in multi-day matches
	RevOvers  string       // revised overs ("7.3"), "" when play was not shortened
	RevTarget int          // revised target, 0 when there is none
	RainScore [2]RainScore // of the teams, by the rain rule; zero where it was not used
	Note      string
	Winner    int64  // team, 0 while unknown
	NoResult  string // the feed's draw_noresult: "draw", "no result", ...
	SuperOver bool
	FollowOn  bool
	Player    int64 // man of the match
	LineUp    int   // players named in both line-ups together, 0 before they are known

	Innings []Innings      // by number; super overs are the innings beyond regulation
	Batting []BattingRow   // by innings, then order
	Bowling []BowlingRow   // by innings, then order
	Balls   []Ball         // by innings, then id; nil where balls were not asked for
	NoBalls bool           // balls were not asked for: that there are none tells nothing
	Players map[int64]Name // everybody named in the snapshot

	Raw    []byte        // the reply's text for this match without its balls; nil where none was kept
	ReadAt time.Time     // when the feed answered, by our clock
	Skew   time.Duration // the feed's clock minus ours: ages of what it stamped are judged by its own
}

// League is a competition.
type League struct {
	ID   int64
	Name string
	Code string
}

// Team is a side.
type Team struct {
	ID   int64
	Name string
	Code string // ENG
}

// Toss is who won it and what they chose; the zero value before it.
type Toss struct {
	TeamID int64
	Chose  string // batting or bowling
}

// Decision is what a text says the winner chose to do.
func (t Toss) Decision() string {
	if t.Chose == "bowling" {
		return "field"
	}
	return "bat"
}

// RainScore is a team's score as the rain rule has it.
type RainScore struct {
	Known   bool
	Runs    int
	Overs   string
	Wickets int
}

// Name is how a player is called.
type Name struct {
	Full string // Ben Stokes
	Last string // Stokes
}

// Innings is one score line.
type Innings struct {
	No        int // 1, 2, ...: order of play, super overs included
	TeamID    int64
	Runs      int
	Wickets   int
	Overs     string // legal balls as overs, "49.3"
	Penalty   int    // penalty runs in Runs, which no ball shows
	Powerplay int    // overs of the first powerplay, 0 where the feed names none
	UpdatedAt time.Time
}

// BattingRow is a batter's line in one innings.
type BattingRow struct {
	Innings  int
	Order    int
	TeamID   int64
	PlayerID int64
	Runs     int
	Balls    int
	Fours    int
	Sixes    int
	Out      bool
	HowOut   string // the feed's name of the dismissal where it sends one
	BowlerID int64
	CatchID  int64 // catcher or stumper
	RunOutID int64
	FoWRuns  int    // team score at the fall
	FoWOvers string // when it fell, "18.6"
}

// BowlingRow is a bowler's line in one innings. TeamID is the bowling side.
type BowlingRow struct {
	Innings  int
	Order    int
	TeamID   int64
	PlayerID int64
	Overs    string
	Maidens  int
	Runs     int
	Wickets  int
	Wides    int
	NoBalls  int
}

// Ball is one delivery. Labels repeat (a wide has the label of the legal ball still to come): the ID is the key.
type Ball struct {
	ID         int64
	Innings    int
	TeamID     int64  // batting side
	Over       int    // from 0
	Label      string // "12.4"
	BatterID   int64
	BowlerID   int64
	PairIDs    [2]int64 // at the crease before the ball, in batting order
	Outcome    string   // the feed's words: "FOUR", "2 Wides", "Catch Out"
	Runs       int      // off the bat, with no-ball runs and wides: what the bowler concedes
	Byes       int
	LegByes    int
	NoBallRuns int
	Wide       bool
	NoBall     bool
	Four       bool // by the boundary flag: a four can be run
	Six        bool
	Wicket     bool
	OutID      int64 // who is out, 0: the batter
	CatchID    int64 // catcher or stumper
	RunOutID   int64
	UpdatedAt  time.Time
}

// Total is what the ball adds to the team's score.
func (b *Ball) Total() int { return b.Runs + b.Byes + b.LegByes }

// out is who is out on a ball with a wicket.
func (b *Ball) out() int64 {
	if b.OutID != 0 {
		return b.OutID
	}
	return b.BatterID
}

// BatRuns is what it adds to the batter's.
func (b *Ball) BatRuns() int {
	if b.Wide {
		return 0
	}
	return b.Runs - b.NoBallRuns
}

// Legal reports whether it counts towards the over.
func (b *Ball) Legal() bool { return !b.Wide && !b.NoBall }

// BallsPerOver is six, and five in The Hundred.
func (s *Snapshot) BallsPerOver() int {
	if s.Type == "100-Ball" {
		return 5
	}
	return 6
}

// MultiDay reports whether a match is first-class cricket, where an innings has no quota of overs.
func (s *Snapshot) MultiDay() bool { return s.Overs == 0 }

// ScheduledDays is the scheduled length in days of a match over several, 0 of a shorter one: "Test/5day", "4day".
func ScheduledDays(kind string) int {
	kind = strings.ToLower(kind)
	if i := strings.Index(kind, "day"); i > 0 {
		if n, err := strconv.Atoi(kind[i-1 : i]); err == nil && n > 1 {
			return n
		}
	}
	if strings.HasPrefix(kind, "test") || strings.Contains(kind, "woman test") {
		return 5
	}
	return 0
}
