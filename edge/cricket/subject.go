package cricket

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// A subject is who or what an event is about and, each behind a plus, what else its words say and must be true: "21906+1234+47"
// is a batter, how he was out, and his runs. What the feed has not said is left out.

// subject names a player or a team as what an event is about.
func subject(id int64) string { return strconv.FormatInt(id, 10) }

// unknownSubject is who an event is about that names nobody: a wicket that only the score shows.
const unknownSubject = "?"

// wicketSubject is who is out, a digest of how and by whom, and with how many runs. While the words lack a name, or the way,
// it is the batter alone.
func (s *Snapshot) wicketSubject(who int64, how dismissal, bowler, catcher int64, runs int) string {
	switch how {
	case outUnknown:
		return subject(who)
	case outCaught, outStumped:
	case outRunOut, outRetired, outObstructing, outTimedOut:
		bowler, catcher = 0, 0
	default:
		catcher = 0
	}
	if bowler != 0 && s.who(bowler, "") == "" || catcher != 0 && s.who(catcher, "") == "" {
		return subject(who)
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, how, bowler, catcher)
	return fmt.Sprintf("%d+%d+%d", who, h.Sum32()%4096, runs) // two bytes and one in the row of the match
}

// endSubject is who or what a match's end is about, by how much, and by which rule, as its words have it.
func endSubject(kind EventType, winner int64, text string) string {
	out := fmt.Sprintf("%s/%d+%s+%s", kind, winner, marginIn(text), ruleIn(text))
	return strings.TrimRight(out, "+")
}

// ruleIn is the rain rule that words name.
func ruleIn(text string) string {
	switch {
	case strings.Contains(text, "VJD"):
		return ruleVJD
	case strings.Contains(text, "DLS"), strings.Contains(text, "D/L"):
		return ruleDLS
	default:
		return ""
	}
}

// The rain rules in subjects. DLS is also what is taken for the rule while the feed names none.
const (
	ruleVJD = "vjd"
	ruleDLS = "dls"
)

// sameRule reports whether a snapshot says nothing else of the rain rule than was told.
func sameRule(told, now string) bool { return told == now || now == "" || told == ruleVJD }

// agreement is how what was told of a subject stands to what a snapshot has.
type agreement int

const (
	agrees  agreement = iota // the same, as far as the snapshot says
	fuller                   // the snapshot has more to say, of which phones need not hear
	differs                  // phones are wrong, or were not told what they should be
)

// agreement compares the subject of a fact with that of a candidate. The name of who is out, how, and the rain rule are worth
// an alert of their own if they come late. What a chase needs is not: a target that is revised is another event.
func (f *fact) agreement(c *Candidate) agreement {
	told, now := f.subject, c.Subject
	if f.key == targetFact {
		told = strings.TrimSuffix(told, wasSo)
	}
	if told == now || now == unknownSubject {
		return agrees
	}
	who, how, _ := strings.Cut(told, "+")
	is, way, _ := strings.Cut(now, "+")
	family, _ := splitKey(f.key)
	switch {
	case family == familyWicket && told == unknownSubject:
		return differs
	case told == unknownSubject:
		return agrees
	case who != is:
		return differs
	case f.key == targetFact && sameRule(how, way), way == "":
		return agrees
	case f.key == resultKey:
		return sameEnd(how, way)
	case f.key == targetFact:
		return differs
	case family == familyWicket:
		return sameWay(how, way, c)
	case how == "", family == familyInningsEnd && strings.HasPrefix(way, needMark):
		return fuller
	case how != way:
		return differs
	}
	return agrees
}

// sameHero reports whether a fact and a candidate are about the same, whatever else is said of it.
func (f *fact) sameHero(c *Candidate) bool {
	who, _, _ := strings.Cut(f.subject, "+")
	is, _, _ := strings.Cut(c.Subject, "+")
	return who == is || who == unknownSubject
}

// sameEnd compares by how much a match was won, and by which rule.
func sameEnd(told, now string) agreement {
	by, rule, _ := strings.Cut(told, "+")
	is, ruled, _ := strings.Cut(now, "+")
	if is != "" && by != is || !sameRule(rule, ruled) {
		return differs
	}
	return agrees
}

// sameWay compares how a batter was out, and with how many runs. "b Starc" is also what is said of a wicket whose kind is not
// known yet.
func sameWay(told, now string, c *Candidate) agreement {
	how, runs, _ := strings.Cut(told, "+")
	way, made, _ := strings.Cut(now, "+")
	switch {
	case told == "" && c.Detail == string(outBowled):
		return fuller
	case how != way, runs != "" && runs != made: // a version before has not kept the runs
		return differs
	default:
		return agrees
	}
}
