package cricket

import (
	"slices"
	"testing"
	"time"
)

// copied returns a copy of the snapshot, for a feed that repeats it later.
func (s *script) copied() Snapshot {
	c := s.snap
	c.Innings, c.Batting = slices.Clone(c.Innings), slices.Clone(c.Batting)
	c.Bowling, c.Balls = slices.Clone(c.Bowling), slices.Clone(c.Balls)
	return c
}

// A snapshot that falls behind the accepted one is accepted when it comes twice; one that lacks something is not accepted in
// five readings.
func TestDoubtedSnapshots(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  func(s *script, before Snapshot) Snapshot
		second bool // it is accepted when it is read again
	}{
		"late reply": {func(_ *script, before Snapshot) Snapshot { return before }, true},
		"lower score": {func(s *script, _ Snapshot) Snapshot {
			c := s.copied()
			c.Innings[0].Runs--
			c.Balls[0].Runs--
			return c
		}, true},
		"fewer wickets":  {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Innings[0].Wickets--; return c }, true},
		"no score":       {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Innings = nil; return c }, false},
		"no balls":       {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Balls = nil; return c }, false},
		"no batting":     {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Batting = nil; return c }, false},
		"no team's name": {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Teams[0].Name = ""; return c }, false},
		"no line-up":     {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.Players = nil; return c }, false},
		"no league":      {func(s *script, _ Snapshot) Snapshot { c := s.copied(); c.League = League{ID: 3}; return c }, false},
		"a ball vanished": {func(s *script, _ Snapshot) Snapshot {
			c := s.copied()
			c.Balls = slices.Delete(c.Balls, 1, 2)
			return c
		}, false},
		"a ball and its runs vanished": {func(s *script, _ Snapshot) Snapshot {
			c := s.copied()
			c.Innings[0].Runs -= c.Balls[3].Total()
			c.Innings[0].Overs, c.Innings[0].UpdatedAt = "0.3", s.now
			c.Balls = slices.Delete(c.Balls, 3, 4)
			return c
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.play("1 4 W")
			before := s.copied()
			s.now = s.now.Add(time.Second)
			s.play("1")
			truth := s.snap
			shown := s.poll().Display
			s.snap = tc.fault(s, before)
			if out := s.poll(); !out.Kept {
				t.Fatalf("accepted at the first reading: %+v", out.Display.Innings)
			}
			if second := s.poll(); second.Kept == tc.second {
				t.Errorf("second reading: Kept is %v", second.Kept)
			}
			s.polls(3)
			if !tc.second && s.state.Doubts == 0 {
				t.Error("accepted within five readings")
			}
			s.snap = truth
			s.snap.Innings = slices.Clone(truth.Innings)
			s.snap.Innings[0].UpdatedAt = s.now
			out := s.poll()
			if out.Kept || len(out.Display.Innings) != 1 || out.Display.Innings[0] != shown.Innings[0] {
				t.Errorf("the correct snapshot: Kept is %v, the display has %+v, want %+v", out.Kept, out.Display.Innings, shown.Innings)
			}
			want(t, s.keys(EventWicket, EventCorrection), "w:1:1!")
		})
	}
}

// A feed that keeps leaving something out is accepted after some readings, and from then on at every reading.
func TestMissingForGood(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(*Snapshot)
		polls int
	}{
		"balls":     {func(c *Snapshot) { c.Balls = nil }, doubtPolls},
		"names":     {func(c *Snapshot) { c.Players = nil }, doubtPolls},
		"the score": {func(c *Snapshot) { c.Innings, c.Batting, c.Bowling, c.Balls = nil, nil, nil, nil }, missingPolls},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.play("1 4 W 1")
			s.snap = s.copied()
			tc.fault(&s.snap)
			for i := range tc.polls + 5 {
				if out := s.poll(); out.Kept != (i < tc.polls-1) {
					t.Fatalf("reading %d: Kept is %v", i+1, out.Kept)
				}
			}
		})
	}
}

// A snapshot without balls is accepted while the poller does not ask for them. When it asks again, the balls go on where they
// stopped, and a snapshot without them is doubted.
func TestBallsNotAskedFor(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 4 . W 1")
	newest := s.state.PreviousBallID
	s.bowl("2")
	balls := s.snap.Balls
	s.snap.Balls, s.snap.NoBalls = nil, true
	for range 3 {
		if out := s.poll(); out.Kept || out.Display.Innings[0].Runs != 8 {
			t.Fatalf("Kept is %v, the display has %+v", out.Kept, out.Display.Innings)
		}
	}
	if s.state.PreviousBallID != newest {
		t.Errorf("the last ball is %d, want %d", s.state.PreviousBallID, newest)
	}
	s.snap.Balls, s.snap.NoBalls = balls, false
	if out := s.poll(); out.Kept || len(out.Display.LastBalls) != 6 {
		t.Errorf("Kept is %v, the display has %+v", out.Kept, out.Display.LastBalls)
	}
	s.snap.Balls = nil
	if out := s.poll(); !out.Kept {
		t.Error("a snapshot that lacks the balls asked for is accepted")
	}
}

// A feed that puts a new time stamp on its score lines in every answer does not make old events new.
func TestNewStamps(t *testing.T) {
	s := newScript(t, 1)
	s.innings(teamA)
	s.bowl("1 1 1 1 1 W")
	s.snap.Balls = nil
	poll := func() Display {
		s.snap = s.copied()
		for i := range s.snap.Innings {
			s.snap.Innings[i].UpdatedAt = s.now
		}
		return s.poll().Display
	}
	first := poll().KeyEvent
	if first == nil || first.Key != "inn:1" {
		t.Fatalf("the banner is %+v", first)
	}
	for range 20 {
		if k := poll().KeyEvent; k == nil || *k != *first {
			t.Fatalf("the banner is %+v, was %+v", k, first)
		}
	}
	s.now = s.now.Add(bannerTime)
	if k := poll().KeyEvent; k != nil && k.Key == first.Key {
		t.Errorf("after %s the banner is still %+v", bannerTime, k)
	}
}

// A new status counts when two snapshots in a row have it; a match with a score never goes back to not started.
func TestFlappingStatus(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 4")
	for _, word := range []Status{"Int.", "Finished", "Aban.", "Weather Watch", "NS", "Innings Break"} {
		s.snap.Status = word
		if d := s.poll().Display; d.Phase != PhaseLive || d.Status != "1st Innings" {
			t.Errorf("first %s: the display is %s, %q", word, d.Phase, d.Status)
		}
		s.snap.Status = "1st Innings"
		if d := s.poll().Display; d.Phase != PhaseLive || d.Status != "1st Innings" {
			t.Errorf("after %s: the display is %s, %q", word, d.Phase, d.Status)
		}
	}
	s.snap.Status = "Int."
	s.poll()
	if d := s.poll().Display; d.Phase != PhaseInterrupted {
		t.Errorf("after two readings of an interruption the phase is %s", d.Phase)
	}
	s.snap.Status = "NS"
	s.polls(5)
	if d := s.poll().Display; d.Phase != PhaseInterrupted || s.state.Status != ActiveLive {
		t.Errorf("a match with a score that is said not to have started: phase %s, status %s", d.Phase, s.state.Status)
	}
}
