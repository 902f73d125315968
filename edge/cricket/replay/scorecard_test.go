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

type cardReply struct {
	Elected   string
	Localteam struct {
		Name     string
		Code     string
		National bool `json:"national_team"`
	}
	Batting []struct {
		Scoreboard                            string
		Sort, Ball, Score                     int
		Four                                  int         `json:"four_x"`
		Six                                   int         `json:"six_x"`
		FowScore                              int         `json:"fow_score"`
		FowBalls                              json.Number `json:"fow_balls"`
		WicketID                              int         `json:"wicket_id"`
		Rate                                  json.Number
		Batsman, Bowler, Catchstump, Runoutby *struct{ Fullname string }
		Batsmanout                            *struct{ Fullname string }
		Result                                struct{ Name string }
	}
	Bowling []struct {
		Scoreboard                         string
		Sort, Medians, Runs, Wickets, Wide int
		Noball                             int
		Overs, Rate                        json.Number
		Bowler                             struct{ Fullname string }
		Team                               struct{ Code string }
	}
	Runs []struct {
		Inning, Score, Wickets int
		Overs                  json.Number
		PP1, PP2, PP3          *string
		Team                   struct{ Code string }
	}
	Scoreboards []map[string]any
}

func scorecard(t *testing.T, id string) string {
	d := newDesk(t, id)
	w := d.get(d.m.End(), "/fixtures/"+id+"?api_token=secret&include=localteam,batting.batsman,batting.bowler,batting.catchstump,"+
		"batting.runoutby,batting.batsmanout,batting.result,bowling.bowler,bowling.team,runs.team,scoreboards")
	var env struct{ Data cardReply }
	d.decode(w.Body.Bytes(), &env)
	f := &env.Data
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s national %t, elected %s\n", f.Localteam.Name, f.Localteam.Code, f.Localteam.National, f.Elected)
	for _, r := range f.Runs {
		board := scoreboard(r.Inning)
		fmt.Fprintf(&b, "\n%s %s %d/%d (%s)", board, r.Team.Code, r.Score, r.Wickets, r.Overs)
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

func (f *cardReply) rows(b *strings.Builder, board string) {
	name := func(word string, p *struct{ Fullname string }) string {
		if p == nil {
			return ""
		}
		return " " + word + " " + p.Fullname
	}
	for _, l := range f.Batting {
		if l.Scoreboard == board {
			fmt.Fprintf(b, "%2d %-16s %3d (%d) 4x%d 6x%d rate %s, %d %s%s%s%s%s, %d at %s\n", l.Sort, l.Batsman.Fullname,
				l.Score, l.Ball, l.Four, l.Six, l.Rate, l.WicketID, l.Result.Name, name("caught", l.Catchstump),
				name("bowled", l.Bowler), name("run out by", l.Runoutby), name("out", l.Batsmanout), l.FowScore, l.FowBalls)
		}
	}
	for _, l := range f.Bowling {
		if l.Scoreboard == board {
			fmt.Fprintf(b, "%2d %s %-16s %s-%d-%d-%d wides %d no-balls %d economy %s\n", l.Sort, l.Team.Code, l.Bowler.Fullname,
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
