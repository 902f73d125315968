package cricket

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// A subject names who or what an event is about and, each after a plus, what else its text states and must be true:
// "21906+1234+47" is a batter, how the batter was out, and the runs. Whatever the feed has not said is left out.

// subject returns the subject for a player or team.
func subject(id int64) string { return strconv.FormatInt(id, 10) }

// unknownSubject is the subject of a wicket known only from the score.
const unknownSubject = "?"

// wicketSubject returns who is out, a digest of how and by whom, and the batter's runs. It is the batter alone
// while the kind of dismissal or a name is missing.
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
	if bowler != 0 && s.playerName(bowler, "") == "" || catcher != 0 && s.playerName(catcher, "") == "" {
		return subject(who)
	}
	h := fnv.New32a()
	_, _ = fmt.Fprint(h, how, bowler, catcher)
	return fmt.Sprintf("%d+%d+%d", who, h.Sum32()%4096, runs) // the digest takes two bytes in the match's row
}

// endSubject returns the subject of a result: its kind and winner, the margin and the rain rule, as the text has them.
func endSubject(kind EventType, winner int64, text string) string {
	out := fmt.Sprintf("%s/%d+%s+%s", kind, winner, marginIn(text), ruleIn(text))
	return strings.TrimRight(out, "+")
}

// ruleIn returns the rain rule named in a text.
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

// The rain rules in subjects. DLS is also assumed while the feed names none.
const (
	ruleVJD = "vjd"
	ruleDLS = "dls"
)

// sameRule reports whether the snapshot does not contradict the announced rain rule.
func sameRule(told, now string) bool { return told == now || now == "" || told == ruleVJD }

// agreement is how an announced subject compares with a snapshot's.
type agreement int

const (
	agrees  agreement = iota // the same, as far as the snapshot says
	fuller                   // the snapshot says more, but nothing worth an alert
	differs                  // what phones were told is wrong or incomplete
)

// agreement compares the subject of a fact with that of a candidate. A batter's name, the dismissal and the rain rule
// deserve an alert of their own if they come late. What a chase needs does not: a revised target is an event of its own.
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
	if family == familyInningsEnd && who != is && sameCause(who) == sameCause(is) {
		return fuller // phones do not see whether the overs were up
	}
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

// sameCause returns the subject of an innings with the causes that its text does not tell apart as one: revised overs turn an
// innings that rain closed into one that had all its overs.
func sameCause(innings string) string {
	if score, found := strings.CutSuffix(innings, "/"+string(CauseClosed)); found {
		return score + "/" + string(CauseOvers)
	}
	return innings
}

// sameHero reports whether a fact and a candidate are about the same player or team, whatever else they state.
func (f *fact) sameHero(c *Candidate) bool {
	who, _, _ := strings.Cut(f.subject, "+")
	is, _, _ := strings.Cut(c.Subject, "+")
	return who == is || who == unknownSubject
}

// sameEnd compares margin and rain rule of two results.
func sameEnd(told, now string) agreement {
	by, rule, _ := strings.Cut(told, "+")
	is, ruled, _ := strings.Cut(now, "+")
	if is != "" && by != is || !sameRule(rule, ruled) {
		return differs
	}
	return agrees
}

// sameWay compares how a batter was out, and for how many runs. "b Starc" is also the text of a wicket whose kind is not known yet.
func sameWay(told, now string, c *Candidate) agreement {
	how, runs, _ := strings.Cut(told, "+")
	way, made, _ := strings.Cut(now, "+")
	switch {
	case told == "" && c.Detail == string(outBowled):
		return fuller
	case how != way, runs != "" && runs != made: // an earlier version did not keep the runs
		return differs
	default:
		return agrees
	}
}
