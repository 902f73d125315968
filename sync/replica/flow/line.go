package flow

import (
	"fmt"
	"math"
	"time"
)

// line is the quality of the way to the cloud: how long answers take, and how many never come. A Link's lock guards it.
type line struct {
	mean  time.Duration // of the time that an answer takes; 0: none was measured
	vary  time.Duration // mean difference from it
	spans [lineSpans]lineSpan
}

// lineSpan counts the requests of one span of time.
type lineSpan struct {
	began      time.Time
	sent, lost int
}

const (
	lineSpans   = 4
	lineSpanOf  = 30 * time.Second
	poorLeast   = 3    // lost answers below which nothing is said
	poorShare   = 0.02 // share of lost answers from which a line is poor
	answerFirst = 5 * time.Second
	answerLeast = time.Second
	answerGrows = 4        // doublings of the time limit
	sentASecond = 64 << 10 // bytes that a poor line carries
	meanWeight  = 8
	varyWeight  = 4
)

// recordAnswer measures one answer.
func (q *line) recordAnswer(took time.Duration, now time.Time) {
	q.span(now).sent++
	switch {
	case took <= 0:
	case q.mean == 0:
		q.mean, q.vary = took, took/2
	default:
		q.vary += ((q.mean - took).Abs() - q.vary) / varyWeight
		q.mean += (took - q.mean) / meanWeight
	}
}

// recordNoAnswer counts a request without an answer.
func (q *line) recordNoAnswer(now time.Time) {
	s := q.span(now)
	s.sent++
	s.lost++
}

// span returns the present span.
func (q *line) span(now time.Time) *lineSpan {
	latest := &q.spans[0]
	if !latest.began.IsZero() && now.Sub(latest.began) < lineSpanOf {
		return latest
	}
	copy(q.spans[1:], q.spans[:])
	*latest = lineSpan{began: now}
	return latest
}

// lostShare returns the share of requests without an answer in the last two minutes; 0: too few to say anything.
func (q *line) lostShare(now time.Time) float64 {
	sent, lost := 0, 0
	for _, s := range q.spans {
		if now.Sub(s.began) < lineSpans*lineSpanOf {
			sent += s.sent
			lost += s.lost
		}
	}
	if lost < poorLeast {
		return 0
	}
	return float64(lost) / float64(sent)
}

// limit returns how long to wait for an answer: well above what answers took lately, since some requests need a new connection first. The
// first repetitions get as long, because the answers were probably lost; from then on the limit doubles, because this request may take longer
// than others.
func (q *line) limit(tries, size int) time.Duration {
	limit := answerFirst
	if q.mean > 0 {
		limit = max(answerLeast, 2*q.mean+4*q.vary)
	}
	limit += time.Duration(size) * time.Second / sentASecond
	return limit << min(max(tries-2, 0), answerGrows)
}

// PoorLine says in words that a line loses answers; "": it does not, or hardly.
func PoorLine(lostShare float64) string {
	if lostShare < poorShare {
		return ""
	}
	return fmt.Sprintf("poor line: %.0f %% of the answers are lost", 100*lostShare)
}

// AnswerLimit returns how long to wait for the answer to a request of a size in bytes that was sent before that many times. It follows
// what answers take: on a line that loses some, one that is lost should not hold up what waits behind it for longer than needed.
func (n *Link) AnswerLimit(tries, size int) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.line.limit(tries, size)
}

// windowLasts is how long the requests of an in-flight window take together: what waits for the next window waits for that long.
const windowLasts = 500 * time.Millisecond

// WindowLimit returns how many requests may be chosen to be sent one after the other. On a fast line many of them share a disk sync. On a slow
// one a single request takes longer than a sync, and what should go first, such as a repetition, should not wait for many.
func (n *Link) WindowLimit() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.line.mean <= 0 {
		return math.MaxInt
	}
	return int(max(1, windowLasts/n.line.mean))
}

// ProbeLimit is AnswerLimit for a small request that is sent while the cloud may be away. It grows slowly with the failed probes: one that
// begins just before the cloud comes back should not go on waiting for long.
func (n *Link) ProbeLimit() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := n.line.limit(0, 0)
	if !n.up {
		limit <<= min(n.tries/probesGrow, answerGrows)
	}
	return limit
}

// probesGrow is after how many failed probes the limit of a probe doubles.
const probesGrow = 3

// When the cloud counts as away.
const (
	awayAfter   = 3           // requests in a row without an answer
	awaySilence = time.Second // in which there was none
)

// RecordAnswer records that the cloud has answered a request. took is how long that took; 0: it says nothing about other requests.
func (n *Link) RecordAnswer(took time.Duration, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.line.recordAnswer(took, now)
	n.heard, n.unheard, n.doubt = now, 0, false
}

// RecordNoAnswer records a request without an answer. One alone says little: a poor line loses some. After several in a row the cloud counts as
// away; it reports whether that is new. If the cloud has been silent since the request left at began, it is in doubt, and InDoubt
// asks for a probe.
func (n *Link) RecordNoAnswer(why string, began, now time.Time) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last, n.lastAt = why, now
	if !n.up {
		return false
	}
	n.line.recordNoAnswer(now)
	n.unheard++
	if n.unheard >= awayAfter && now.Sub(n.heard) >= awaySilence {
		n.goAway(now)
		return true
	}
	n.doubt = n.doubt || !n.heard.After(began)
	return false
}

// InDoubt reports whether one request should find out whether the cloud is still there. It is true once for each doubt.
func (n *Link) InDoubt() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	doubt := n.up && n.doubt
	n.doubt = false
	return doubt
}
