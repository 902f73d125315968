package tape

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// dismissal pairs a kind with the word that stands for it in the file.
type dismissal struct {
	word string
	kind Kind
}

func dismissals() []dismissal {
	return []dismissal{
		{"b", Bowled}, {"c", Caught}, {"cb", CaughtAndBowled}, {"lbw", LBW}, {"st", Stumped}, {"hw", HitWicket},
		{"ro", RunOut}, {"of", Obstructing}, {"hb", HandledBall}, {"ht", HitTwice}, {"to", TimedOut},
		{"rout", RetiredOut}, {"rhurt", RetiredHurt}, {"rnot", RetiredNotOut},
	}
}

// KindKnown reports whether the form has a word for a kind of dismissal.
func KindKnown(k Kind) bool { return wordOf(k) != "" }

func wordOf(k Kind) string {
	for _, d := range dismissals() {
		if d.kind == k {
			return d.word
		}
	}
	return ""
}

func kindOf(word string) (Kind, bool) {
	for _, d := range dismissals() {
		if d.word == word {
			return d.kind, true
		}
	}
	return "", false
}

// appendDelivery writes a ball: striker, non-striker, what happened, who is out.
func appendDelivery(dst []byte, d *Delivery) []byte {
	dst = append(dst, byte(d.Batter), byte(d.NonStriker))
	dst = appendOutcome(dst, d)
	for _, w := range d.Wickets {
		dst = append(dst, '/')
		dst = append(dst, wordOf(w.Kind)...)
		if w.Out != d.Batter {
			dst = append(dst, ':', byte(w.Out))
		}
		if len(w.Fielders) == 0 {
			continue
		}
		dst = append(dst, '(')
		for _, f := range w.Fielders {
			dst = appendFielder(dst, f)
		}
		dst = append(dst, ')')
	}
	return dst
}

func appendFielder(dst []byte, f Fielder) []byte {
	if f.Who == 0 {
		dst = append(dst, '?')
	} else {
		dst = append(dst, byte(f.Who))
	}
	if f.Substitute {
		dst = append(dst, '*')
	}
	return dst
}

// appendOutcome writes runs and extras: ".", "4", "4r", "2wd", "1+1nb", "1nb+4b".
func appendOutcome(dst []byte, d *Delivery) []byte {
	start := len(dst)
	if d.Bat > 0 {
		dst = strconv.AppendInt(dst, int64(d.Bat), 10)
		if d.Run {
			dst = append(dst, 'r')
		}
	}
	for _, e := range extras(d) {
		if *e.runs == 0 {
			continue
		}
		if len(dst) > start {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, int64(*e.runs), 10)
		dst = append(dst, e.word...)
	}
	if len(dst) == start {
		dst = append(dst, '.')
	}
	return dst
}

type extra struct {
	word string
	runs *int
}

func extras(d *Delivery) [5]extra {
	return [5]extra{{"wd", &d.Wides}, {"nb", &d.NoBalls}, {"b", &d.Byes}, {"lb", &d.LegByes}, {"pen", &d.Penalty}}
}

// maxRuns bounds what one ball may give in one way; it catches slips of the pen, not cricket.
const maxRuns = 20

// parseDelivery reads what appendDelivery writes. The letters are checked by the caller, which knows the teams.
func parseDelivery(s string, bowler Ref) (Delivery, error) {
	d := Delivery{Bowler: bowler}
	if len(s) < 3 {
		return d, fmt.Errorf("%q is not a ball", s)
	}
	d.Batter, d.NonStriker = Ref(s[0]), Ref(s[1])
	first := true
	for p := range strings.SplitSeq(s[2:], "/") {
		if first {
			if err := parseOutcome(&d, p); err != nil {
				return d, fmt.Errorf("%q: %w", s, err)
			}
			first = false
			continue
		}
		w, err := parseWicket(p, d.Batter)
		if err != nil {
			return d, fmt.Errorf("%q: %w", s, err)
		}
		d.Wickets = append(d.Wickets, w)
	}
	return d, nil
}

func parseOutcome(d *Delivery, s string) error {
	if s == "." {
		return nil
	}
	after := 0 // extras come in one order, each once
	first := true
	for p := range strings.SplitSeq(s, "+") {
		n := strings.TrimLeft(p, "0123456789")
		runs, err := count(p[:len(p)-len(n)])
		if err != nil || runs > maxRuns {
			return fmt.Errorf("%q is not a number of runs", p)
		}
		if first && (n == "" || n == "r") {
			d.Bat, d.Run, first = runs, n == "r", false
			continue
		}
		first = false
		if after, err = setExtra(d, n, runs, after); err != nil {
			return err
		}
	}
	return nil
}

func setExtra(d *Delivery, word string, runs, after int) (int, error) {
	for i, e := range extras(d) {
		if e.word != word {
			continue
		}
		if i < after {
			return 0, fmt.Errorf("%q is out of order", word)
		}
		*e.runs = runs
		return i + 1, nil
	}
	return 0, fmt.Errorf("%q is not a kind of extra", word)
}

func parseWicket(s string, striker Ref) (Wicket, error) {
	w := Wicket{Out: striker}
	rest, in, found := strings.Cut(s, "(")
	if found {
		body, ok := strings.CutSuffix(in, ")")
		if !ok || body == "" {
			return w, errors.New("fielders stand in brackets")
		}
		for i := 0; i < len(body); i++ {
			f := Fielder{Who: Ref(body[i])}
			if body[i] == '?' {
				f.Who = 0
			}
			if i+1 < len(body) && body[i+1] == '*' {
				f.Substitute = true
				i++
			}
			w.Fielders = append(w.Fielders, f)
		}
	}
	word, out, found := strings.Cut(rest, ":")
	if found {
		if len(out) != 1 || Ref(out[0]) == striker {
			return w, fmt.Errorf("%q: the batter who is out is one letter, omitted for the striker", s)
		}
		w.Out = Ref(out[0])
	}
	var ok bool
	if w.Kind, ok = kindOf(word); !ok {
		return w, fmt.Errorf("%q is not a kind of dismissal", word)
	}
	return w, nil
}
