package cricket

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
)

// scorePolls polls n times with rows but without balls.
func (s *script) scorePolls(n int) {
	s.fill()
	balls := s.snap.Balls
	s.snap.Balls = nil
	s.polls(n)
	s.snap.Balls = balls
}

// ballPolls polls n times with rows and balls.
func (s *script) ballPolls(n int) {
	s.fill()
	s.polls(n)
}

// counts returns the number of confirmed events of each type.
func (s *script) counts(types ...EventType) []int {
	out := make([]int, len(types))
	for _, e := range s.confirmed {
		if i := slices.Index(types, e.Type); i >= 0 {
			out[i]++
		}
	}
	return out
}

// However snapshots with and without balls alternate, every four, six and maiden is reported once.
func TestBoundariesAreReportedOnce(t *testing.T) {
	kinds := []EventType{EventFour, EventSix, EventMaiden}
	for _, tc := range []struct {
		name string
		play func(s *script)
		want []int
		keys []string // of the boundaries; nil: not compared
	}{
		{"score alone", func(s *script) {
			s.bowl("4 6 .")
			s.scorePolls(8)
			s.bowl("4 . .")
			s.scorePolls(8)
		}, []int{2, 1, 0}, []string{"4:1:101:1", "6:1:101:1", "4:1:101:2"}},
		{"balls come later", func(s *script) {
			s.bowl("4 6 .")
			s.scorePolls(8)
			s.ballPolls(8)
			s.bowl("4 . .")
			s.ballPolls(8)
		}, []int{2, 1, 0}, []string{"4:1:101:1", "6:1:101:1", "4:1:101:2"}},
		{"balls come and go", func(s *script) {
			for range 3 {
				s.bowl("4 . 6")
				s.ballPolls(8)
				s.bowl("4 . .")
				s.scorePolls(20)
			}
			s.ballPolls(8)
		}, []int{6, 3, 0}, nil},
		{"maidens", func(s *script) {
			s.bowl(". . . . . . 1 1 1 1 1 1")
			s.scorePolls(8)
			s.ballPolls(8)
			s.bowl(". . . . . .")
			s.ballPolls(8)
			s.bowl("1 1 1 1 1 1 . . . . . .")
			s.scorePolls(20)
			s.ballPolls(8)
		}, []int{0, 0, 3}, nil},
		{"a gap in the balls", func(s *script) {
			s.bowl("4 . 1 4 .")
			s.fill()
			all := s.snap.Balls
			s.snap.Balls = slices.Delete(slices.Clone(all), 3, 4)
			s.polls(20)
			s.snap.Balls = all
			s.polls(8)
			s.bowl("4")
			s.ballPolls(8)
		}, []int{3, 0, 0}, []string{"4:1:101:1", "4:1:102:1", "4:1:102:2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, 20)
			s.innings(teamA)
			s.ballPolls(3)
			tc.play(s)
			if got := s.counts(kinds...); !slices.Equal(got, tc.want) {
				t.Errorf("%v events of %v, want %v: %v", got, kinds, tc.want, s.keys(kinds...))
			}
			if tc.keys != nil {
				want(t, s.keys(EventFour, EventSix), tc.keys...)
			}
		})
	}
}

// Without balls, two sixes of a batter between two snapshots of one over are reported as consecutive.
func TestSixesWithoutBalls(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.bowl("1 . 1")
	s.scorePolls(8)
	s.bowl("6")
	s.scorePolls(8)
	want(t, s.keys(EventConsecutiveSixes))
	s.bowl("6 6")
	s.scorePolls(8)
	want(t, s.keys(EventConsecutiveSixes), "csr:1:101:3!")
	s.ballPolls(8)
	want(t, s.keys(EventConsecutiveSixes), "csr:1:101:3!")
}

// A hat-trick over two spells is found although the snapshot has only the latest balls, and it is still detected when the
// snapshot no longer has them.
func TestHatTrickOfSpells(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.bowl("1 . . . 1 W") // 211 ends an over with a wicket
	s.ballPolls(8)
	s.bowl("1 . . . . 1") // 210
	s.ballPolls(8)
	s.bowl("W") // 211 again
	s.ballPolls(8)
	if got := s.keys(EventOnHatTrick); len(got) != 1 {
		t.Fatalf("on a hat-trick: %v", got)
	}
	s.bowl("W 1")
	s.fill()
	s.snap.Balls = s.snap.Balls[len(s.snap.Balls)-2:]
	all := Detect(&s.state, &s.snap)
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Type == EventHatTrick })
	if i < 0 || !strings.HasPrefix(all[i].Subject, "211+") {
		t.Fatal("the hat-trick is not found with the last two balls")
	}
	key := all[i].Key
	for name, balls := range map[string][]Ball{"the last ball": s.snap.Balls[1:], "no ball": nil} {
		next := State{Memory: detect(&s.state, &s.snap, s.state.Seen.unpack()).m}
		later := s.snap
		later.Balls = balls
		if !slices.ContainsFunc(Detect(&next, &later), func(c Candidate) bool { return c.Key == key && strings.HasPrefix(c.Subject, "211+") }) {
			t.Errorf("with %s the hat-trick is no longer found", name)
		}
	}
}

// Wickets in the match and in its super over make no hat-trick.
func TestNoHatTrickWithASuperOver(t *testing.T) {
	s := newScript(t, 1)
	s.second("1 1 1 1 1 1", "1 1 1 1 2 W") // the bowler's last ball
	s.innings(teamB)
	s.bowl("W W")
	if got := s.look(true, EventHatTrick); len(got) != 0 {
		t.Errorf("hat-tricks %v", got)
	}
	if got := s.look(true, EventWicket); len(got) != 3 {
		t.Errorf("wickets %v", got)
	}
}

// Wickets with missing balls between them make no hat-trick.
func TestNoHatTrickOverAGap(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.bowl("W W 1 . W")
	s.fill()
	s.snap.Balls = slices.Delete(s.snap.Balls, 2, 4)
	if got := s.look(true, EventHatTrick); len(got) != 0 {
		t.Errorf("hat-tricks %v", got)
	}
}

// An interruption is reported once it has lasted half a minute, and so is the resumption after it. At the same overs of another
// innings it is a new interruption.
func TestInterruptions(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 . .")
	s.snap.Status = "Int."
	s.polls(10) // 22.5 s
	s.snap.Status = "1st Innings"
	s.polls(16)
	want(t, s.keys(EventInterrupted, EventResumed))
	s.snap.Status = "Delayed"
	s.polls(14 + 120) // longer than five minutes: a shorter one is corrected
	s.snap.Status = "1st Innings"
	s.polls(14)
	want(t, s.keys(EventInterrupted, EventResumed), "int:0.3!", "int:0.3:resumed")
	s.play("1 . .")
	s.innings(teamB)
	s.play("1 . .")
	s.snap.Status = "Int."
	s.polls(14)
	want(t, s.keys(EventInterrupted), "int:0.3!", "int:0.3:2!")
	if len(s.state.Memory.Stops) != 2 {
		t.Errorf("remembers %v", s.state.Memory.Stops)
	}
}

// The day advances after stumps; without memory it is computed from the dates.
func TestDays(t *testing.T) {
	s := newScript(t, 0)
	s.snap.Type = "Test/5day"
	day := func() int { return s.poll().Display.Day }
	if got := day(); got != 0 {
		t.Errorf("day %d before play", got)
	}
	s.innings(teamA)
	s.bowl("1")
	if got := day(); got != 1 {
		t.Errorf("day %d, want 1", got)
	}
	for n := 1; n <= 3; n++ {
		s.snap.Status = Status("Stump Day " + string(rune('0'+n)))
		s.polls(2)
		if got := day(); got != n {
			t.Errorf("close of day %d is day %d", n, got)
		}
		s.snap.Status = "1st Innings"
		s.polls(2)
		if got := day(); got != n+1 {
			t.Errorf("day %d, want %d", got, n+1)
		}
	}
	s.snap.Innings[0].UpdatedAt = s.snap.StartsAt.Add(50 * time.Hour)
	if got := (&Memory{}).day(&s.snap); got != 3 {
		t.Errorf("two days after the start it is day %d, want 3", got)
	}
}

// A match that is postponed or cancelled is announced so, and waits for another time.
func TestNotPlayed(t *testing.T) {
	for status, key := range map[Status]string{"Postp.": "st:postp!", "Cancl": "st:cancl!", "Cancl.": "st:cancl!"} {
		s := newScript(t, 20)
		s.snap.Status = status
		s.polls(int(offHold/(2500*time.Millisecond)) + 1)
		want(t, s.keys(EventPostponed, EventCancelled), key)
		if phase, _ := status.Phase(); s.state.Status != ActivePostponed || s.state.MatchPhase != phase {
			t.Errorf("%s: %s, %s", status, s.state.Status, s.state.MatchPhase)
		}
	}
}

// A postponed match with a new start is played as any other. If it is put off again, that is news once more; a status that wavers is none.
func TestPlayedAtAnotherTime(t *testing.T) {
	for _, off := range []Status{"Postp.", "Cancl."} {
		s := newScript(t, 20)
		hold := int(offHold/(2500*time.Millisecond)) + 1
		key := statusKey(off.word())
		putOff := func() {
			s.snap.Status = off
			s.polls(hold)
		}
		putOff()
		s.snap.Status = "NS"
		s.polls(2)
		putOff()
		want(t, s.keys(EventPostponed, EventCancelled), key+"!")
		s.snap.Status, s.snap.StartsAt = "NS", s.snap.StartsAt.Add(24*time.Hour)
		s.polls(2)
		if s.state.Status != ActiveIdle || s.state.MatchPhase != PhasePrematch || s.state.TTL != 0 {
			t.Errorf("%s: with a new start it is %s, %s, kept until %d", off, s.state.Status, s.state.MatchPhase, s.state.TTL)
		}
		putOff()
		want(t, s.keys(EventPostponed, EventCancelled), key+"!", key+":2!")
		s.snap.Status, s.snap.StartsAt = "NS", s.snap.StartsAt.Add(24*time.Hour)
		s.polls(2)
		s.innings(teamA)
		s.play("1 W 4")
		want(t, s.keys(EventMatchStart, EventWicket, EventCorrection), "start!", "w:1:1!")
		if s.state.Status != ActiveLive {
			t.Errorf("%s: in play it is %s", off, s.state.Status)
		}
	}
}

// A match goes on with its score on a reserve day, whether the feed called it postponed or abandoned meanwhile: nothing is told twice.
func TestReserveDay(t *testing.T) {
	for _, off := range []Status{"Postp.", "Aban."} {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("1 W 4")
		s.snap.Status = off
		for s.state.Status == ActiveLive {
			s.poll()
		}
		s.now, s.snap.Status = s.now.Add(20*time.Hour), "1st Innings"
		s.play("1 1 W")
		s.polls(20)
		if s.state.Status != ActiveLive || s.state.Result != "" || s.state.TTL != 0 {
			t.Errorf("%s: on the reserve day it is %s, result %q", off, s.state.Status, s.state.Result)
		}
		told := []string{"start!", "w:1:1!", "st:postp!", "w:1:2!"}
		if off == "Aban." {
			told = []string{"start!", "w:1:1!", "result!", "corr:result!", "w:1:2!"}
		}
		want(t, s.keys(EventMatchStart, EventWicket, EventPostponed, EventAbandoned, EventCorrection), told...)
	}
}

func TestPhases(t *testing.T) {
	for status, want := range map[Status]Phase{
		"NS": PhasePrematch, "Delayed": PhasePrematch, "2nd innings": PhaseLive, "Innings Break": PhaseInningsBreak,
		"Lunch": PhaseBreak, "TEA BREAK": PhaseBreak, "Dinner.": PhaseBreak, "Stump Day 4": PhaseStumps, "Stump Day 12": PhaseStumps,
		"Int": PhaseInterrupted, "int.": PhaseInterrupted, "Aban": PhaseAbandoned, "Postp.": PhasePostponed,
		"Cancl.": PhaseAbandoned, "Finished": PhaseCompleted, "Super Over": PhaseLive, "Stump Day": "", "": "",
	} {
		got, known := status.Phase()
		if got != want || known != (want != "") {
			t.Errorf("%q: %q, %t", status, got, known)
		}
	}
}

// The memory of a match is the same after a round trip through store attributes, and takes at most a kilobyte.
func TestMemoryIsStored(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.snap.LineUp, s.snap.Toss = 22, Toss{teamA, "batting"}
	s.bowl("W W W 4 6 " + strings.Repeat("1 ", 20) + "W . W")
	s.snap.Status = "Int."
	s.scorePolls(4)
	s.ballPolls(30)
	item, err := attr.Marshal(s.state.Memory)
	if err != nil {
		t.Fatal(err)
	}
	if n := attr.Size(item); n > 1024 {
		t.Errorf("%d bytes", n)
	}
	var back Memory
	if err := attr.Unmarshal(item, &back); err != nil {
		t.Fatal(err)
	}
	again, err := attr.Marshal(back)
	if err != nil || !attr.Equal(attr.M(item), attr.M(again)) || len(back.HatTricks) != 1 || len(back.Batters) == 0 {
		t.Errorf("%+v came back as %+v (%v)", s.state.Memory, back, err)
	}
}

// Of a team's milestones only the hundreds alert, if the option is on.
func TestTeamHundredsMayAlert(t *testing.T) {
	s := newScript(t, 20)
	s.options.Alerts = map[EventType]bool{EventTeamMilestone: true}
	s.innings(teamA)
	s.play("5wd " + strings.Repeat("6 . ", 16))
	want(t, s.keys(EventTeamMilestone), "t50:1", "t100:1!")
}
