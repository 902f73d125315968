package cricket

import "fmt"

// A chase is close when no more than closeBalls are left and no more than closeRate runs a ball are needed.
const (
	closeBalls = 30
	closeRate  = 2
)

func isClose(need, left int) bool {
	return left > 0 && left <= closeBalls && need > 0 && need <= closeRate*left
}

// chases reports whether an innings is a limited-overs chase. Super overs do not count: their chases are always close.
func (s *Snapshot) chases(in *Innings) bool {
	return !s.MultiDay() && !s.IsSuperOver(in.No) && s.Target(in) > 0
}

func (s *Snapshot) closeNow(in *Innings) bool {
	return s.chases(in) && in.Wickets < s.maxWickets(in) && isClose(s.Target(in)-in.Runs, s.quota(in)-s.legal(in))
}

// chase reports the ball after which the chase is close.
func (t *tally) chase(b *Ball) {
	need, left := t.target-t.runs, t.quota-t.legal
	if _, told := t.told[closeKey]; told || !isClose(need, left) || !t.s.chases(t.in) || t.wickets >= t.s.maxWickets(t.in) {
		return
	}
	c := t.candidate(b, EventChaseClose, closeKey, closeText(t.code, need, left))
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
	if !t.s.closeNow(t.in) && (len(t.balls) > 0 || !t.m.Close || !t.s.chases(t.in)) {
		return
	}
	text := closeText(t.code, max(0, t.target-t.in.Runs), max(0, t.quota-t.s.legal(t.in)))
	c := t.rowEvent(EventChaseClose, closeKey, text, 0, 0)
	c.Subject = t.s.closeSubject()
	t.addOnce(c)
}

// targetReached reports a chase won on the score before the feed says so. It is the result, under the result's
// key. In a shortened match the first innings' total does not give the target.
func (d *detection) targetReached(in *Innings) {
	s := d.s
	target := s.Target(in)
	if s.over() || !s.last(in) || in.Runs < target || s.shortened() && !s.namesTarget() && !s.IsSuperOver(in.No) {
		return
	}
	c := d.inningsEvent(in, EventResult, resultKey, s.chaseWon(in))
	c.Detail = detailTarget
	c.Subject = endSubject(EventResult, in.TeamID, c.Text)
	c.Mark = fmt.Sprintf("%d/%d", target, in.Runs)
	d.add(c)
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
