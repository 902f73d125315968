package tape

import (
	"fmt"
	"strconv"
)

const firstLine = "touchline match 1"

// Format writes a match.
func Format(m *Match) []byte {
	dst := append([]byte(nil), firstLine+"\n"...)
	for _, f := range headerFields() {
		for _, v := range f.get(m) {
			dst = fmt.Appendf(dst, "%s %s\n", f.key, v)
		}
	}
	for i := range m.Teams {
		dst = appendTeam(dst, m, i)
	}
	dst = appendAfter(dst, m)
	for i := range m.Innings {
		dst = appendInnings(dst, m, &m.Innings[i])
	}
	return dst
}

func appendTeam(dst []byte, m *Match, team int) []byte {
	t := &m.Teams[team]
	dst = fmt.Appendf(dst, "\nteam %s\n", t.Name)
	if m.Toss.Winner == team {
		dst = append(dst, "toss "...)
		if m.Toss.Uncontested {
			dst = append(dst, "uncontested "...)
		}
		if m.Toss.Bat {
			dst = append(dst, "bat\n"...)
		} else {
			dst = append(dst, "field\n"...)
		}
	}
	for i, p := range t.Players {
		word := "player"
		switch {
		case p.SuperSub:
			word = "supersub"
		case !p.Listed:
			word = "fielder"
		}
		dst = fmt.Appendf(dst, "%s %c %s %s\n", word, RefOf(team, i), p.Registry, p.Name)
	}
	return dst
}

// appendAfter writes what was settled after the last ball: players of the match, the balls of a bowl-out.
func appendAfter(dst []byte, m *Match) []byte {
	if len(m.Best)+len(m.BowlOut) == 0 {
		return dst
	}
	dst = append(dst, "\nafter\n"...)
	for _, r := range m.Best {
		dst = fmt.Appendf(dst, "best %c\n", r)
	}
	for _, b := range m.BowlOut {
		dst = fmt.Appendf(dst, "bowls-out %c %s\n", b.Bowler, hitOrMiss(b.Hit))
	}
	return dst
}

func hitOrMiss(hit bool) string {
	if hit {
		return "hit"
	}
	return "miss"
}

func appendInnings(dst []byte, m *Match, in *Innings) []byte {
	dst = fmt.Appendf(dst, "\ninnings %s\n", m.Teams[in.Team].Name)
	for _, f := range inningsFlags(in) {
		if *f.set {
			dst = append(append(dst, f.word...), '\n')
		}
	}
	if in.Target != (Target{}) {
		dst = fmt.Appendf(dst, "target %d in %s\n", in.Target.Runs, in.Target.Overs)
	}
	if in.Pre > 0 {
		dst = fmt.Appendf(dst, "penalty-before %d\n", in.Pre)
	}
	if in.Post > 0 {
		dst = fmt.Appendf(dst, "penalty-after %d\n", in.Post)
	}
	for _, r := range in.Absent {
		dst = fmt.Appendf(dst, "absent %c\n", r)
	}
	for _, c := range in.Miscounted {
		dst = fmt.Appendf(dst, "miscounted %d %d\n", c.Over, c.Balls)
	}
	for _, p := range in.Powerplays {
		dst = fmt.Appendf(dst, "powerplay %s %s %s\n", p.From, p.To, p.Kind)
	}
	for i := range in.Overs {
		dst = appendOver(dst, &in.Overs[i])
	}
	return dst
}

type flag struct {
	word string
	set  *bool
}

func inningsFlags(in *Innings) [3]flag {
	return [3]flag{{"super-over", &in.SuperOver}, {"declared", &in.Declared}, {"forfeited", &in.Forfeited}}
}

// appendOver writes "12 g ab. ab4 @h ab1": number, bowler, balls; @ names another bowler from there on.
func appendOver(dst []byte, o *Over) []byte {
	dst = strconv.AppendInt(dst, int64(o.No), 10)
	var bowler Ref
	for i := range o.Balls {
		d := &o.Balls[i]
		if d.Bowler != bowler {
			dst = append(dst, " @"...)
			dst = append(dst, byte(d.Bowler))
			bowler = d.Bowler
		}
		for _, s := range d.Subs {
			dst = fmt.Appendf(dst, " +%c%c:%s", s.In, s.Out, s.Reason)
		}
		dst = append(dst, ' ')
		dst = appendDelivery(dst, d)
	}
	return append(dst, '\n')
}
