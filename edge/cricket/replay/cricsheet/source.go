package cricsheet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// source is a Cricsheet file (JSON 1.0 and 1.1) as far as the recording keeps it. A key that is neither here nor
// among those left out on purpose is an error: a new kind of fact must not vanish unseen.
type source struct {
	Meta    ignored   `json:"meta"`
	Info    info      `json:"info"`
	Innings []innings `json:"innings"`
}

// ignored takes what a recording leaves out on purpose.
type ignored struct{}

// UnmarshalJSON forgets.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// text is a JSON string or number, kept as text: seasons and groups come as either.
type text string

// UnmarshalJSON takes a string or a number.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*t = text(n)
	return nil
}

type info struct {
	BallsPerOver int    `json:"balls_per_over"`
	BowlOut      []shot `json:"bowl_out"`
	City         string `json:"city"`
	Dates        []string
	Event        event
	Gender       string
	MatchType    string    `json:"match_type"`
	TypeNumber   ignored   `json:"match_type_number"`
	Missing      ignored   `json:"missing"`
	Officials    officials `json:"officials"`
	Outcome      outcome
	Overs        int
	Best         []string `json:"player_of_match"`
	Players      map[string][]string
	Registry     struct{ People map[string]string }
	Season       text
	SuperSubs    map[string]string `json:"supersubs"`
	TeamType     string            `json:"team_type"`
	Teams        []string
	Toss         toss
	Venue        string
}

type shot struct {
	Bowler  string
	Outcome string
}

type event struct {
	Name    string
	Number  int `json:"match_number"`
	Group   text
	Stage   text
	SubName ignored `json:"sub_name"`
}

type officials struct {
	Referees []string `json:"match_referees"`
	Reserves []string `json:"reserve_umpires"`
	TV       []string `json:"tv_umpires"`
	Umpires  []string `json:"umpires"`
}

type outcome struct {
	Winner, Result, Method, Eliminator string
	BowlOut                            string `json:"bowl_out"`
	By                                 struct{ Runs, Wickets, Innings int }
}

type toss struct {
	Winner, Decision string
	Uncontested      bool
}

type innings struct {
	Team       string
	Overs      []over
	Target     target
	SuperOver  bool `json:"super_over"`
	Declared   bool
	Forfeited  bool
	Penalty    struct{ Pre, Post int } `json:"penalty_runs"`
	Absent     []string                `json:"absent_hurt"`
	Miscounted map[string]miscount     `json:"miscounted_overs"`
	Powerplays []powerplay
}

type target struct {
	Runs  int
	Overs text
}

type miscount struct {
	Balls  text
	Umpire ignored
}

type powerplay struct {
	From, To text
	Type     string
}

type over struct {
	Over       int
	Deliveries []delivery
}

type delivery struct {
	Batter, Bowler string
	NonStriker     string `json:"non_striker"`
	Runs           struct {
		Batter, Extras, Total int
		NonBoundary           bool `json:"non_boundary"`
	}
	Extras struct {
		Wides, NoBalls, Byes, LegByes, Penalty int
	}
	Wickets      []wicket
	Review       ignored
	Replacements struct {
		Match []replacement
		Role  ignored
	}
}

type wicket struct {
	Kind     string
	Out      string `json:"player_out"`
	Fielders []fielder
}

type fielder struct {
	Name       string
	Substitute bool
}

type replacement struct {
	In, Out, Team, Reason string
}

// decode reads a file and checks that its sums hold.
func decode(src []byte) (*source, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	var s source
	if err := dec.Decode(&s); err != nil {
		return nil, err
	}
	if len(s.Innings) == 0 {
		return nil, errors.New("it has no innings, so it is not a Cricsheet match")
	}
	if len(s.Info.Teams) != 2 {
		return nil, errors.New("a match has two teams")
	}
	for i := range s.Innings {
		for _, o := range s.Innings[i].Overs {
			for n := range o.Deliveries {
				if err := o.Deliveries[n].check(); err != nil {
					return nil, fmt.Errorf("innings %d, over %d, delivery %d: %w", i+1, o.Over, n+1, err)
				}
			}
		}
	}
	s.normalise()
	return &s, nil
}

func (d *delivery) check() error {
	e := d.Extras
	if d.Runs.Extras != e.Wides+e.NoBalls+e.Byes+e.LegByes+e.Penalty {
		return errors.New("the kinds of extras do not add up")
	}
	if d.Runs.Total != d.Runs.Batter+d.Runs.Extras {
		return errors.New("runs off the bat and extras do not add up to the total")
	}
	return nil
}

// normalise makes absent and empty the same, so that sources can be compared. The registry keeps only who takes part.
func (s *source) normalise() {
	in := &s.Info
	if len(in.SuperSubs) == 0 {
		in.SuperSubs = nil
	}
	part := map[string]string{}
	for _, names := range in.Players {
		for _, n := range names {
			part[n] = in.Registry.People[n]
		}
	}
	for i := range s.Innings {
		n := &s.Innings[i]
		if len(n.Miscounted) == 0 {
			n.Miscounted = nil
		}
		for k, p := range n.Powerplays {
			n.Powerplays[k].From, n.Powerplays[k].To = trim(p.From), trim(p.To)
		}
		n.Target.Overs = trim(n.Target.Overs)
		for _, f := range n.fielders() {
			part[f] = in.Registry.People[f]
		}
	}
	in.Registry.People = part
}

// fielders are all who are named in a dismissal.
func (n *innings) fielders() []string {
	var names []string
	for _, o := range n.Overs {
		for _, d := range o.Deliveries {
			for _, w := range d.Wickets {
				for _, f := range w.Fielders {
					if f.Name != "" {
						names = append(names, f.Name)
					}
				}
			}
		}
	}
	return names
}

// trim writes whole overs without a fraction.
func trim(t text) text { return text(strings.TrimSuffix(string(t), ".0")) }
