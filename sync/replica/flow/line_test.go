package flow

import (
	"testing"
	"time"
)

func upLink(now time.Time) *Link {
	n := NewLink(16, half)
	n.Begin(now)
	n.RecordProbe("", now)
	return n
}

// One lost answer, or several among others, are no reason to count the cloud as away. Silence after several is.
func TestAwayAfterSeveral(t *testing.T) {
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		play  func(n *Link, at func(ms int) time.Time) (news bool)
		away  bool
		doubt bool
	}{
		"one lost answer among others": {func(n *Link, at func(int) time.Time) bool {
			n.RecordAnswer(time.Millisecond, at(100))
			return n.RecordNoAnswer("lost", at(0), at(2000))
		}, false, false},
		"one lost answer and silence": {func(n *Link, at func(int) time.Time) bool {
			n.RecordAnswer(time.Millisecond, at(100))
			return n.RecordNoAnswer("lost", at(500), at(2000))
		}, false, true},
		"many in a moment": {func(n *Link, at func(int) time.Time) bool {
			n.RecordAnswer(time.Millisecond, at(1500))
			news := false
			for i := range 10 {
				news = n.RecordNoAnswer("lost", at(i), at(1600+i)) || news
			}
			return news
		}, false, false},
		"many with answers between": {func(n *Link, at func(int) time.Time) bool {
			news := false
			for i := range 50 {
				news = n.RecordNoAnswer("lost", at(i*1000), at(i*1000+900)) || news
				news = n.RecordNoAnswer("lost", at(i*1000), at(i*1000+900)) || news
				n.RecordAnswer(time.Millisecond, at(i*1000+950))
			}
			return news
		}, false, false},
		"several and silence": {func(n *Link, at func(int) time.Time) bool {
			n.RecordNoAnswer("lost", at(0), at(1500))
			n.RecordNoAnswer("lost", at(0), at(1501))
			return n.RecordNoAnswer("lost", at(0), at(1502))
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := upLink(start)
			news := tt.play(n, func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) })
			if news != tt.away || n.Online() == tt.away || n.State(start).Drops != map[bool]uint64{true: 1}[tt.away] {
				t.Errorf("away: %t and %t, want %t", news, !n.Online(), tt.away)
			}
			if n.InDoubt() != tt.doubt || n.InDoubt() {
				t.Errorf("in doubt, once: want %t", tt.doubt)
			}
		})
	}
}

// The time limit of an answer follows what answers take, doubles with each try, and allows for the size of the request.
func TestAnswerLimit(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	n := upLink(now)
	if got := n.AnswerLimit(0, 0); got != answerFirst {
		t.Errorf("before the first answer %v", got)
	}
	answers := func(took time.Duration) {
		for range 50 {
			n.RecordAnswer(took, now)
		}
	}
	answers(20 * time.Millisecond)
	if got := n.AnswerLimit(0, 0); got != answerLeast {
		t.Errorf("on a fast line %v, want %v", got, answerLeast)
	}
	answers(2 * time.Second)
	slow := n.AnswerLimit(0, 0)
	if slow < 4*time.Second || slow > 8*time.Second {
		t.Errorf("on a slow line %v", slow)
	}
	for tries, want := range []time.Duration{slow, slow, slow, 2 * slow, 4 * slow} {
		if got := n.AnswerLimit(tries, 0); got != want {
			t.Errorf("after %d tries %v, want %v", tries, got, want)
		}
	}
	if got := n.AnswerLimit(0, 2*sentASecond); got != slow+2*time.Second {
		t.Errorf("for a large request %v, want %v", got, slow+2*time.Second)
	}
	if got := n.ProbeLimit(); got != slow {
		t.Errorf("for a probe %v, want %v", got, slow)
	}
	n.RecordLoss("gone", now)
	for probe := range 20 {
		got := n.ProbeLimit()
		if want := slow << min((probe+1)/probesGrow, answerGrows); got != want {
			t.Errorf("after %d probes %v, want %v", probe, got, want)
		}
		n.RecordProbe("still gone", now)
	}
}

// A line that loses answers is named, until it has lost none for two minutes.
func TestPoorLine(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	n := upLink(now)
	words := func(lost, of int) string {
		for i := range of {
			now = now.Add(100 * time.Millisecond)
			if i < lost {
				n.RecordNoAnswer("lost", now, now)
				n.InDoubt()
			} else {
				n.RecordAnswer(time.Millisecond, now)
			}
		}
		return PoorLine(n.State(now).LostShare)
	}
	for _, tt := range []struct {
		lost, of int
		want     string
	}{{2, 20, ""}, {8, 80, "poor line: 10 % of the answers are lost"}, {0, 900, ""}, {0, 1300, ""}} {
		if got := words(tt.lost, tt.of); got != tt.want {
			t.Errorf("after %d of %d: %q, want %q", tt.lost, tt.of, got, tt.want)
		}
	}
	words(8, 80)
	n.RecordLoss("gone", now)
	if got := n.State(now).LostShare; got != 0 {
		t.Errorf("while the cloud is away, %v of the answers are lost", got)
	}
}
