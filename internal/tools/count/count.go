package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// match is the part of a file that is needed for counting.
type match struct {
	Info struct {
		PerOver int    `json:"balls_per_over"`
		Type    string `json:"match_type"`
		Overs   int    `json:"overs"`
		Outcome struct {
			Winner     string `json:"winner"`
			Result     string `json:"result"`
			Eliminator string `json:"eliminator"`
			BowlOut    string `json:"bowl_out"`
		} `json:"outcome"`
	} `json:"info"`
	Innings []struct {
		Team      string   `json:"team"`
		SuperOver bool     `json:"super_over"`
		Forfeited bool     `json:"forfeited"`
		Declared  bool     `json:"declared"`
		Absent    []string `json:"absent_hurt"`
		Target    struct {
			Runs  int         `json:"runs"`
			Overs json.Number `json:"overs"`
		} `json:"target"`
		Penalty struct {
			Pre  int `json:"pre"`
			Post int `json:"post"`
		} `json:"penalty_runs"`
		Overs []struct {
			Deliveries []delivery `json:"deliveries"`
		} `json:"overs"`
	} `json:"innings"`
}

type delivery struct {
	Batter     string `json:"batter"`
	NonStriker string `json:"non_striker"`
	Bowler     string `json:"bowler"`
	Runs       struct {
		Batter      int  `json:"batter"`
		Total       int  `json:"total"`
		NonBoundary bool `json:"non_boundary"`
	} `json:"runs"`
	Extras  map[string]int `json:"extras"`
	Wickets []struct {
		Kind string `json:"kind"`
		Out  string `json:"player_out"`
	} `json:"wickets"`
}

// counter is the state of a match while its deliveries are processed.
type counter struct {
	m      *match
	out    expected
	inARow map[string]int // wickets on successive deliveries in the match, by bowler

	// for the current innings
	legal   int
	retired map[string]bool // retired hurt, and not back
	runs    map[string]int  // by batter
	sixes   map[string]int  // in a row, by batter
	haul    map[string]int  // wickets, by bowler
}

func (m *match) expect() expected {
	c := &counter{m: m, inARow: map[string]int{}, out: expected{Innings: []line{}, Events: map[string]int{}, Wickets: map[string]int{}, Ends: []string{}}}
	for i := range m.Innings {
		c.innings(i)
	}
	c.result()
	return c.out
}

func (c *counter) innings(i int) {
	in := &c.m.Innings[i]
	c.legal, c.retired = 0, map[string]bool{}
	c.runs, c.sixes, c.haul = map[string]int{}, map[string]int{}, map[string]int{}
	l := line{Team: in.Team, Runs: in.Penalty.Pre + in.Penalty.Post, SuperOver: in.SuperOver, Forfeited: in.Forfeited}
	for _, o := range in.Overs {
		for k := range o.Deliveries {
			d := &o.Deliveries[k]
			c.out.Deliveries++
			l.Runs += d.Runs.Total
			c.bat(d)
			l.Wickets += c.wickets(d, in.SuperOver)
			if d.legal() {
				c.legal++
			}
		}
		c.maiden(o.Deliveries)
	}
	per := c.m.Info.PerOver
	l.Overs = fmt.Sprintf("%d.%d", c.legal/per, c.legal%per)
	c.out.Innings = append(c.out.Innings, l)
	if i+1 < len(c.m.Innings) || c.over(i) {
		c.out.Events["innings_end"]++
		c.out.Ends = append(c.out.Ends, c.cause(i))
	}
	if in.SuperOver && c.m.superOvers(i)%2 == 0 {
		c.out.Events["super_over_start"]++
	}
}

// superOvers counts the super-over innings before the i-th innings.
func (m *match) superOvers(i int) int {
	n := 0
	for k := range i {
		if m.Innings[k].SuperOver {
			n++
		}
	}
	return n
}

func (d *delivery) legal() bool { return d.Extras["wides"] == 0 && d.Extras["noballs"] == 0 }

// wickets counts the dismissals on a delivery and the bowler's feats.
func (c *counter) wickets(d *delivery, superOver bool) int {
	n, his := 0, 0
	for _, w := range d.Wickets {
		switch w.Kind {
		case "retired hurt", "retired not out":
			c.retired[w.Out] = true
			continue
		case "bowled", "caught", "caught and bowled", "lbw", "stumped", "hit wicket":
			his++
		}
		n++
		c.out.Wickets[kindName(w.Kind)]++
	}
	c.add("wicket", n)
	for range his {
		c.haul[d.Bowler]++
		switch c.haul[d.Bowler] {
		case 5:
			c.add("five_for", 1)
		case 10:
			c.add("ten_for", 1)
		}
	}
	if superOver {
		return n
	}
	if his == 0 {
		c.inARow[d.Bowler] = 0
		return n
	}
	if c.inARow[d.Bowler]++; c.inARow[d.Bowler] == 3 {
		c.add("hat_trick", 1)
	}
	return n
}

func (c *counter) bat(d *delivery) {
	delete(c.retired, d.Batter)
	delete(c.retired, d.NonStriker)
	r := d.Runs.Batter
	switch {
	case r == 4 && !d.Runs.NonBoundary:
		c.add("four", 1)
	case r == 6 && !d.Runs.NonBoundary:
		c.add("six", 1)
	}
	before := c.runs[d.Batter]
	c.runs[d.Batter] += r
	for at, name := range milestones() {
		if before < at && c.runs[d.Batter] >= at {
			c.add(name, 1)
		}
	}
	if d.Extras["wides"] > 0 {
		return // not faced
	}
	if r != 6 || d.Runs.NonBoundary {
		c.sixes[d.Batter] = 0
		return
	}
	if c.sixes[d.Batter]++; c.sixes[d.Batter] == 3 {
		c.add("consecutive_sixes", 1)
	}
}

// milestones returns the scores of a batter that are counted.
func milestones() map[int]string {
	return map[int]string{
		50: "fifty", 100: "hundred", 150: "hundred_fifty", 200: "two_hundred", 250: "two_hundred_fifty", 300: "three_hundred",
	}
}

func (c *counter) maiden(over []delivery) {
	legal := 0
	for i := range over {
		d := &over[i]
		if d.Bowler != over[0].Bowler || d.Runs.Batter+d.Extras["wides"]+d.Extras["noballs"] > 0 {
			return
		}
		if d.legal() {
			legal++
		}
	}
	if legal == c.m.Info.PerOver {
		c.add("maiden", 1)
	}
}

// kindName returns a kind of dismissal as one word.
func kindName(kind string) string {
	return strings.ReplaceAll(strings.TrimSuffix(kind, " the field"), " ", "_")
}

// cause returns the reason why an innings ended.
func (c *counter) cause(i int) string {
	in, l := &c.m.Innings[i], c.out.Innings[i]
	target, quota := c.target(i), c.quota(i)
	if i == 0 && len(c.m.Innings) > 1 && !c.m.multiDay() && c.short() {
		quota = c.legal // both sides had the same number of overs, fewer than agreed
	}
	switch {
	case in.Forfeited:
		return "forfeited"
	case l.Wickets >= c.allOut(i):
		return "all_out"
	case target > 0 && l.Runs >= target:
		return "target"
	case quota > 0 && c.legal >= quota:
		return "overs"
	case in.Declared:
		return "declared"
	case !in.SuperOver && l.Wickets+len(in.Absent)+len(c.retired) >= 10:
		return "all_out"
	case c.m.multiDay():
		return "declared" // missing in the record: nothing else ends an innings there
	default:
		return "closed"
	}
}

// short reports whether the first innings was exactly as long as the second was allowed to be.
func (c *counter) short() bool {
	allowed := c.m.Innings[1].Target.Overs
	return allowed != "" && c.m.balls(allowed) == c.legal
}

// balls converts a number of overs such as "49.3" to balls.
func (m *match) balls(overs json.Number) int {
	whole, part, _ := strings.Cut(overs.String(), ".")
	n, _ := strconv.Atoi(whole)
	balls, _ := strconv.Atoi(part)
	return n*m.Info.PerOver + balls
}

func (c *counter) allOut(i int) int {
	if c.m.Innings[i].SuperOver {
		return 2
	}
	return 10
}

// over reports whether the last innings came to its own end.
func (c *counter) over(i int) bool {
	in, l := &c.m.Innings[i], c.out.Innings[i]
	target, quota := c.target(i), c.quota(i)
	return l.Wickets >= c.allOut(i) || !in.SuperOver && l.Wickets+len(in.Absent)+len(c.retired) >= c.allOut(i) ||
		target > 0 && l.Runs >= target || quota > 0 && c.legal >= quota
}

// target returns the score that an innings must reach to win, 0 unless it is the last of its kind.
func (c *counter) target(i int) int {
	in := &c.m.Innings[i]
	switch {
	case in.SuperOver && c.m.superOvers(i)%2 == 1:
		return c.out.Innings[i-1].Runs + 1
	case in.SuperOver:
		return 0
	case in.Target.Runs > 0:
		return in.Target.Runs
	case !c.m.multiDay() && i == 1:
		return c.out.Innings[0].Runs + 1
	case c.m.multiDay() && i == 3:
		lead := 0
		for _, l := range c.out.Innings[:3] {
			if l.Team == in.Team {
				lead -= l.Runs
			} else {
				lead += l.Runs
			}
		}
		return lead + 1
	default:
		return 0
	}
}

// quota returns the number of legal balls that an innings may last, 0 for no limit.
func (c *counter) quota(i int) int {
	in, per := &c.m.Innings[i], c.m.Info.PerOver
	switch {
	case in.SuperOver:
		return per
	case c.m.multiDay():
		return 0
	case in.Target.Overs != "":
		return c.m.balls(in.Target.Overs)
	case c.m.Info.Type == "T20" || c.m.Info.Type == "IT20":
		return 20 * per
	default:
		return c.m.Info.Overs * per
	}
}

func (m *match) multiDay() bool { return m.Info.Type == "Test" || m.Info.Type == "MDM" }

func (c *counter) result() {
	o := &c.m.Info.Outcome
	for _, name := range []string{o.Winner, o.Eliminator, o.BowlOut} {
		if name != "" {
			c.out.Result, c.out.Winner = "win", name
			c.add("result", 1)
			return
		}
	}
	c.out.Result = o.Result
	c.add(strings.ReplaceAll(o.Result, " ", "_"), 1)
}

func (c *counter) add(kind string, n int) {
	if n > 0 {
		c.out.Events[kind] += n
	}
}
