package sportmonks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The feed's own types, which tolerate its variations: numbers as text, and includes that are bare, wrapped in
// {"data": ...}, null or []. Unknown fields are ignored.

// text is a string or a number's text: overs and labels are decimal text, never fractions. It is a single line
// of at most maxText bytes, without control characters.
type text string

// maxText is more than any name or note the feed has sent, and small enough for rows with several.
const maxText = 256

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == 'n' || b[0] == 'f' || b[0] == '{' || b[0] == '[':
		return nil // null, false or an empty include: no text
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(tidy(s))
	default:
		*t = text(tidy(string(b)))
	}
	return nil
}

// tidy makes a text safe for pages, logs and other texts: line ends become spaces, control and bidirectional
// characters are removed, and it is cut to maxText bytes.
func tidy(s string) string {
	if len(s) <= maxText && !strings.ContainsFunc(s, untidy) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case untidy(r):
			continue
		}
		if out.Len()+utf8.RuneLen(r) > maxText {
			break
		}
		out.WriteRune(r)
	}
	return out.String()
}

func untidy(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// number is an integer, which may be sent as "7", 7.0 or null.
type number int64

var errNumber = errors.New("not a whole number")

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	s := string(bytes.Trim(b, `"`))
	switch s {
	case "null", "", "false":
		return nil
	case "true":
		*n = 1
		return nil
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = number(v)
		return nil
	}
	// An integer in another form, such as 20.0. Beyond 2^53 a float would not be exact.
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return errNumber
	}
	*n = number(f)
	return nil
}

// yes is a boolean sent as true, 1 or "1".
type yes bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *yes) UnmarshalJSON(b []byte) error {
	switch string(bytes.Trim(b, `"`)) {
	case "true", "1":
		*f = true
	}
	return nil
}

// instant is an RFC 3339 time; any other text is the zero time, and kept to be reported.
type instant struct {
	time.Time
	unread string // a text that is not such a time
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *instant) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		t.Time = at.UTC()
	} else if text != "" && text != "null" {
		t.unread = text
	}
	return nil
}

// list is an include of rows.
type list[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *list[T]) UnmarshalJSON(b []byte) error {
	b = include(b)
	if len(b) == 0 || b[0] != '[' {
		return nil
	}
	return json.Unmarshal(b, (*[]T)(l))
}

// one is an include of a single record.
type one[T any] struct {
	is    bool
	value T
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *one[T]) UnmarshalJSON(b []byte) error {
	b = include(b)
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	o.is = true
	return json.Unmarshal(b, &o.value)
}

// include unwraps {"data": ...} from an include. No record of this feed has a field of that name.
func include(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' {
		return b
	}
	if inner, err := field(b, 0, `"data"`); err == nil && inner != nil {
		return bytes.TrimSpace(inner)
	}
	return b
}

type wireFixture struct {
	ID         number  `json:"id"`
	LeagueID   number  `json:"league_id"`
	SeasonID   number  `json:"season_id"`
	Round      text    `json:"round"`
	LocalID    number  `json:"localteam_id"`
	VisitorID  number  `json:"visitorteam_id"`
	StartingAt instant `json:"starting_at"`
	Type       text    `json:"type"`
	Status     text    `json:"status"`
	Note       text    `json:"note"`
	TossWonBy  number  `json:"toss_won_team_id"`
	Elected    text    `json:"elected"`
	WinnerID   number  `json:"winner_team_id"`
	NoResult   text    `json:"draw_noresult"`
	PlayerID   number  `json:"man_of_match_id"`
	Overs      text    `json:"total_overs_played"`
	SuperOver  yes     `json:"super_over"`
	FollowOn   yes     `json:"follow_on"`
	RevOvers   text    `json:"rpc_overs"`
	RevTarget  number  `json:"rpc_target"`

	LocalRain   one[wireRain] `json:"localteam_dl_data"`
	VisitorRain one[wireRain] `json:"visitorteam_dl_data"`

	League      one[wireNamed]       `json:"league"`
	Stage       one[wireNamed]       `json:"stage"`
	Venue       one[wireNamed]       `json:"venue"`
	LocalTeam   one[wireNamed]       `json:"localteam"`
	VisitorTeam one[wireNamed]       `json:"visitorteam"`
	Runs        list[wireRuns]       `json:"runs"`
	Scoreboards list[wireScoreboard] `json:"scoreboards"`
	Batting     list[wireBatting]    `json:"batting"`
	Bowling     list[wireBowling]    `json:"bowling"`
	Lineup      list[wirePlayer]     `json:"lineup"`
}

// wireRain is a score by the rain rule, an object of nulls if the rule was not used.
type wireRain struct {
	Score   *number `json:"score"`
	Overs   text    `json:"overs"`
	Wickets number  `json:"wickets_out"`
}

type wireNamed struct {
	ID   number `json:"id"`
	Name text   `json:"name"`
	Code text   `json:"code"`
}

type wirePlayer struct {
	ID        number `json:"id"`
	FirstName text   `json:"firstname"`
	LastName  text   `json:"lastname"`
	FullName  text   `json:"fullname"`
}

type wireRuns struct {
	ID        number  `json:"id"`
	TeamID    number  `json:"team_id"`
	Inning    number  `json:"inning"`
	Score     number  `json:"score"`
	Wickets   number  `json:"wickets"`
	Overs     text    `json:"overs"`
	Powerplay text    `json:"pp1"` // "1-6"
	UpdatedAt instant `json:"updated_at"`
}

type wireScoreboard struct {
	Scoreboard text   `json:"scoreboard"`
	Penalty    number `json:"penalty"`
}

// wireRow holds the fields common to batting and bowling rows.
type wireRow struct {
	ID         number  `json:"id"`
	Sort       number  `json:"sort"`
	TeamID     number  `json:"team_id"`
	Scoreboard text    `json:"scoreboard"`
	PlayerID   number  `json:"player_id"`
	UpdatedAt  instant `json:"updated_at"`
}

func (r *wireRow) compare(other *wireRow) int {
	return cmp.Or(cmp.Compare(inningsOf(r.Scoreboard), inningsOf(other.Scoreboard)), cmp.Compare(r.Sort, other.Sort), cmp.Compare(r.ID, other.ID))
}

type wireBatting struct {
	wireRow
	WicketID number         `json:"wicket_id"`
	Ball     number         `json:"ball"`
	ScoreID  number         `json:"score_id"`
	Score    number         `json:"score"`
	FourX    number         `json:"four_x"`
	SixX     number         `json:"six_x"`
	CatchID  number         `json:"catch_stump_player_id"`
	RunOutID number         `json:"runout_by_id"`
	BowlerID number         `json:"bowling_player_id"`
	FoWScore number         `json:"fow_score"`
	FoWBalls text           `json:"fow_balls"`
	Result   one[wireScore] `json:"result"`
}

type wireBowling struct {
	wireRow
	Overs   text   `json:"overs"`
	Maidens number `json:"medians"` // the feed's spelling
	Runs    number `json:"runs"`
	Wickets number `json:"wickets"`
	Wide    number `json:"wide"`
	NoBall  number `json:"noball"`
}

type wireBall struct {
	ID         number          `json:"id"`
	TeamID     number          `json:"team_id"`
	Label      text            `json:"ball"`
	Scoreboard text            `json:"scoreboard"`
	FirstID    number          `json:"batsman_one_on_creeze_id"`
	SecondID   number          `json:"batsman_two_on_creeze_id"`
	BatterID   number          `json:"batsman_id"`
	BowlerID   number          `json:"bowler_id"`
	OutID      number          `json:"batsmanout_id"`
	CatchID    number          `json:"catchstump_id"`
	RunOutID   number          `json:"runout_by_id"`
	ScoreID    number          `json:"score_id"`
	Batter     one[wirePlayer] `json:"batsman"`
	Bowler     one[wirePlayer] `json:"bowler"`
	Score      one[wireScore]  `json:"score"`
	UpdatedAt  instant         `json:"updated_at"`
}

// wireScore is a score object: what a ball or a dismissal was. Without the field ball it counts as a ball, as all but wides do.
type wireScore struct {
	ID         number `json:"id"`
	Name       text   `json:"name"`
	Runs       number `json:"runs"`
	Four       yes    `json:"four"`
	Six        yes    `json:"six"`
	Bye        number `json:"bye"`
	LegBye     number `json:"leg_bye"`
	NoBall     number `json:"noball"`
	NoBallRuns number `json:"noball_runs"`
	IsWicket   yes    `json:"is_wicket"`
	Ball       *yes   `json:"ball"`
	Out        yes    `json:"out"`
}

type wireMeta struct {
	CurrentPage number `json:"current_page"`
	LastPage    number `json:"last_page"`
}

type wireLinks struct {
	Next text `json:"next"`
}

// inningsOf returns the number in "S1", 0 if there is none.
func inningsOf(scoreboard text) int {
	n, err := strconv.Atoi(strings.TrimLeft(strings.TrimSpace(string(scoreboard)), "sS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// oversText adds the missing fraction to whole overs, "20" becomes "20.0". Anything else is returned unchanged.
func oversText(t text) string {
	s := strings.TrimSpace(string(t))
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return s
	}
	return s + ".0"
}
