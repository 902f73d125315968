package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// source is the part of a Cricsheet file that a replay uses. A key that is neither here nor ignored on purpose
// is an error: a new kind of fact must not be lost silently.
type source struct {
	Meta    ignored   `json:"meta"`
	Info    info      `json:"info"`
	Innings []innings `json:"innings"`
}

// ignored skips a value that a replay does not use.
type ignored struct{}

// UnmarshalJSON ignores the value.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// text is a JSON string or number, kept as text: seasons and groups come as either.
type text string

// UnmarshalJSON accepts a string or a number.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	var n json.Number
	err := json.Unmarshal(b, &n)
	*t = text(n)
	return err
}

type info struct {
	BallsPerOver int     `json:"balls_per_over"`
	BowlOut      ignored `json:"bowl_out"`
	City         string
	Dates        []string
	Event        struct {
		Name    string
		Number  int `json:"match_number"`
		Group   text
		Stage   text
		SubName ignored `json:"sub_name"`
	}
	Gender     string
	MatchType  string  `json:"match_type"`
	TypeNumber ignored `json:"match_type_number"`
	Missing    ignored
	Officials  struct {
		Referees []string `json:"match_referees"`
		Reserves ignored  `json:"reserve_umpires"`
		TV       []string `json:"tv_umpires"`
		Umpires  []string
	}
	Outcome struct {
		Winner, Result, Method, Eliminator string
		BowlOut                            string `json:"bowl_out"`
		By                                 struct{ Runs, Wickets, Innings int }
	}
	Overs     int
	Best      []string `json:"player_of_match"`
	Players   map[string][]string
	Registry  struct{ People map[string]string }
	Season    text
	SuperSubs map[string]string
	TeamType  string `json:"team_type"`
	Teams     []string
	Toss      struct {
		Winner, Decision string
		Uncontested      ignored
	}
	Venue string
}

type innings struct {
	Team   string
	Overs  []over
	Target struct {
		Runs  int
		Overs text
	}
	SuperOver  bool `json:"super_over"`
	Declared   ignored
	Forfeited  bool
	Penalty    struct{ Pre, Post int } `json:"penalty_runs"`
	Absent     ignored                 `json:"absent_hurt"`
	Miscounted ignored                 `json:"miscounted_overs"`
	Powerplays []struct {
		From, To text
		Type     ignored
	}
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
	Wickets []struct {
		Kind     Kind
		Out      string `json:"player_out"`
		Fielders []struct {
			Name       string
			Substitute bool
		}
	}
	Review       ignored
	Replacements struct {
		Match []struct {
			In, Out, Team string
			Reason        ignored
		}
		Role ignored
	}
}

// decode reads a file and checks each part by itself.
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
	if err := s.Info.check(); err != nil {
		return nil, err
	}
	for i := range s.Innings {
		if err := s.Innings[i].check(); err != nil {
			return nil, fmt.Errorf("innings %d%w", i+1, err)
		}
	}
	return &s, nil
}

func (in *info) check() error {
	if len(in.Teams) != 2 || in.Teams[0] == in.Teams[1] {
		return errors.New("a match has two teams")
	}
	for _, f := range []struct{ name, value string }{
		{"a season", string(in.Season)}, {"a venue", in.Venue},
	} {
		if f.value == "" {
			return fmt.Errorf("a match needs %s", f.name)
		}
	}
	for _, f := range []struct {
		name, value string
		words       []string
	}{
		{"match_type", in.MatchType, []string{"T20", "IT20", "ODI", "ODM", "Test", "MDM"}},
		{"gender", in.Gender, []string{"male", "female"}},
		{"team_type", in.TeamType, []string{"international", "club"}},
		{"the toss decision", in.Toss.Decision, []string{"bat", "field"}},
		{"the toss winner", in.Toss.Winner, in.Teams},
	} {
		if !slices.Contains(f.words, f.value) {
			return fmt.Errorf("%s %q is not one of %s", f.name, f.value, strings.Join(f.words, ", "))
		}
	}
	return errors.Join(in.checkNumbers(), in.checkOutcome())
}

func (in *info) checkNumbers() error {
	for _, d := range in.Dates {
		if _, err := time.Parse(time.DateOnly, d); err != nil {
			return fmt.Errorf("%q is not a date", d)
		}
	}
	multiDay := in.MatchType == "Test" || in.MatchType == "MDM"
	switch {
	case len(in.Dates) == 0 || !slices.IsSorted(in.Dates):
		return errors.New("a match needs its dates, in order")
	case in.BallsPerOver < 1 || in.BallsPerOver > 9:
		return errors.New("a match needs balls_per_over, from 1 to 9")
	case multiDay != (in.Overs == 0) || in.Overs < 0:
		return errors.New("a limited-overs match needs overs, and no other match may have them")
	}
	return nil
}

func (in *info) checkOutcome() error {
	named := slices.DeleteFunc([]string{in.Outcome.Winner, in.Outcome.Eliminator, in.Outcome.BowlOut}, func(s string) bool { return s == "" })
	switch {
	case len(named) > 1 || len(named) == 0 && !slices.Contains([]string{"tie", "draw", "no result"}, in.Outcome.Result):
		return errors.New("a match needs one outcome: a winner or a result")
	case len(named) == 1 && !slices.Contains(in.Teams, named[0]):
		return fmt.Errorf("%q is neither team", named[0])
	}
	return nil
}

// oversText matches a number of overs, "50" or "7.3", and a place in an innings.
var oversText = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[1-9])?$`)

// maxRuns bounds the runs of one kind from a ball, to detect typing errors.
const maxRuns = 20

// check returns an error if an innings is invalid; its text follows the innings' place.
func (n *innings) check() error {
	n.Target.Overs = trim(n.Target.Overs)
	if t := n.Target; t.Runs < 0 || (t.Runs > 0 || t.Overs != "") && !oversText.MatchString(string(t.Overs)) || n.Penalty.Pre < 0 || n.Penalty.Post < 0 {
		return errors.New(": target or penalty runs are out of range")
	}
	for i := range n.Powerplays {
		p := &n.Powerplays[i]
		if p.From, p.To = trim(p.From), trim(p.To); !oversText.MatchString(string(p.From)) || !oversText.MatchString(string(p.To)) {
			return errors.New(": a powerplay needs from and to")
		}
	}
	for k, o := range n.Overs {
		if o.Over != k || len(o.Deliveries) == 0 {
			return fmt.Errorf(": over %d with %d deliveries where over %d should be", o.Over, len(o.Deliveries), k)
		}
		for i := range o.Deliveries {
			if err := o.Deliveries[i].check(); err != nil {
				return fmt.Errorf(", over %d, delivery %d: %w", o.Over, i+1, err)
			}
		}
	}
	return nil
}

func (d *delivery) check() error {
	e := d.Extras
	for _, runs := range [...]int{d.Runs.Batter, e.Wides, e.NoBalls, e.Byes, e.LegByes, e.Penalty} {
		if runs < 0 || runs > maxRuns {
			return fmt.Errorf("%d is not a number of runs", runs)
		}
	}
	if d.Runs.Extras != e.Wides+e.NoBalls+e.Byes+e.LegByes+e.Penalty {
		return errors.New("the kinds of extras do not add up")
	}
	if d.Runs.Total != d.Runs.Batter+d.Runs.Extras {
		return errors.New("runs off the bat and extras do not add up to the total")
	}
	return nil
}

// trim drops the fraction of whole overs.
func trim(t text) text { return text(strings.TrimSuffix(string(t), ".0")) }
