package cricket

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
)

// revisedBalls is how many of the latest balls a feed is expected to revise. Events of older balls stay as recorded.
const revisedBalls = 2 * lastBalls

// revisable returns the place of the oldest among the given number of latest balls, 0 if there are no balls.
func (s *Snapshot) revisable(balls int) int64 {
	if len(s.Balls) == 0 {
		return 0
	}
	return s.Balls[max(0, len(s.Balls)-balls)].place()
}

// revisable reports whether an event may still be revised: a recent ball made it, or it came from the score while balls were missing.
func (r *round) revisable(e *Event) bool {
	if e.BallID == 0 {
		return len(r.snap.Balls) > 0 && awaitsBalls(e.Type)
	}
	return eventPlace(e) >= r.snap.revisable(revisedBalls)
}

// awaitsBalls reports whether balls add to what score and rows show: "Over 11: 0 0 0 4 4 1 (9)" for "End of over 11".
func awaitsBalls(t EventType) bool {
	_, ofPlay := ruleOfPlay(t)
	return ofPlay || t == EventPowerplayEnd || t == EventChaseClose
}

// fromScore replaces the text digest in the words of a fact that came from score or rows.
const fromScore = "score"

// fromScore reports whether the fact came from score or rows, so that balls that arrive later supply its words.
func (f *fact) fromScore() bool { return strings.HasSuffix(f.words, ":"+fromScore) }

// isCount reports whether a fact counts something in a scorecard row: a boundary, a maiden, a bowler's wickets, or the runs of a stand.
func (f *fact) isCount() bool {
	switch family, _ := splitKey(f.key); family {
	case familyBoundary, familyRowMaiden, familyBowlerFire, familyStand:
		return true
	default:
		return false
	}
}

// cameIn reports whether the batter of a fact "comes in" has come in: one who was timed out has not, although a row has him.
func (s *Snapshot) cameIn(f *fact) bool {
	family, numbers := splitKey(f.key)
	if family != familyNewBatter {
		return true
	}
	row := s.battingRow(int(numbers[0]), numbers[1])
	return row != nil && (!row.Out || row.Balls > 0)
}

// miscounted lists recorded events of the innings in play that only rows can have shown, and that they do not show any more: the feed had
// a four too many. Without balls no facts are kept of them, because there are too many.
func (st *State) miscounted(all []Candidate, s *Snapshot, known keySet) (keys []string) {
	in := s.current()
	if in == nil || !s.NoBalls || len(s.Balls) > 0 {
		return nil
	}
	shown := make(map[string]bool, len(all))
	for i := range all {
		shown[all[i].Key] = true
	}
	for _, family := range [...]string{familyBoundary, familyBowlerFire, familyNewBatter, familyStand, familyBatterFire} {
		f := known[family]
		if f == nil {
			continue
		}
		for _, numbers := range f.keys {
			at := 0
			if family == familyBoundary || family == familyStand {
				at = 1
			}
			if key := keyOf(family, numbers...); int(numbers[at]) == in.No && !shown[key] && st.PreviousBallID == 0 {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// judgedFrom returns the place of the first ball whose events this snapshot can contradict. If balls and score
// disagree in that ball's innings or a later one, it can contradict none.
func (s *Snapshot) judgedFrom() int64 {
	if len(s.Balls) == 0 {
		return math.MaxInt64
	}
	first := s.Balls[max(0, len(s.Balls)-revisedBalls)]
	for i := range s.Innings {
		if in := &s.Innings[i]; in.No >= first.Innings && !s.agrees(in) {
			return math.MaxInt64
		}
	}
	return first.place()
}

// atPlace starts the words of a fact, before the place of a ball. Earlier versions had its id there, without a sign.
const atPlace = "p"

// words returns what a fact keeps of a candidate, "p1234:0:98765": the ball's place, the penalty runs included in its
// score, and a digest of the text. For a candidate from score or rows the ball is the last one that was known.
func (s *Snapshot) words(c *Candidate) string {
	penalty := 0
	if in := s.innings(c.Innings); in != nil {
		penalty = in.Penalty
	}
	switch {
	case c.BallID != 0:
	case awaitsBalls(c.Type) && len(s.Balls) > 0:
		return fmt.Sprintf(atPlace+"%d:%d:%s", s.Balls[len(s.Balls)-1].place(), penalty, fromScore)
	default:
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Text))
	return fmt.Sprintf(atPlace+"%d:%d:%d", c.place(), penalty, h.Sum32()>>12) // 20 bits are enough for one event
}

// rewords reports whether a candidate words a fact differently. Penalty runs change the scores of all balls,
// also of those before the award, so texts from before it are left as they were recorded.
func (s *Snapshot) rewords(f *fact, c *Candidate) bool {
	if f.fromScore() {
		return c.BallID != 0
	}
	was, is := strings.Split(f.words, ":"), strings.Split(s.words(c), ":")
	return len(was) == 3 && (len(is) < 3 || was[1] == is[1] && (was[0] != is[0] || was[2] != is[2]))
}

// place returns the place of the ball in a fact's words.
func (f *fact) place() int64 {
	at, _, _ := strings.Cut(f.words, ":")
	n, err := strconv.ParseInt(strings.TrimPrefix(at, atPlace), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// minor reports whether a fact is of an event that need not stay true: a boundary, an over, a new batter. If the
// feed revises it, its row is rewritten without an announcement.
func (f *fact) minor() bool {
	return f.words != "" && (f.subject == "" || f.subject == string(EventFour) || f.subject == string(EventSix))
}

// hush decides whether a challenge is announced, or only changes or removes the row.
func (ch *challenge) hush() {
	f := &ch.fact
	ch.reword = ch.same || ch.now != nil && f.standing == factQuiet && (f.minor() || f.key != resultKey && f.sameHero(ch.now))
	ch.retake = !ch.reword && (f.standing == factQuiet && f.key != resultKey || f.standing == factTransientQuiet)
}

// silent reports whether a challenge is settled without an announcement.
func (ch *challenge) silent() bool { return ch.retake || ch.reword }

// runs reports whether a fact is of several balls in a row. It keeps its place, by which it is recognised: its count changes with
// the balls before it.
func (f *fact) runs() bool {
	switch family, _ := splitKey(f.key); family {
	case familyHatTrick, familyOnHatTrick, familySixes, oldHatTrick, oldOnHatTrick, oldSixes:
		return true
	default:
		return false
	}
}

// keptFacts returns the facts without transient ones that have passed and minor ones too old to be revised.
func (r *round) keptFacts() []fact {
	first := r.snap.revisable(revisedBalls)
	facts := slices.DeleteFunc(r.state.Announced.facts(), func(f fact) bool {
		return (f.standing == factTransient || f.standing == factTransientQuiet) && f.hasOutlived(r.now) ||
			f.minor() && f.place() < first && !f.runs()
	})
	for i := range facts {
		if facts[i].place() < first && !facts[i].runs() {
			facts[i].words = ""
		}
	}
	return facts
}

// correctFact applies a confirmed correction to the facts. It returns the key that is free again, or the event's row as it now reads.
func (r *round) correctFact(facts *[]fact, ch challenge) (cleared []string, revised []Event) {
	i := slices.IndexFunc(*facts, func(f fact) bool { return f.key == ch.fact.key })
	if i < 0 {
		if ch.rows {
			return []string{ch.fact.key}, nil
		}
		return nil, nil
	}
	f, was := &(*facts)[i], ch.fact.eventKey()
	switch {
	case ch.retake, f.standing == factTransient:
		*facts = slices.Delete(*facts, i, i+1)
		return []string{was}, nil
	case ch.now == nil:
		f.standing = factWithdrawn
		return []string{was}, nil
	}
	f.words = r.snap.words(ch.now)
	if !ch.same || ch.more {
		f.subject = ch.now.Subject
	}
	switch {
	case f.eventKey() == was:
		return nil, []Event{ch.now.Event}
	case strings.HasSuffix(ch.fact.subject, wasSo):
		return nil, nil
	default:
		return []string{was}, nil
	}
}
