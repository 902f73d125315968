package cricket

import "fmt"

// A chase may be close in its last closeBalls balls, if it can still be won and lost: at most closeRate runs a ball are needed with
// closeWickets wickets in hand, fewer without them, and lastRate in the last over; and it is no walk, a run off every twelfth ball
// for each wicket in hand. docs/live-activities.md has twelve cases.
const (
	closeBalls   = 30
	closeRate    = 2
	closeWickets = 3
	lastRate     = 3
	walkBalls    = 12
)

// isClose decides by runs, balls and wickets in hand together.
func isClose(need, left, wickets, perOver int) bool {
	if left <= 0 || left > closeBalls || need <= 0 || wickets <= 0 || walkBalls*need <= left*wickets {
		return false
	}
	switch {
	case left <= perOver:
		return need <= lastRate*left
	case wickets < closeWickets:
		return closeWickets*need <= (wickets+closeWickets)*left
	default:
		return need <= closeRate*left
	}
}

// chases reports whether an innings is a limited-overs chase. Super overs do not count: their chases are always close.
func (s *Snapshot) chases(in *Innings) bool {
	return !s.MultiDay() && !s.IsSuperOver(in.No) && s.Target(in) > 0
}

func (s *Snapshot) closeNow(in *Innings) bool {
	return s.chases(in) && isClose(s.Target(in)-in.Runs, s.quota(in)-s.legal(in), s.maxWickets(in)-in.Wickets, s.BallsPerOver())
}

// closeKeyAt returns the key of a close chase: it is told once, and once more in the last over.
func (s *Snapshot) closeKeyAt(left int) string {
	if left <= s.BallsPerOver() {
		return closeLastKey
	}
	return closeKey
}

// chase reports the ball after which the chase is close, and the first ball after which it is in the last over.
func (t *tally) chase(b *Ball) {
	need, left := t.target-t.runs, t.quota-t.legal
	key := t.s.closeKeyAt(left)
	if _, told := t.told[key]; told || !t.s.chases(t.in) || !isClose(need, left, t.s.maxWickets(t.in)-t.wickets, t.s.BallsPerOver()) {
		return
	}
	c := t.candidate(b, EventChaseClose, key, closeText(t.code, need, left))
	c.Subject = t.s.closeSubject()
	t.addOnce(c)
}

// closeSubject identifies a chase by target and overs: with another target it is a different one, and the first was still close.
func (s *Snapshot) closeSubject() string {
	in := s.innings(2)
	if in == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Target(in), s.quota(in))
}

func closeText(code string, need, left int) string {
	return fmt.Sprintf("%s need %d off %d", code, need, left)
}

// chaseNow reports a chase that is close by the score, or was while only the score was known.
func (t *tally) chaseNow() {
	now, left := t.s.closeNow(t.in), max(0, t.quota-t.s.legal(t.in))
	seen := len(t.balls) == 0 && t.s.chases(t.in)
	for _, told := range [...]struct {
		key string
		was bool
	}{{closeKey, t.m.Close}, {closeLastKey, t.m.CloseLast}} {
		if !(now && told.key == t.s.closeKeyAt(left)) && !(seen && told.was) {
			continue
		}
		c := t.rowEvent(EventChaseClose, told.key, closeText(t.code, max(0, t.target-t.in.Runs), left), 0, 0)
		c.Subject = t.s.closeSubject()
		t.addOnce(c)
	}
}

// targetReached reports a chase won on the score before the feed says so. It is the result, under the result's
// key. In a shortened match the first innings' total does not give the target.
func (d *detection) targetReached(in *Innings) {
	s := d.s
	target := s.Target(in)
	if s.isOver() || !s.last(in) || in.Runs < target || s.playedOn(in, target) || s.isShortened() && !s.namesTarget() && !s.IsSuperOver(in.No) {
		return
	}
	c := d.inningsEvent(in, EventResult, resultKey, s.chaseWon(in))
	c.Detail = detailTarget
	c.Subject = endSubject(EventResult, in.TeamID, c.Text)
	c.Mark = fmt.Sprintf("%d/%d", target, in.Runs)
	d.add(c)
}

// playedOn reports whether play visibly went on after the score reached the target, so that it cannot be the target. One ball more
// may be a mistake of the feed.
func (s *Snapshot) playedOn(in *Innings, target int) bool {
	const mistakes, mostOffABall = 1, 7
	balls, runs, after := s.ballsIn(in.No), in.Penalty, 0
	if len(balls) == 0 || !s.agrees(in) {
		return in.Runs >= target+mostOffABall
	}
	for i := range balls {
		if runs >= target {
			after++
		}
		runs += balls[i].Total()
	}
	return after > mistakes
}

// chaseWon words the result as the feed does, "Australia won by 6 wickets".
func (s *Snapshot) chaseWon(in *Innings) string {
	text := s.name(in.TeamID) + " won"
	switch {
	case s.IsSuperOver(in.No):
		return text + " the Super Over"
	default:
		return text + " by " + plural(max(1, 10-in.Wickets), "wicket") + s.rainRule()
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
