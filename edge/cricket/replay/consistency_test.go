package replay

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// At any instant of any match the reply adds up, and no later reply has less.
func TestAnyInstant(t *testing.T) {
	list := looped()
	desks := map[string]*desk{}
	for _, in := range list {
		desks[in.ID] = newDesk(t, in.ID)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := list[rapid.IntRange(0, len(list)-1).Draw(t, "match")]
		d := desks[in.ID]
		instant := rapid.Custom(func(t *rapid.T) time.Time {
			i := rapid.IntRange(0, len(d.m.moments)-1).Draw(t, "moment")
			return d.m.moments[i].At.Add(time.Duration(rapid.IntRange(-40_000, 40_000).Draw(t, "ms")) * time.Millisecond)
		})
		a, b := instant.Draw(t, "one"), instant.Draw(t, "other")
		if b.Before(a) {
			a, b = b, a
		}
		fa, fb := d.fixture(a), d.fixture(b)
		for _, problem := range append(append(sums(d.m, fa), sums(d.m, fb)...), growth(fa, fb)...) {
			t.Errorf("%s between %s and %s: %s", in.ID, a, b, problem)
		}
	})
}

// sums checks the tables of a reply against each other.
func sums(m *Match, f *seenFixture) (problems []string) {
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if len(f.Scoreboards) != 2*len(f.Runs) {
		bad("%d innings, %d rows of extras", len(f.Runs), len(f.Scoreboards))
		return problems
	}
	for i, r := range f.Runs {
		board := scoreboard(i + 1)
		extra, total := f.Scoreboards[2*i], f.Scoreboards[2*i+1]
		s := sumBalls(f, board)
		if s.runs+extra.Penalty != r.Score || total.Total != r.Score || r.Inning != i+1 {
			bad("%s: balls %d and penalty %d, score %d, total %d", board, s.runs, extra.Penalty, r.Score, total.Total)
		}
		if s.off+extra.Total != r.Score || extra.Total != extra.Wide+extra.NoballRuns+extra.Bye+extra.LegBye+extra.Penalty {
			bad("%s: bat %d and extras %+v are not %d", board, s.off, extra, r.Score)
		}
		if got := legalOf(r.Overs.String(), m.rec.BallsPerOver); got != s.legal || total.Overs != r.Overs {
			bad("%s: %s overs of %d legal balls", board, r.Overs, s.legal)
		}
		row := sumRows(f, board, m.rec.BallsPerOver)
		if row.off != s.off || row.faced != s.faced || row.conceded != s.conceded || row.legal != s.legal {
			bad("%s: rows %+v, balls %+v", board, row, s)
		}
		if row.out != r.Wickets || total.Wickets != r.Wickets || s.out > r.Wickets || s.out < r.Wickets-1 {
			bad("%s: %d wickets, %d rows out, %d balls", board, r.Wickets, row.out, s.out)
		}
	}
	return problems
}

type summed struct{ runs, off, legal, faced, conceded, out int }

// sumBalls adds up the balls by the rules that hold for real replies.
func sumBalls(f *seenFixture, board string) (s summed) {
	for i := range f.Balls {
		b := &f.Balls[i]
		if b.Scoreboard != board {
			continue
		}
		wide := !b.Score.Ball && b.Score.Noball == 0
		s.runs += b.Score.Runs + b.Score.Bye + b.Score.LegBye
		s.conceded += b.Score.Runs
		if !wide {
			s.off += b.Score.Runs - b.Score.NoballRuns
			s.faced++
		}
		if b.Score.Ball && b.Score.Noball == 0 {
			s.legal++
		}
		if b.Score.IsWicket {
			s.out++
		}
	}
	return s
}

func sumRows(f *seenFixture, board string, perOver int) (s summed) {
	for _, b := range f.Batting {
		if b.Scoreboard != board {
			continue
		}
		s.off += b.Score
		s.faced += b.Ball
		if b.Wicket != scoreNotOut {
			s.out++
		}
	}
	for _, b := range f.Bowling {
		if b.Scoreboard == board {
			s.conceded += b.Runs
			s.legal += legalOf(b.Overs.String(), perOver)
		}
	}
	return s
}

func legalOf(overs string, perOver int) int {
	whole, part, _ := strings.Cut(overs, ".")
	n, _ := strconv.Atoi(whole)
	balls, _ := strconv.Atoi(part)
	return n*perOver + balls
}

// growth returns what a later reply lacks or has changed.
func growth(a, b *seenFixture) (problems []string) {
	if len(a.Balls) > len(b.Balls) || len(a.Runs) > len(b.Runs) || len(a.Batting) > len(b.Batting) || len(a.Bowling) > len(b.Bowling) {
		return []string{"rows are missing"}
	}
	for i := range a.Balls {
		if a.Balls[i] != b.Balls[i] {
			problems = append(problems, fmt.Sprintf("ball %d has changed", i))
		}
	}
	for i, r := range a.Runs {
		if q := b.Runs[i]; q.ID != r.ID || q.Score < r.Score || q.Wickets < r.Wickets || q.UpdatedAt.Before(r.UpdatedAt) {
			problems = append(problems, fmt.Sprintf("score line %d: %+v, then %+v", i+1, r, q))
		}
	}
	if a.TossWon != 0 && b.TossWon != a.TossWon || len(a.Lineup) > len(b.Lineup) {
		problems = append(problems, "the toss or the line-up has changed")
	}
	return problems
}

// The answers differ after each change and are the same between changes. With -short the longest of the matches, with two
// super overs, is left out.
func TestNextChange(t *testing.T) {
	matches := []string{"1369560", "1343760", "1216517"}
	if testing.Short() {
		matches = matches[:2]
	}
	for _, id := range matches {
		d := newDesk(t, id)
		at, n := d.m.Start(), 0
		for {
			next, ok := d.m.NextChange(at)
			if !ok {
				break
			}
			n++
			if !next.After(at) {
				t.Fatalf("%s: after %s comes %s", id, at, next)
			}
			if before := d.answers(next.Add(-1)); !bytes.Equal(before, d.answers(at)) {
				t.Errorf("%s: something changed between %s and %s", id, at, next)
			} else if bytes.Equal(before, d.answers(next)) {
				t.Errorf("%s: nothing changed at %s", id, next)
			}
			at = next
		}
		if n != len(d.m.moments)-2 { // the first two are before the start of the demo
			t.Errorf("%s: %d changes for %d balls", id, n, len(d.m.balls))
		}
		if got := d.answers(at.AddDate(1, 0, 0)); !bytes.Equal(got, d.answers(at)) {
			t.Errorf("%s: something changed after the last change", id)
		}
	}
}

// answers returns the feed's replies at an instant, for the fixture and for the live list.
func (d *desk) answers(at time.Time) []byte {
	all := d.get(at, "/fixtures/"+d.m.rec.ID+"?api_token=secret&include="+allIncludes).Body.Bytes()
	return append(all, d.get(at, "/livescores?api_token=secret").Body.Bytes()...)
}

// The feed of the longest match, with every ball rendered, takes at most 12 MB.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	scoreIDs()
	before := heap()
	m := mustLoad(t, longest)
	h := &hand{now: m.End()}
	f := NewFeed(m, h, "secret", 0)
	d := &desk{t: t, m: m, h: h, f: f}
	if n := d.get(m.End(), "/livescores?api_token=secret&include="+allIncludes).Body.Len(); n < 3_000_000 {
		t.Errorf("a reply of %d bytes", n)
	}
	if used := heap() - before; used > 12<<20 {
		t.Errorf("the feed takes %d bytes", used)
	} else {
		t.Logf("the feed takes %d bytes", used)
	}
	runtime.KeepAlive(d)
}
