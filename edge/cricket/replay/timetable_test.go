package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The whole course of three matches, in golden files to be read: a tie with a super over, a match that went into its
// reserve day, and a four-day match with a forfeited innings.
func TestTimetables(t *testing.T) {
	for _, id := range []string{"1144530", "1144528", "1244270"} {
		t.Run(id, func(t *testing.T) {
			m := mustLoad(t, id)
			golden(t, "timetable-"+id+".txt", course(m))
		})
	}
}

// course writes a line for each moment that changes more than the number of balls, for the ball before it, and for the
// first eight balls.
func course(m *Match) string {
	var b strings.Builder
	fmt.Fprintf(&b, "demo from %s to %s\n", m.Start().Format(time.RFC3339), m.End().Format(time.RFC3339))
	var last Moment
	for i, mo := range m.moments {
		same := mo
		same.At, same.Balls = last.At, last.Balls
		endsHere := i+1 < len(m.moments) && m.moments[i+1].Balls == mo.Balls && mo.Balls > last.Balls
		firstOver := mo.Balls > 0 && mo.Balls <= 8
		if same != last || endsHere || firstOver {
			fmt.Fprintf(&b, "%s %-13s %4d balls, innings %d begun %d over, toss %t live %t%s\n", mo.At.Format("2006-01-02 15:04:05"),
				mo.Status, mo.Balls, mo.Begun, mo.Closed, mo.Toss, mo.Live, extra(m, &mo))
		}
		last = mo
	}
	return b.String()
}

func extra(m *Match, mo *Moment) string {
	text := ""
	if mo.Balls > 0 {
		b := m.balls[mo.Balls-1]
		text += fmt.Sprintf(", %s %s", b.label, scoreOf(b.d).name)
	}
	if note := m.feedNote(&view{Moment: *mo}); note != "" {
		text += ", note " + note
	}
	if overs, runs, ok := m.revisedFigures(&view{Moment: *mo}); ok {
		text += fmt.Sprintf(", revised %s overs %d runs", overs, runs)
	}
	return text
}

// The time between any two balls of any match follows the pace that schedule sets.
func TestPace(t *testing.T) {
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		for i := 1; i < len(m.balls); i++ {
			a, b := m.balls[i-1], m.balls[i]
			gap := b.at.Sub(a.at)
			if wicketsOn(a.d) > 0 && gap < time.Hour && a.innings == b.innings {
				gap -= 90 * time.Second
			}
			switch {
			case a.innings == b.innings && a.over == b.over && gap == 38*time.Second:
			case a.innings == b.innings && b.over == a.over+1 && gap == 67*time.Second:
			case a.innings != b.innings && m.rec.Innings[b.innings].SuperOver && gap == 11*time.Minute:
			case a.innings != b.innings && gap == 21*time.Minute:
			case a.over != b.over || a.innings != b.innings:
				if b.at.Hour() != 10 || b.at.Minute() != 0 || !b.at.After(a.at.Add(10*time.Hour)) {
					t.Errorf("%s: %s at %s, %s at %s", in.ID, a.label, a.at, b.label, b.at)
				}
			default:
				t.Errorf("%s: %s at %s, %s at %s", in.ID, a.label, a.at, b.label, b.at)
			}
		}
	}
}

// Play stays within daylight and within the match's own dates.
func TestDays(t *testing.T) {
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		overs := map[string]int{}
		for _, b := range m.balls {
			day := b.at.Format(time.DateOnly)
			if !slices.Contains(m.rec.Dates, day) || b.at.Hour() < 10 || b.at.Hour() > 18 {
				t.Errorf("%s: %s at %s", in.ID, b.label, b.at)
			}
			if b.last {
				overs[day]++
			}
		}
		for day, n := range overs {
			if n > 102 { // two innings of 50 overs and a super over
				t.Errorf("%s: %d overs on %s", in.ID, n, day)
			}
		}
	}
}

// Revised overs and targets show when the feed would have them: in the first innings or from its end. Other matches have
// none.
func TestRevisedTargets(t *testing.T) {
	want := map[string][2]string{ // in the first innings, in the second
		"530323":  {"-", "13 120"},
		"947101":  {"-", "7.3 85"},
		"1383434": {"18 0", "18 149"},
		"1343760": {"5 0", "5 38"},
		"1260097": {"-", "8.4 73"},
		"1252718": {"-", "14 124"},
		"235831":  {"-", "47 305"},
		"1022349": {"-", "33 235"},
		"1085949": {"-", "29.2 215"},
		"1347416": {"-", "45 224"},
	}
	show := func(m *Match, mo *Moment) string {
		overs, runs, ok := m.revisedFigures(&view{Moment: *mo})
		if !ok {
			return "-"
		}
		return fmt.Sprintf("%s %d", overs, runs)
	}
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		first := m.MomentAt(m.balls[0].at)
		got := [2]string{show(m, &first), "-"}
		for _, mo := range m.moments {
			if mo.Closed == 1 {
				got[1] = show(m, &mo)
				break
			}
		}
		if exp, ok := want[in.ID]; ok && got != exp || !ok && got != [2]string{"-", "-"} {
			t.Errorf("%s: %v, want %v", in.ID, got, want[in.ID])
		}
	}
}
