package cricket

import "time"

// Display is the whole state of a match as phones, pages and API clients show it. It is built once per match and
// tick, and is the same for every follower.
type Display struct {
	MatchID      string        `json:"matchId"`
	League       string        `json:"league"`
	Phase        Phase         `json:"phase"`
	Status       string        `json:"status"`
	Home         int64         `json:"home,omitempty"` // the side named first in the match's name, whichever bats
	Teams        []TeamScore   `json:"teams"`          // batting side first, in the current innings; see For
	Batters      []Batter      `json:"batters"`        // at most two, striker marked
	Bowler       *Bowler       `json:"bowler,omitempty"`
	Partnership  *Stand        `json:"partnership,omitempty"`
	Target       int           `json:"target,omitempty"`
	Required     int           `json:"requiredRuns,omitempty"`
	RequiredRate string        `json:"requiredRate,omitempty"` // "6.25"; never in multi-day matches
	RunRate      string        `json:"runRate,omitempty"`
	BallsLeft    int           `json:"ballsLeft,omitempty"`
	Lead         *int          `json:"lead,omitempty"` // multi-day only: the batting side's lead, negative if it trails
	Day          int           `json:"day,omitempty"`
	KeyEvent     *KeyEvent     `json:"keyEvent,omitempty"`
	LastBalls    []BallMark    `json:"lastBalls"` // newest last, at most six
	Innings      []InningsLine `json:"innings"`
	FollowOn     bool          `json:"followOn,omitempty"`
	SuperOver    bool          `json:"superOver,omitempty"` // in play, or decided the match
	Note         string        `json:"note,omitempty"`      // toss, target, rain, the feed's own words
	Equation     string        `json:"equation,omitempty"`  // "need 15 from 6", "trail by 40"
	Result       string        `json:"result,omitempty"`    // once confirmed
	NoNews       bool          `json:"noNews,omitempty"`    // the feed has the match no more: nothing here is known to be true still
	UpdatedAt    time.Time     `json:"updatedAt"`
}

// ForTeam returns the display for a follower of a team: that team is listed first, and nothing else differs. For a
// team that does not play it returns the display unchanged.
func (d Display) ForTeam(teamID int64) Display {
	if len(d.Teams) == 2 && d.Teams[1].ID == teamID && d.Teams[0].ID != teamID {
		d.Teams = []TeamScore{d.Teams[1], d.Teams[0]}
	}
	return d
}

// TeamScore is a side's current score, the total "112/3 (14.2)" of its latest innings.
type TeamScore struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Code    string `json:"code"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Overs   string `json:"overs"`
	Batting bool   `json:"batting"`
	Batted  bool   `json:"batted"` // false: yet to bat
}

// Batter is a batter at the crease.
type Batter struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Runs       int    `json:"runs"`
	Balls      int    `json:"balls"`
	Fours      int    `json:"fours"`
	Sixes      int    `json:"sixes"`
	StrikeRate string `json:"strikeRate"`
	OnStrike   bool   `json:"onStrike"`
}

// Bowler is the bowler of the latest ball.
type Bowler struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Overs   string `json:"overs"`
	Maidens int    `json:"maidens"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
}

// Stand is the current partnership.
type Stand struct {
	Runs  int `json:"runs"`
	Balls int `json:"balls"`
}

// KeyEvent is the banner: the most important recent event.
type KeyEvent struct {
	Key  string    `json:"key"`
	Type string    `json:"type"` // Sightscreen's names if it has one, e.g. match_end for result
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// BallMark is a ball's mark.
type BallMark struct {
	Label string `json:"label"` // "12.4"
	Mark  string `json:"mark"`  // ".", "1", "4", "6", "W", "2wd", "1nb", "4b", "1lb"
	Kind  string `json:"kind"`  // dot, run, four, six, wicket, extra
}

// InningsLine is one innings, finished or not; super overs and forfeited innings are included.
type InningsLine struct {
	No        int    `json:"number"`
	TeamID    int64  `json:"teamId"`
	Runs      int    `json:"runs"`
	Wickets   int    `json:"wickets"`
	Overs     string `json:"overs"`
	AllOut    bool   `json:"allOut"`
	Declared  bool   `json:"declared"`
	Forfeited bool   `json:"forfeited"`
	SuperOver bool   `json:"superOver"`
}

// Card is the scorecard: what a page draws in addition to the display.
type Card struct {
	MatchID string        `json:"matchId"`
	Innings []CardInnings `json:"innings"`
}

// CardInnings is one innings of the card.
type CardInnings struct {
	No      int          `json:"number"`
	TeamID  int64        `json:"teamId"`
	Batting []CardBatter `json:"batting"`
	Bowling []Bowler     `json:"bowling"`
	Overs   []CardOver   `json:"overs"` // for the charts; empty if there are no balls
	Extras  int          `json:"extras"`
}

// CardBatter is a batter's line.
type CardBatter struct {
	Batter
	Out    bool   `json:"out"`
	HowOut string `json:"howOut"` // "b Starc", "not out"
}

// CardOver is one over of an innings.
type CardOver struct {
	No      int    `json:"no"` // from 1
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Bowler  string `json:"bowler"`
	Balls   string `json:"balls"` // "1 . 4 W 2wd 1"
}
