package cricsheet

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

// writer turns names into letters while it builds a recording.
type writer struct {
	m    *tape.Match
	refs [2]map[string]tape.Ref
	err  error // the first name that was not found
}

func toTape(id, why string, s *source) (*tape.Match, error) {
	in := &s.Info
	w := &writer{m: &tape.Match{
		ID: id, Why: why, Type: in.MatchType, Gender: in.Gender, Sides: in.TeamType,
		Event: tape.Event{
			Name: in.Event.Name, Number: in.Event.Number,
			Group: string(in.Event.Group), Stage: string(in.Event.Stage),
		},
		Season: string(in.Season), Dates: in.Dates, Venue: in.Venue, City: in.City,
		BallsPerOver: in.BallsPerOver, Overs: in.Overs,
		Toss: tape.Toss{
			Winner: slices.Index(in.Teams, in.Toss.Winner), Bat: in.Toss.Decision == "bat",
			Uncontested: in.Toss.Uncontested,
		},
		Umpires: in.Officials.Umpires, TVUmpires: in.Officials.TV,
		Reserves: in.Officials.Reserves, Referees: in.Officials.Referees,
		Outcome: tape.Outcome{
			Winner: in.Outcome.Winner, Runs: in.Outcome.By.Runs, Wickets: in.Outcome.By.Wickets,
			Innings: in.Outcome.By.Innings, Result: in.Outcome.Result, Method: in.Outcome.Method,
			Eliminator: in.Outcome.Eliminator, BowlOut: in.Outcome.BowlOut,
		},
	}}
	w.teams(s)
	for _, n := range in.Best {
		w.m.Best = append(w.m.Best, w.either(n))
	}
	for _, b := range in.BowlOut {
		w.m.BowlOut = append(w.m.BowlOut, tape.BowlOut{Bowler: w.either(b.Bowler), Hit: b.Outcome == "hit"})
	}
	for i := range s.Innings {
		if err := w.innings(&s.Innings[i]); err != nil {
			return nil, fmt.Errorf("innings %d: %w", i+1, err)
		}
	}
	return w.m, w.err
}

// teams gives everybody a letter: the sides as named, then who only fielded as a substitute.
func (w *writer) teams(s *source) {
	for i, name := range s.Info.Teams {
		w.refs[i] = map[string]tape.Ref{}
		w.m.Teams[i].Name = name
		for _, n := range s.Info.Players[name] {
			w.add(i, n, s, true)
		}
	}
	for i := range s.Innings {
		in := &s.Innings[i]
		team := slices.Index(s.Info.Teams, in.Team)
		if team < 0 {
			continue // innings tells of it
		}
		side := 1 - team
		for _, n := range in.fielders() {
			if w.refs[side][n] == 0 {
				w.add(side, n, s, false)
			}
		}
	}
}

func (w *writer) add(team int, name string, s *source, listed bool) {
	t := &w.m.Teams[team]
	w.refs[team][name] = tape.RefOf(team, len(t.Players))
	t.Players = append(t.Players, tape.Player{
		Name: name, Registry: s.Info.Registry.People[name], Listed: listed,
		SuperSub: s.Info.SuperSubs[t.Name] == name,
	})
}

func (w *writer) ref(team int, name string) tape.Ref {
	r := w.refs[team][name]
	if r == 0 && w.err == nil {
		w.err = fmt.Errorf("%q is not in the side", name)
	}
	return r
}

func (w *writer) either(name string) tape.Ref {
	if w.refs[0][name] != 0 {
		return w.refs[0][name]
	}
	return w.ref(1, name)
}

func (w *writer) innings(n *innings) error {
	team := w.m.TeamIndex(n.Team)
	if team < 0 {
		return fmt.Errorf("%q is neither team", n.Team)
	}
	in := tape.Innings{
		Team: team, SuperOver: n.SuperOver, Declared: n.Declared, Forfeited: n.Forfeited,
		Target: tape.Target{Runs: n.Target.Runs, Overs: string(n.Target.Overs)},
		Pre:    n.Penalty.Pre, Post: n.Penalty.Post,
	}
	for _, a := range n.Absent {
		in.Absent = append(in.Absent, w.ref(team, a))
	}
	for over, c := range n.Miscounted {
		o, err := strconv.Atoi(over)
		if err != nil {
			return err
		}
		b, err := strconv.Atoi(string(c.Balls))
		if err != nil {
			return err
		}
		in.Miscounted = append(in.Miscounted, tape.Miscount{Over: o, Balls: b})
	}
	slices.SortFunc(in.Miscounted, func(a, b tape.Miscount) int { return a.Over - b.Over })
	for _, p := range n.Powerplays {
		in.Powerplays = append(in.Powerplays, tape.Powerplay{From: string(p.From), To: string(p.To), Kind: p.Type})
	}
	for _, o := range n.Overs {
		to := tape.Over{No: o.Over}
		for i := range o.Deliveries {
			d, err := w.delivery(team, &o.Deliveries[i])
			if err != nil {
				return fmt.Errorf("over %d: %w", o.Over, err)
			}
			to.Balls = append(to.Balls, d)
		}
		in.Overs = append(in.Overs, to)
	}
	w.m.Innings = append(w.m.Innings, in)
	return nil
}

func (w *writer) delivery(team int, d *delivery) (tape.Delivery, error) {
	out := tape.Delivery{
		Batter: w.ref(team, d.Batter), NonStriker: w.ref(team, d.NonStriker), Bowler: w.ref(1-team, d.Bowler),
		Bat: d.Runs.Batter, Run: d.Runs.NonBoundary,
		Wides: d.Extras.Wides, NoBalls: d.Extras.NoBalls, Byes: d.Extras.Byes, LegByes: d.Extras.LegByes,
		Penalty: d.Extras.Penalty,
	}
	for _, k := range d.Wickets {
		t := tape.Wicket{Kind: tape.Kind(k.Kind), Out: w.ref(team, k.Out)}
		if !tape.KindKnown(t.Kind) {
			return out, fmt.Errorf("%q is an unknown kind of dismissal", k.Kind)
		}
		for _, f := range k.Fielders {
			tf := tape.Fielder{Substitute: f.Substitute}
			if f.Name != "" {
				tf.Who = w.ref(1-team, f.Name)
			}
			t.Fielders = append(t.Fielders, tf)
		}
		out.Wickets = append(out.Wickets, t)
	}
	for _, r := range d.Replacements.Match {
		side := w.m.TeamIndex(r.Team)
		if side < 0 {
			return out, fmt.Errorf("%q is neither team", r.Team)
		}
		out.Subs = append(out.Subs, tape.Sub{In: w.ref(side, r.In), Out: w.ref(side, r.Out), Reason: r.Reason})
	}
	return out, nil
}
