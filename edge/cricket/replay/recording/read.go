package recording

import (
	"fmt"
	"regexp"
	"slices"
)

// Read returns the recording of a match file. id is the match's number; why is what makes it worth watching, or "".
func Read(id, why string, src []byte) (*Match, error) {
	s, err := decode(src)
	if err != nil {
		return nil, err
	}
	in := &s.Info
	r := &reader{source: s, m: &Match{
		ID: id, Why: why, Type: in.MatchType, Gender: in.Gender, Sides: in.TeamType,
		Event:  Event{Name: in.Event.Name, Number: in.Event.Number, Group: string(in.Event.Group), Stage: string(in.Event.Stage)},
		Season: string(in.Season), Dates: in.Dates, Venue: in.Venue, City: in.City, BallsPerOver: in.BallsPerOver, Overs: in.Overs,
		Toss:    Toss{Winner: slices.Index(in.Teams, in.Toss.Winner), Bat: in.Toss.Decision == "bat"},
		Umpires: in.Officials.Umpires, TVUmpires: in.Officials.TV, Referees: in.Officials.Referees,
		Outcome: Outcome{
			Winner: in.Outcome.Winner, Runs: in.Outcome.By.Runs, Wickets: in.Outcome.By.Wickets, Innings: in.Outcome.By.Innings,
			Result: in.Outcome.Result, Method: in.Outcome.Method, Eliminator: in.Outcome.Eliminator, BowlOut: in.Outcome.BowlOut,
		},
	}}
	r.teams()
	for _, n := range in.Best {
		r.m.Best = append(r.m.Best, r.either(n))
	}
	for i := range s.Innings {
		if err := r.innings(&s.Innings[i]); err != nil {
			return nil, fmt.Errorf("innings %d: %w", i+1, err)
		}
	}
	return r.m, r.err
}

// reader maps names to refs.
type reader struct {
	*source
	m    *Match
	refs [2]map[string]Ref
	err  error // the error for the first invalid name
}

// teams assigns refs: to the named sides first, then to those who only fielded as substitutes.
func (r *reader) teams() {
	for i, name := range r.Info.Teams {
		r.refs[i] = map[string]Ref{}
		r.m.Teams[i].Name = name
		for _, n := range r.Info.Players[name] {
			r.add(i, n, true)
		}
	}
	for i := range r.Innings {
		batting := r.m.TeamIndex(r.Innings[i].Team)
		if batting < 0 {
			continue // innings reports it
		}
		for _, n := range r.Innings[i].fielders() {
			if r.refs[1-batting][n] == 0 {
				r.add(1-batting, n, false)
			}
		}
	}
}

// fielders returns everybody named in a dismissal.
func (n *innings) fielders() (names []string) {
	for _, o := range n.Overs {
		for i := range o.Deliveries {
			for _, w := range o.Deliveries[i].Wickets {
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

var registry = regexp.MustCompile(`^[0-9a-f]{8}$`)

func (r *reader) add(team int, name string, listed bool) {
	t, number := &r.m.Teams[team], r.Info.Registry.People[name]
	switch {
	case !registry.MatchString(number):
		r.wrong("%q has no number in the registry", name)
	case len(t.Players) == maxPlayers:
		r.wrong("%s has more than %d players", t.Name, maxPlayers)
	default:
		r.refs[team][name] = RefOf(team, len(t.Players))
		t.Players = append(t.Players, Player{
			Name: name, Registry: number, Listed: listed, SuperSub: r.Info.SuperSubs[t.Name] == name,
		})
	}
}

func (r *reader) wrong(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) ref(team int, name string) Ref {
	ref := r.refs[team][name]
	if ref == 0 {
		r.wrong("%q is not in the side", name)
	}
	return ref
}

func (r *reader) either(name string) Ref {
	if ref := r.refs[0][name]; ref != 0 {
		return ref
	}
	return r.ref(1, name)
}

func (r *reader) innings(n *innings) error {
	team := r.m.TeamIndex(n.Team)
	if team < 0 {
		return fmt.Errorf("%q is neither team", n.Team)
	}
	in := Innings{
		Team: team, SuperOver: n.SuperOver, Forfeited: n.Forfeited, Pre: n.Penalty.Pre, Post: n.Penalty.Post,
		Target: Target{Runs: n.Target.Runs, Overs: string(n.Target.Overs)},
	}
	for _, p := range n.Powerplays {
		in.Powerplays = append(in.Powerplays, Powerplay{From: string(p.From), To: string(p.To)})
	}
	for _, o := range n.Overs {
		to := Over{No: o.Over, Balls: make([]Delivery, 0, len(o.Deliveries))}
		for i := range o.Deliveries {
			d, err := r.delivery(team, &o.Deliveries[i])
			if err != nil {
				return fmt.Errorf("over %d: %w", o.Over, err)
			}
			to.Balls = append(to.Balls, d)
		}
		in.Overs = append(in.Overs, to)
	}
	r.m.Innings = append(r.m.Innings, in)
	return nil
}

func (r *reader) delivery(team int, d *delivery) (Delivery, error) {
	out := Delivery{
		Batter: r.ref(team, d.Batter), NonStriker: r.ref(team, d.NonStriker), Bowler: r.ref(1-team, d.Bowler),
		Bat: d.Runs.Batter, Run: d.Runs.NonBoundary, Wides: d.Extras.Wides, NoBalls: d.Extras.NoBalls,
		Byes: d.Extras.Byes, LegByes: d.Extras.LegByes, Penalty: d.Extras.Penalty,
	}
	for _, k := range d.Wickets {
		if !k.Kind.isKnown() {
			return out, fmt.Errorf("%q is an unknown kind of dismissal", k.Kind)
		}
		w := Wicket{Kind: k.Kind, Out: r.ref(team, k.Out)}
		for _, f := range k.Fielders {
			by := Fielder{Substitute: f.Substitute}
			if f.Name != "" {
				by.Who = r.ref(1-team, f.Name)
			}
			w.Fielders = append(w.Fielders, by)
		}
		out.Wickets = append(out.Wickets, w)
	}
	for _, s := range d.Replacements.Match {
		side := r.m.TeamIndex(s.Team)
		if side < 0 {
			return out, fmt.Errorf("%q is neither team", s.Team)
		}
		r.ref(side, s.Out)
		if p := r.m.Player(r.ref(side, s.In)); p != nil {
			p.Substitute = true
		}
	}
	return out, nil
}
