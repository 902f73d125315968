package cricsheet

import (
	"strconv"

	"github.com/touchline/touchline/edge/cricket/replay/tape"
)

// fromTape converts a recording back into the source's form.
func fromTape(m *tape.Match) *source {
	s := &source{Info: info{
		BallsPerOver: m.BallsPerOver, City: m.City, Dates: m.Dates,
		Event: event{
			Name: m.Event.Name, Number: m.Event.Number, Group: text(m.Event.Group), Stage: text(m.Event.Stage),
		},
		Gender: m.Gender, MatchType: m.Type, Overs: m.Overs, Season: text(m.Season), TeamType: m.Sides,
		Officials: officials{Referees: m.Referees, Reserves: m.Reserves, TV: m.TVUmpires, Umpires: m.Umpires},
		Outcome: outcome{
			Winner: m.Outcome.Winner, Result: m.Outcome.Result, Method: m.Outcome.Method,
			Eliminator: m.Outcome.Eliminator, BowlOut: m.Outcome.BowlOut,
		},
		Toss:    toss{Winner: m.Teams[m.Toss.Winner].Name, Decision: "field", Uncontested: m.Toss.Uncontested},
		Venue:   m.Venue,
		Players: map[string][]string{},
	}}
	in := &s.Info
	in.Outcome.By.Runs, in.Outcome.By.Wickets = m.Outcome.Runs, m.Outcome.Wickets
	in.Outcome.By.Innings = m.Outcome.Innings
	if m.Toss.Bat {
		in.Toss.Decision = "bat"
	}
	in.people(m)
	for _, r := range m.Best {
		in.Best = append(in.Best, m.Player(r).Name)
	}
	for _, b := range m.BowlOut {
		how := "miss"
		if b.Hit {
			how = "hit"
		}
		in.BowlOut = append(in.BowlOut, shot{Bowler: m.Player(b.Bowler).Name, Outcome: how})
	}
	for i := range m.Innings {
		s.Innings = append(s.Innings, fromInnings(m, &m.Innings[i]))
	}
	return s
}

func (in *info) people(m *tape.Match) {
	in.Registry.People = map[string]string{}
	for _, t := range m.Teams {
		in.Teams = append(in.Teams, t.Name)
		for _, p := range t.Players {
			in.Registry.People[p.Name] = p.Registry
			if p.Listed {
				in.Players[t.Name] = append(in.Players[t.Name], p.Name)
			}
			if p.SuperSub {
				if in.SuperSubs == nil {
					in.SuperSubs = map[string]string{}
				}
				in.SuperSubs[t.Name] = p.Name
			}
		}
	}
}

func fromInnings(m *tape.Match, in *tape.Innings) innings {
	n := innings{
		Team: m.Teams[in.Team].Name, SuperOver: in.SuperOver, Declared: in.Declared, Forfeited: in.Forfeited,
		Target: target{Runs: in.Target.Runs, Overs: text(in.Target.Overs)},
	}
	n.Penalty.Pre, n.Penalty.Post = in.Pre, in.Post
	for _, r := range in.Absent {
		n.Absent = append(n.Absent, m.Player(r).Name)
	}
	for _, c := range in.Miscounted {
		if n.Miscounted == nil {
			n.Miscounted = map[string]miscount{}
		}
		n.Miscounted[strconv.Itoa(c.Over)] = miscount{Balls: text(strconv.Itoa(c.Balls))}
	}
	for _, p := range in.Powerplays {
		n.Powerplays = append(n.Powerplays, powerplay{From: text(p.From), To: text(p.To), Type: p.Kind})
	}
	for _, o := range in.Overs {
		to := over{Over: o.No}
		for i := range o.Balls {
			to.Deliveries = append(to.Deliveries, fromDelivery(m, &o.Balls[i]))
		}
		n.Overs = append(n.Overs, to)
	}
	return n
}

func fromDelivery(m *tape.Match, b *tape.Delivery) delivery {
	d := delivery{
		Batter: m.Player(b.Batter).Name, NonStriker: m.Player(b.NonStriker).Name, Bowler: m.Player(b.Bowler).Name,
	}
	d.Runs.Batter, d.Runs.Total, d.Runs.Extras = b.Bat, b.Total(), b.Total()-b.Bat
	d.Runs.NonBoundary = b.Run
	d.Extras.Wides, d.Extras.NoBalls, d.Extras.Penalty = b.Wides, b.NoBalls, b.Penalty
	d.Extras.Byes, d.Extras.LegByes = b.Byes, b.LegByes
	for _, w := range b.Wickets {
		k := wicket{Kind: string(w.Kind), Out: m.Player(w.Out).Name}
		for _, f := range w.Fielders {
			g := fielder{Substitute: f.Substitute}
			if f.Who != 0 {
				g.Name = m.Player(f.Who).Name
			}
			k.Fielders = append(k.Fielders, g)
		}
		d.Wickets = append(d.Wickets, k)
	}
	for _, s := range b.Subs {
		d.Replacements.Match = append(d.Replacements.Match, replacement{
			In: m.Player(s.In).Name, Out: m.Player(s.Out).Name, Team: m.Teams[s.In.Team()].Name, Reason: s.Reason,
		})
	}
	return d
}
