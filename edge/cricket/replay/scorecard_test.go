package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

// The scorecards of two matches, built from the rows, to be compared with published ones.
func TestScorecards(t *testing.T) {
	for _, id := range []string{final, "656483"} {
		t.Run(id, func(t *testing.T) { golden(t, "scorecard-"+id+".txt", scorecard(t, id)) })
	}
}

type cardTeam struct {
	ID       int64
	Name     string
	Code     string
	National bool `json:"national_team"`
}

// cardReply is a reply with the parts of a scorecard. The rows have ids; names are in the line-up, the teams and the scores.
type cardReply struct {
	Elected                string
	Localteam, Visitorteam cardTeam
	Lineup                 []struct {
		ID       int64
		Fullname string
	}
	Batting []struct {
		Scoreboard string
		Sort, Ball int
		Score      int
		Four       int         `json:"four_x"`
		Six        int         `json:"six_x"`
		FowScore   int         `json:"fow_score"`
		FowBalls   json.Number `json:"fow_balls"`
		WicketID   int64       `json:"wicket_id"`
		Rate       json.Number
		Batsman    int64 `json:"player_id"`
		Bowler     int64 `json:"bowling_player_id"`
		Catch      int64 `json:"catch_stump_player_id"`
		RunOut     int64 `json:"runout_by_id"`
		Out        int64 `json:"batsmanout_id"`
	}
	Bowling []struct {
		Scoreboard                         string
		Sort, Medians, Runs, Wickets, Wide int
		Noball                             int
		Overs, Rate                        json.Number
		Bowler                             int64 `json:"player_id"`
		Team                               int64 `json:"team_id"`
	}
	Runs []struct {
		Inning, Score, Wickets int
		Overs                  json.Number
		PP1, PP2, PP3          *string
		Team                   int64 `json:"team_id"`
	}
	Scoreboards []map[string]any
}

func scorecard(t *testing.T, id string) string {
	d := newDesk(t, id)
	w := d.get(d.m.End(), "/fixtures/"+id+"?api_token=secret&include=localteam,visitorteam,lineup,batting,bowling,runs,scoreboards")
	var env struct{ Data cardReply }
	d.decode(w.Body.Bytes(), &env)
	f := &env.Data
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s national %t, elected %s\n", f.Localteam.Name, f.Localteam.Code, f.Localteam.National, f.Elected)
	for _, r := range f.Runs {
		board := scoreboard(r.Inning)
		fmt.Fprintf(&b, "\n%s %s %d/%d (%s)", board, f.code(r.Team), r.Score, r.Wickets, r.Overs)
		for _, pp := range []*string{r.PP1, r.PP2, r.PP3} {
			if pp != nil {
				fmt.Fprintf(&b, " powerplay %s", *pp)
			}
		}
		b.WriteByte('\n')
		f.rows(&b, board)
	}
	return b.String()
}

func (f *cardReply) code(team int64) string {
	for _, t := range []cardTeam{f.Localteam, f.Visitorteam} {
		if t.ID == team {
			return t.Code
		}
	}
	return "?"
}

func (f *cardReply) player(id int64) string {
	for _, p := range f.Lineup {
		if p.ID == id {
			return p.Fullname
		}
	}
	return "?"
}

func scoreName(id int64) string {
	if id == scoreNotOut {
		return "Not Out"
	}
	for name, is := range scoreIDs() {
		if is == id {
			return name
		}
	}
	return "?"
}

func (f *cardReply) rows(b *strings.Builder, board string) {
	name := func(word string, id int64) string {
		if id == 0 {
			return ""
		}
		return " " + word + " " + f.player(id)
	}
	for _, l := range f.Batting {
		if l.Scoreboard == board {
			fmt.Fprintf(b, "%2d %-16s %3d (%d) 4x%d 6x%d rate %s, %d %s%s%s%s%s, %d at %s\n", l.Sort, f.player(l.Batsman),
				l.Score, l.Ball, l.Four, l.Six, l.Rate, l.WicketID, scoreName(l.WicketID), name("caught", l.Catch),
				name("bowled", l.Bowler), name("run out by", l.RunOut), name("out", l.Out), l.FowScore, l.FowBalls)
		}
	}
	for _, l := range f.Bowling {
		if l.Scoreboard == board {
			fmt.Fprintf(b, "%2d %s %-16s %s-%d-%d-%d wides %d no-balls %d economy %s\n", l.Sort, f.code(l.Team), f.player(l.Bowler),
				l.Overs, l.Medians, l.Runs, l.Wickets, l.Wide, l.Noball, l.Rate)
		}
	}
	for _, e := range f.Scoreboards {
		if e["scoreboard"] == board {
			fmt.Fprintf(b, "%s: wide %v no-balls %v giving %v bye %v leg bye %v penalty %v total %v overs %v wickets %v\n", e["type"],
				e["wide"], e["noball_balls"], e["noball_runs"], e["bye"], e["leg_bye"], e["penalty"], e["total"], e["overs"], e["wickets"])
		}
	}
}

// A maiden is a whole over by one bowler. None of the recorded overs that two bowlers shared would have been one.
func TestSharedOverIsNoMaiden(t *testing.T) {
	for _, tt := range []struct {
		bowlers string
		runs    int // off the bat on the last ball
		byes    int
		want    int
	}{
		{"ABBBBB", 0, 0, 0}, {"BBBBBA", 0, 0, 0}, {"AAAAAA", 0, 0, 1}, {"AAAAAA", 0, 4, 1}, {"AAAAAA", 1, 0, 0}, {"AAAAA", 0, 0, 0},
	} {
		c := card{in: &recording.Innings{}}
		var over overCount
		for i, bowler := range tt.bowlers {
			d := recording.Delivery{Batter: 'a', NonStriker: 'b', Bowler: recording.Ref(bowler)}
			last := i == len(tt.bowlers)-1
			if last {
				d.Bat, d.Byes = tt.runs, tt.byes
			}
			c.add(&ball{d: &d, last: last}, &over, 6)
		}
		maidens := 0
		for _, l := range c.bowling {
			maidens += l.maidens
		}
		if maidens != tt.want {
			t.Errorf("%+v: %d maidens", tt, maidens)
		}
	}
}
