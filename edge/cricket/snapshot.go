package cricket

import (
	"strconv"
	"strings"
	"time"
)

// Snapshot is one poll of the feed for one match, normalised: sorted and typed, without the feed's envelope. It
// is not atomic: score, rows and balls may be a ball apart.
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
	Overs     int          // scheduled overs per innings, 0 in multi-day matches
	RevOvers  string       // revised overs ("7.3"), "" if play was not shortened
	RevTarget int          // revised target, 0 if there is none
	RainScore [2]RainScore // per team, by the rain rule; zero if it was not used
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
	Balls   []Ball         // as the feed sends them, sorted by Step; nil if balls were not requested
	NoBalls bool           // balls were not requested: their absence means nothing
	Players map[int64]Name // everybody named in the snapshot

	Raw    []byte        // the reply's text for this match without its balls; nil if none was kept
	ReadAt time.Time     // when the feed answered, by our clock
	Skew   time.Duration // the feed's clock minus ours, to judge the age of what it stamped
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

// Toss says who won it and what they chose; it is zero before the toss.
type Toss struct {
	TeamID int64
	Chose  string // batting or bowling
}

// Decision returns the choice as texts put it: "bat" or "field".
func (t Toss) Decision() string {
	if t.Chose == "bowling" {
		return "field"
	}
	return "bat"
}

// RainScore is a team's score by the rain rule.
type RainScore struct {
	Known   bool
	Runs    int
	Overs   string
	Wickets int
}

// Name is a player's name.
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
	Penalty   int    // penalty runs included in Runs; no ball shows them
	Powerplay int    // overs of the first powerplay, 0 if the feed gives none
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
	HowOut   string // the feed's name for the dismissal, if it sends one
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

// Ball is one delivery. Labels repeat (a wide has the label of the legal ball that follows it), so the ID is the key.
type Ball struct {
	ID         int64
	Innings    int
	TeamID     int64  // batting side
	Over       int    // from 0
	Label      string // "12.4"
	BatterID   int64
	BowlerID   int64
	PairIDs    [2]int64 // the pair before the ball, in batting order
	Outcome    string   // the feed's words: "FOUR", "2 Wides", "Catch Out"
	Runs       int      // runs the bowler concedes: off the bat, no-ball runs, wides
	Byes       int
	LegByes    int
	NoBallRuns int
	Wide       bool
	NoBall     bool
	Four       bool // by the boundary flag: a four can also be run
	Six        bool
	Wicket     bool
	OutID      int64 // the batter out, 0 for the striker
	CatchID    int64 // catcher or stumper
	RunOutID   int64
	UpdatedAt  time.Time
	Untimed    bool `json:"-"` // UpdatedAt is an estimate: the feed's time could not be read
}

// Total returns the runs that the ball adds to the team's score.
func (b *Ball) Total() int { return b.Runs + b.Byes + b.LegByes }

// batterOut returns the batter out on a ball with a wicket.
func (b *Ball) batterOut() int64 {
	if b.OutID != 0 {
		return b.OutID
	}
	return b.BatterID
}

// BatRuns returns the runs that the ball adds to the batter's score.
func (b *Ball) BatRuns() int {
	if b.Wide {
		return 0
	}
	return b.Runs - b.NoBallRuns
}

// Legal reports whether the ball counts towards the over.
func (b *Ball) Legal() bool { return !b.Wide && !b.NoBall }

// place returns where in the match a ball was bowled. Unlike its id it stays when the feed enters the ball again; a wide has the
// place of the ball that follows it.
func (b *Ball) place() int64 { return placeOf(b.Innings, b.Over, ballInOver(b.Label)) }

// placeOf packs a place into a number that grows with play.
func placeOf(innings, over, ball int) int64 {
	return int64(innings)<<21 | int64(over)<<7 | int64(min(ball, 127))
}

// BallsPerOver returns six, or five in The Hundred.
func (s *Snapshot) BallsPerOver() int {
	if containsFold(s.Type, "100-ball") || containsFold(s.Type, "hundred") { // also the women's
		return 5
	}
	return 6
}

// MultiDay reports whether the match is first-class cricket, where an innings has no limit of overs.
func (s *Snapshot) MultiDay() bool { return s.Overs == 0 }

// ScheduledDays returns the scheduled length of a multi-day match in days, from its type ("Test/5day", "4day"); 0 for a shorter match.
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
