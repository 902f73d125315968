package cricket

import (
	"fmt"
	"strconv"
	"strings"
)

// overTally is the over being bowled.
type overTally struct {
	balls []*Ball
	ended bool // its end was reported
}

// hatTrick reports a second wicket in consecutive balls, and the third; a fourth is not another hat-trick.
// n is the number of the wicket among the bowler's in the match.
func (t *tally) hatTrick(b *Ball, streak *Streak, n int) {
	if streak == nil {
		return
	}
	name := t.s.playerName(b.BowlerID, bowlerWord)
	switch len(streak.Places) {
	case 2:
		c := t.candidate(b, EventOnHatTrick, onHatTrickKey(t.in.No, b.BowlerID, n), name+" on a hat-trick")
		c.Was = keyOf(oldOnHatTrick, b.BowlerID, b.ID)
		t.add(c)
	case 3:
		c := t.candidate(b, EventHatTrick, hatTrickKey(t.in.No, b.BowlerID, n), "")
		c.Text, c.Subject = t.s.hatTrick(streak)
		c.Text = "HAT-TRICK! " + c.Text + " · " + t.score()
		c.Was = keyOf(oldHatTrick, b.BowlerID, b.ID)
		t.add(c)
		t.m.numberHatTrick(streak, n)
	}
}

// rememberedHatTricks reports hat-tricks from before the first ball of the snapshot.
func (d *detection) rememberedHatTricks() {
	for _, k := range d.m.HatTricks {
		if len(k.Places) < 3 || len(d.s.Balls) > 0 && k.Places[2] >= d.s.Balls[0].place() {
			continue // found in the balls
		}
		key := hatTrickKey(k.Innings, k.Bowler, k.Nth)
		words, about := d.s.hatTrick(&k)
		d.add(Candidate{
			Event: Event{
				Key: key, Type: EventHatTrick, Innings: k.Innings, Over: k.Over, BallID: k.Last,
				Text: "HAT-TRICK! " + words,
			},
			Mark: key, Subject: about,
		})
	}
}

// sixes reports a batter's third consecutive six. A wide is not a ball faced, so it breaks nothing.
func (t *tally) sixes(b *Ball, bat *batTally) {
	if b.Wide {
		return
	}
	if !b.Six {
		bat.row = nil
		return
	}
	bat.row = append(bat.row, b)
	if len(bat.row) != 3 || t.rowReportedFirst(b.BatterID, bat.sixes) {
		return
	}
	text := fmt.Sprintf("Three sixes in a row! %s · %s", t.s.playerName(b.BatterID, batterWord), t.score())
	c := t.candidate(b, EventConsecutiveSixes, sixesKey(t.in.No, b.BatterID, bat.sixes), text)
	c.Subject, c.Was = subject(b.BatterID), keyOf(oldSixes, b.BatterID, bat.row[0].ID)
	t.add(c)
}

// rowReportedFirst reports whether the row reported these sixes before their balls arrived.
func (t *tally) rowReportedFirst(batter int64, sixes int) bool {
	for n := sixes - 1; n <= sixes+1; n++ {
		if t.known.holds(familyRowSixes, int64(t.in.No), batter, int64(n)) {
			return true
		}
	}
	return false
}

// newOver closes the previous over at the first ball of another: an over can be short of balls.
func (t *tally) newOver(b *Ball) {
	if n := len(t.overs.balls); n > 0 && t.overs.balls[0].Over != b.Over {
		if !t.overs.ended {
			t.overEnd(t.overs.balls[n-1])
		}
		t.overs.balls, t.overs.ended = t.overs.balls[:0], false
	}
	t.overs.balls = append(t.overs.balls, b)
}

// endOfOver reports the end of an over, and a maiden, at its last legal ball.
func (t *tally) endOfOver(b *Ball) {
	if !b.Legal() || t.overs.ended {
		return
	}
	legal := 0
	for _, x := range t.overs.balls {
		if x.Legal() {
			legal++
		}
	}
	if legal < t.s.BallsPerOver() {
		return
	}
	t.overs.ended = true
	t.maiden(b)
	t.overEnd(b)
}

// overEnd reports the end of the over, and of the powerplay if it ends with it.
func (t *tally) overEnd(b *Ball) {
	no := b.Over + 1
	t.addOnce(t.candidate(b, EventOverEnd, overKey(t.in.No, no), t.overText(no)))
	if no == t.in.Powerplay && !t.s.IsSuperOver(t.in.No) {
		t.addOnce(t.candidate(b, EventPowerplayEnd, powerplayKey(t.in.No), t.powerplayText()))
	}
}

// overText writes the over as a scoresheet does, "Over 12: 1 4 0 W 0 2 (7)".
func (t *tally) overText(no int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Over %d:", no)
	runs := 0
	for i, x := range t.overs.balls {
		if i > 0 && t.s.gap(t.overs.balls[i-1], x) || i == 0 && ballInOver(x.Label) > 1 {
			text.WriteString(" …")
		}
		runs += x.Total()
		text.WriteByte(' ')
		text.WriteString(sheetMark(x))
	}
	text.WriteString(" (" + strconv.Itoa(runs) + ")")
	return text.String()
}

func (t *tally) powerplayText() string {
	return fmt.Sprintf("Powerplay: %s %d/%d", t.code, t.runs, t.wickets)
}

// sheetMark returns a ball's mark as a scorer writes it: like Mark, but 0 for a dot ball.
func sheetMark(b *Ball) string {
	if m := b.Mark().Mark; m != "." {
		return m
	}
	return "0"
}

// maidenOver is an over in which the bowler conceded nothing.
type maidenOver struct {
	bowler int64
	no     int // from 1
}

// maiden reports a full over by one bowler who conceded nothing; byes do not count against the bowler.
func (t *tally) maiden(b *Ball) {
	if !t.s.isMaiden(t.overs.balls) {
		return
	}
	key := maidenKey(t.in.No, b.Over+1)
	if n := t.rowMaiden(b); n > 0 {
		key = rowMaidenKey(t.in.No, b.BowlerID, n)
	}
	t.addOnce(t.candidate(b, EventMaiden, key, "Maiden: "+t.s.playerName(b.BowlerID, bowlerWord)))
}

func (s *Snapshot) isMaiden(over []*Ball) bool {
	legal := 0
	for _, x := range over {
		if x.BowlerID != over[0].BowlerID || x.Runs > 0 {
			return false
		}
		if x.Legal() {
			legal++
		}
	}
	return legal == s.BallsPerOver()
}

// maidensIn lists the maidens among the balls.
func (s *Snapshot) maidensIn(balls []Ball) []maidenOver {
	var out []maidenOver
	var over []*Ball
	for i := range balls {
		b := &balls[i]
		if len(over) > 0 && over[0].Over != b.Over {
			over = over[:0]
		}
		over = append(over, b)
		if b.Legal() && s.isMaiden(over) {
			out = append(out, maidenOver{b.BowlerID, b.Over + 1})
		}
	}
	return out
}

// rowMaiden returns the number under which the bowler's row reported this maiden before its balls arrived, 0 if
// it did not. Row maidens are matched to the oldest maidens that balls have not reported.
func (t *tally) rowMaiden(b *Ball) int {
	rows := t.known.rowMaidens(t.in.No, b.BowlerID)
	if rows == 0 || t.known.holds(familyMaiden, int64(t.in.No), int64(b.Over)+1) {
		return 0
	}
	n := 1
	for _, o := range t.s.maidensIn(t.balls) {
		if o.bowler == b.BowlerID && o.no <= b.Over && !t.known.holds(familyMaiden, int64(t.in.No), int64(o.no)) {
			n++
		}
	}
	if n > rows {
		return 0
	}
	return n
}
