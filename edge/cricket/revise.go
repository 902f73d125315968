package cricket

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
)

// revisedBalls is how far back a feed is expected to revise what it said: what older balls made stays as it is recorded.
const revisedBalls = 2 * lastBalls

// revisable is the first of the last so many balls.
func (s *Snapshot) revisable(balls int) int64 {
	if len(s.Balls) == 0 {
		return 0
	}
	return s.Balls[max(0, len(s.Balls)-balls)].ID
}

// revisable reports whether an event may be revised: a ball made it, or the score told it while balls were missing.
func (r *round) revisable(e *Event) bool {
	if e.BallID == 0 {
		return len(r.snap.Balls) > 0 && awaitsBalls(e.Type)
	}
	return e.BallID >= r.snap.revisable(revisedBalls)
}

// awaitsBalls reports whether balls say more of an event than score and rows do: "Over 11: 0 0 0 4 4 1 (9)" for "End of over 11".
func awaitsBalls(t EventType) bool {
	_, ofPlay := ruleOfPlay(t)
	return ofPlay || t == EventPowerplayEnd || t == EventChaseClose
}

// fromScore stands in the words of a fact that score or rows told in the place of their digest.
const fromScore = "score"

// fromScore reports whether score or rows told the fact, so that balls that come later have its words.
func (f *fact) fromScore() bool { return strings.HasSuffix(f.words, ":"+fromScore) }

// counted reports whether a fact is one of a number in a row of the scorecard: a boundary, a maiden.
func (f *fact) counted() bool {
	family, _ := splitKey(f.key)
	return family == familyRowBoundary || family == familyRowMaiden
}

// judgedFrom is the ball from which on a snapshot can contradict what balls made: the innings it is of, and those after, say
// the same by their balls as by their scores.
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
	return first.ID
}

// words are what a fact keeps of a candidate that a ball made, "1234:0:98765": the ball, the penalty runs that its score
// counts in, and a digest of the text. Where score or rows told it the ball is the last one that was there.
func (s *Snapshot) words(c *Candidate) string {
	penalty := 0
	if in := s.innings(c.Innings); in != nil {
		penalty = in.Penalty
	}
	switch {
	case c.BallID != 0:
	case awaitsBalls(c.Type) && len(s.Balls) > 0:
		return fmt.Sprintf("%d:%d:%s", s.Balls[len(s.Balls)-1].ID, penalty, fromScore)
	default:
		return ""
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Text))
	return fmt.Sprintf("%d:%d:%d", c.BallID, penalty, h.Sum32()>>12) // 20 bits do for one event
}

// rewords reports whether a candidate says a fact in other words. Penalty runs stand in the scores of all balls, also of those
// before they were awarded: what was recorded before is right as it is.
func (s *Snapshot) rewords(f *fact, c *Candidate) bool {
	if f.fromScore() {
		return c.BallID != 0
	}
	was, is := strings.Split(f.words, ":"), strings.Split(s.words(c), ":")
	return len(was) == 3 && (len(is) < 3 || was[1] == is[1] && (was[0] != is[0] || was[2] != is[2]))
}

// ball is the ball of a fact's words.
func (f *fact) ball() int64 {
	id, _, _ := strings.Cut(f.words, ":")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// minor reports whether a fact is of an event that need not last: a boundary, an over, a new batter. A feed may revise what
// made it for a while, and then its row says what is so, without a word to anybody.
func (f *fact) minor() bool {
	return f.words != "" && (f.subject == "" || f.subject == string(EventFour) || f.subject == string(EventSix))
}

// hush settles whether anything is said about a challenge.
func (ch *challenge) hush() {
	f := &ch.fact
	ch.reword = ch.same || ch.now != nil && f.standing == factQuiet && (f.minor() || f.key != resultKey && f.sameHero(ch.now))
	ch.retake = !ch.reword && (f.standing == factQuiet && f.key != resultKey || f.standing == factTransientQuiet)
}

// silent reports whether nothing is said about a challenge.
func (ch *challenge) silent() bool { return ch.retake || ch.reword }

// keptFacts are the facts but for those that have passed, and for what is too old to be revised.
func (r *round) keptFacts() []fact {
	first := r.snap.revisable(revisedBalls)
	facts := slices.DeleteFunc(r.state.Announced.facts(), func(f fact) bool {
		return (f.standing == factTransient || f.standing == factTransientQuiet) && f.outlived(r.now) || f.minor() && f.ball() < first
	})
	for i := range facts {
		if facts[i].ball() < first {
			facts[i].words = ""
		}
	}
	return facts
}

// correctFact takes a correction that became sure into the facts, and returns the key that is free again, or what its row says
// from now on.
func (r *round) correctFact(facts *[]fact, ch challenge) (cleared []string, revised []Event) {
	i := slices.IndexFunc(*facts, func(f fact) bool { return f.key == ch.fact.key })
	if i < 0 {
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
