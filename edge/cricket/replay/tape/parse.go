package tape

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a match. name is the file's, for errors, which read "file:line: what is wrong".
func Parse(name string, src []byte) (*Match, error) {
	p := &parser{m: &Match{Toss: Toss{Winner: -1}}, fields: map[string]field{}, seen: map[string]bool{}, teams: -1}
	for _, f := range headerFields() {
		p.fields[f.key] = f
	}
	line := 0
	for len(src) > 0 {
		line++
		text, rest, ok := bytes.Cut(src, []byte("\n"))
		src = rest
		if !ok {
			return nil, fmt.Errorf("%s:%d: the last line is not terminated", name, line)
		}
		if err := p.line(line, string(text)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return p.m, nil
}

// section is the part of the file a line belongs to; a blank line ends one.
type section uint8

const (
	inHeader section = iota
	between
	inTeam
	inAfter
	inInnings
)

type parser struct {
	m      *Match
	fields map[string]field
	seen   map[string]bool // header keywords
	at     section
	last   section // before the blank line
	teams  int     // index of the team being read, -1 before the first
}

func (p *parser) line(n int, s string) error {
	if n == 1 {
		if s != firstLine {
			return fmt.Errorf("the first line is not %q", firstLine)
		}
		return nil
	}
	if s == "" {
		if p.at == between {
			return errors.New("one blank line is enough")
		}
		p.last, p.at = p.at, between
		return nil
	}
	key, value, _ := strings.Cut(s, " ")
	if key == "" {
		return errors.New("a line begins with a space")
	}
	switch p.at {
	case inHeader:
		return p.header(key, value)
	case inTeam:
		return p.team(key, value)
	case inAfter:
		return p.after(key, value)
	case inInnings:
		return p.innings(key, value)
	default:
		return p.open(key, value)
	}
}

// open begins a section: two teams, then what came after the match, then the innings.
func (p *parser) open(key, value string) error {
	switch {
	case key == "team" && p.teams < 1 && p.last <= inTeam && value != "":
		if p.m.TeamIndex(value) >= 0 {
			return fmt.Errorf("%q is named twice", value)
		}
		p.teams++
		p.m.Teams[p.teams].Name = value
		p.at = inTeam
	case key == "after" && p.teams == 1 && p.last == inTeam && value == "":
		p.at = inAfter
	case key == "innings" && p.teams == 1:
		team := p.m.TeamIndex(value)
		if team < 0 {
			return fmt.Errorf("%q is neither team", value)
		}
		p.m.Innings = append(p.m.Innings, Innings{Team: team})
		p.at = inInnings
	default:
		return fmt.Errorf("no section can begin with %q here", key)
	}
	return nil
}

func (p *parser) header(key, value string) error {
	f, ok := p.fields[key]
	if !ok {
		return fmt.Errorf("%q is not a header keyword", key)
	}
	if p.seen[key] && !f.many {
		return fmt.Errorf("%q is given twice", key)
	}
	if value == "" {
		return errValue
	}
	p.seen[key] = true
	return f.set(p.m, value)
}

func (p *parser) team(key, value string) error {
	t := &p.m.Teams[p.teams]
	if key == "toss" {
		if p.m.Toss.Winner >= 0 || len(t.Players) > 0 {
			return errors.New(`"toss" must come before the players, and once`)
		}
		p.m.Toss.Winner = p.teams
		value, p.m.Toss.Uncontested = strings.CutPrefix(value, "uncontested ")
		p.m.Toss.Bat = value == "bat"
		return oneOf("bat", "field")(value)
	}
	pl := Player{Listed: key != "fielder", SuperSub: key == "supersub"}
	if err := oneOf("player", "supersub", "fielder")(key); err != nil {
		return err
	}
	parts := strings.SplitN(value, " ", 3)
	if len(parts) != 3 || parts[2] == "" || !registry.MatchString(parts[1]) {
		return errors.New("a player is a letter, eight hexadecimal digits and a name")
	}
	if len(t.Players) == 26 || parts[0] != string(rune(RefOf(p.teams, len(t.Players)))) {
		return fmt.Errorf("%q is not the next letter", parts[0])
	}
	pl.Registry, pl.Name = parts[1], parts[2]
	t.Players = append(t.Players, pl)
	return nil
}

var registry = regexp.MustCompile(`^[0-9a-f]{8}$`)

func (p *parser) after(key, value string) error {
	who, how, _ := strings.Cut(value, " ")
	r, err := p.ref(who)
	if err != nil {
		return err
	}
	switch {
	case key == "best" && how == "" && len(p.m.BowlOut) == 0:
		p.m.Best = append(p.m.Best, r)
	case key == "bowls-out":
		p.m.BowlOut = append(p.m.BowlOut, BowlOut{Bowler: r, Hit: how == "hit"})
		return oneOf("hit", "miss")(how)
	default:
		return fmt.Errorf("%q is not allowed here", key)
	}
	return nil
}

// ref reads the letter of a player who exists.
func (p *parser) ref(s string) (Ref, error) {
	if len(s) != 1 || !p.known(Ref(s[0])) {
		return 0, fmt.Errorf("%q is not a player's letter", s)
	}
	return Ref(s[0]), nil
}

func (p *parser) known(r Ref) bool {
	letter := (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
	return letter && p.m.Player(r) != nil
}

func (p *parser) innings(key, value string) error {
	in := &p.m.Innings[len(p.m.Innings)-1]
	if key[0] >= '0' && key[0] <= '9' {
		return p.over(in, key, value)
	}
	if len(in.Overs) > 0 {
		return fmt.Errorf("%q must come before the overs", key)
	}
	for _, f := range inningsFlags(in) {
		if f.word == key && value == "" && !*f.set {
			*f.set = true
			return nil
		}
	}
	return p.agreed(in, key, value)
}

// agreed reads what was settled about an innings.
func (p *parser) agreed(in *Innings, key, value string) (err error) {
	switch key {
	case "target":
		runs, quota, _ := strings.Cut(value, " in ")
		in.Target.Overs = quota
		if in.Target.Runs, err = count(runs); err == nil {
			err = overs(quota)
		}
	case "penalty-before":
		in.Pre, err = count(value)
	case "penalty-after":
		in.Post, err = count(value)
	case "absent":
		var r Ref
		r, err = p.ref(value)
		in.Absent = append(in.Absent, r)
	case "miscounted":
		err = parseMiscount(in, value)
	case "powerplay":
		f := strings.Split(value, " ")
		if len(f) != 3 || overs(f[0]) != nil || overs(f[1]) != nil || f[2] == "" {
			return errors.New("a powerplay needs from, to and kind")
		}
		in.Powerplays = append(in.Powerplays, Powerplay{From: f[0], To: f[1], Kind: f[2]})
	default:
		return fmt.Errorf("%q is not allowed here", key)
	}
	return err
}

func parseMiscount(in *Innings, value string) error {
	over, balls, _ := strings.Cut(value, " ")
	var c Miscount
	var err error
	if c.Over, err = overNumber(over); err != nil {
		return err
	}
	if c.Balls, err = count(balls); err != nil {
		return err
	}
	in.Miscounted = append(in.Miscounted, c)
	return nil
}

func overNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 999 || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("%q is not an over number", s)
	}
	return n, nil
}

func (p *parser) over(in *Innings, key, value string) error {
	no, err := overNumber(key)
	if err != nil {
		return err
	}
	if n := len(in.Overs); no != n {
		return fmt.Errorf("over %d where over %d should be", no, n)
	}
	o := Over{No: no, Balls: make([]Delivery, 0, strings.Count(value, " "))}
	var bowler Ref
	var subs []Sub
	for w := range strings.SplitSeq(value, " ") {
		switch {
		case strings.HasPrefix(w, "@"):
			if bowler, err = p.ref(w[1:]); err != nil {
				return err
			}
		case strings.HasPrefix(w, "+"):
			s, err := p.sub(w)
			if err != nil {
				return err
			}
			subs = append(subs, s)
		default:
			d, err := parseDelivery(w, bowler)
			if err != nil {
				return err
			}
			d.Subs, subs = subs, nil
			if err := p.checkDelivery(in.Team, &d); err != nil {
				return fmt.Errorf("%q: %w", w, err)
			}
			o.Balls = append(o.Balls, d)
		}
	}
	if len(subs) > 0 || len(o.Balls) == 0 {
		return errors.New("an over ends with a ball")
	}
	in.Overs = append(in.Overs, o)
	return nil
}

// sub reads "+ba:supersub": b plays on for a.
func (p *parser) sub(w string) (Sub, error) {
	pair, reason, _ := strings.Cut(w[1:], ":")
	if len(pair) != 2 || reason == "" {
		return Sub{}, fmt.Errorf("%q is not a replacement", w)
	}
	s := Sub{In: Ref(pair[0]), Out: Ref(pair[1]), Reason: reason}
	if !p.known(s.In) || !p.known(s.Out) || s.In.Team() != s.Out.Team() {
		return Sub{}, fmt.Errorf("%q: two players of one side", w)
	}
	p.m.Player(s.In).Substitute = true
	return s, nil
}

// checkDelivery holds a ball against the teams.
func (p *parser) checkDelivery(team int, d *Delivery) error {
	for _, r := range [...]Ref{d.Batter, d.NonStriker} {
		if !p.known(r) || r.Team() != team {
			return fmt.Errorf("%q is not a batter of this side", r)
		}
	}
	if !p.known(d.Bowler) || d.Bowler.Team() == team {
		return errors.New("no bowler of the other side is named")
	}
	for _, w := range d.Wickets {
		if !p.known(w.Out) || w.Out.Team() != team {
			return fmt.Errorf("%q is not a batter of this side", w.Out)
		}
		known := func(f Fielder) bool { return f.Who == 0 || (p.known(f.Who) && f.Who.Team() != team) }
		if i := slices.IndexFunc(w.Fielders, func(f Fielder) bool { return !known(f) }); i >= 0 {
			return fmt.Errorf("%q is not a fielder of the other side", w.Fielders[i].Who)
		}
	}
	return nil
}

// finish looks at what only the whole file tells.
func (p *parser) finish() error {
	for _, f := range headerFields() {
		if f.must && !p.seen[f.key] {
			return fmt.Errorf("%q is missing", f.key)
		}
	}
	if p.teams < 1 || p.m.Toss.Winner < 0 {
		return errors.New("two teams and a toss are needed")
	}
	if len(p.m.Innings) == 0 {
		return errors.New("there is no innings")
	}
	return checkHeader(p.m)
}
