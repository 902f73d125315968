package cricket

import (
	"slices"
	"strings"
	"testing"
)

// renumber gives the balls from one on other ids, as a feed does that enters them again.
func (s *script) renumber(from int) {
	s.snap.Balls = slices.Clone(s.snap.Balls)
	for i := from; i < len(s.snap.Balls); i++ {
		s.id += 3
		s.snap.Balls[i].ID = s.id
	}
}

// again deletes a ball and enters it again, under an id later than those of the balls after it.
func (s *script) again(i int) {
	all := slices.Clone(s.snap.Balls)
	ball := all[i]
	s.snap.Balls = slices.Delete(slices.Clone(all), i, i+1)
	s.polls(2)
	s.id += 3
	ball.ID = s.id
	s.snap.Balls = append(s.snap.Balls, ball)
}

// everyAlert lets phones be alerted to boundaries too.
func everyAlert() map[EventType]bool {
	return map[EventType]bool{EventSix: true, EventFour: true, EventOnHatTrick: true}
}

// Balls that the feed numbers anew, or deletes and enters again, are the same balls: nothing is announced twice, and nothing is
// corrected.
func TestBallsUnderOtherIDs(t *testing.T) {
	for name, play := range map[string]string{
		"a hat-trick": "1 W W W 1 1", "sixes in a row": "1 6 6 6 1 1", "boundaries": "4 6 1 4 6 1", "wides": "4 1wd 4 1wd W 6",
	} {
		for change, f := range map[string]func(s *script){
			"all balls are renumbered": func(s *script) { s.renumber(0) },
			"an over is renumbered":    func(s *script) { s.renumber(len(s.snap.Balls) - 6) },
			"a ball is entered again":  func(s *script) { s.again(len(s.snap.Balls) - 3) },
			"one after the other": func(s *script) {
				for i := range 4 {
					s.again(len(s.snap.Balls) - 4 + i)
					s.polls(3)
				}
			},
			"the ids move along by one ball": func(s *script) {
				s.snap.Balls = slices.Clone(s.snap.Balls)
				for i := range len(s.snap.Balls) - 1 {
					s.snap.Balls[i].ID = s.snap.Balls[i+1].ID
				}
				s.id += 3
				s.snap.Balls[len(s.snap.Balls)-1].ID = s.id
			},
		} {
			t.Run(name+"/"+change, func(t *testing.T) {
				s := newScript(t, 20)
				s.options.Alerts = everyAlert()
				s.innings(teamA)
				s.play(". . . . . .")
				s.play(play)
				before := s.keys()
				f(s)
				s.polls(doubtPolls + inconsistentPolls + 6)
				want(t, s.keys(), before...)
				s.play("4 6 1")
				if got := s.keys(EventCorrection); len(got) != 0 {
					t.Errorf("corrections %v", s.texts(EventCorrection))
				}
				if len(s.keys(EventFour, EventSix)) != strings.Count(play, "4")+strings.Count(play, "6")+2 {
					t.Errorf("boundaries %v", s.keys(EventFour, EventSix))
				}
			})
		}
	}
}

// A boundary or wicket before them is corrected, which changes the count of later ones: they stay what they were.
func TestEarlierBallChangesTheCount(t *testing.T) {
	t.Run("fours", func(t *testing.T) {
		s := newScript(t, 20)
		s.options.Alerts = everyAlert()
		s.innings(teamA)
		s.play(". . 4 . . 4 . . 4")
		want(t, s.keys(EventFour), "4:1:101:1!", "4:1:101:2!", "4:1:101:3!")
		first := &s.snap.Balls[2]
		s.runs(first, -2)
		first.Four, s.row(1, 101).Fours = false, 2
		s.polls(8)
		want(t, s.texts(EventCorrection), "Correction: no four for P101 · ALP 10/0 (1.3)")
		if a, b := s.rows["4:1:101:1"].Over, s.rows["4:1:101:2"].Over; a != "0.6" || b != "1.3" || s.known["4:1:101:3"] {
			t.Errorf("the rows are %v", s.rows)
		}
		s.play(". . 4")
		want(t, s.keys(EventFour), "4:1:101:1!", "4:1:101:2!", "4:1:101:3!", "4:1:101:3!")
	})
	t.Run("a four more", func(t *testing.T) {
		s := newScript(t, 20)
		s.options.Alerts = everyAlert()
		s.innings(teamA)
		s.play("2 . . 4 . . 4")
		first := &s.snap.Balls[0]
		s.runs(first, 2)
		first.Four, s.row(1, 101).Fours = true, 3
		s.polls(8)
		s.play("1")
		want(t, s.keys(EventCorrection))
		if got := len(s.keys(EventFour)); got != 3 {
			t.Errorf("%d fours %v", got, s.keys(EventFour))
		}
	})
	t.Run("a hat-trick after a wicket", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("W . W W W 1")
		want(t, s.keys(EventHatTrick), "ht:1:211:4!")
		b := &s.snap.Balls[0]
		b.Outcome = "Run Out"
		row := s.row(1, 101)
		row.BowlerID, row.HowOut = 0, "Run Out"
		s.snap.Innings[0].UpdatedAt = s.now
		s.polls(8)
		want(t, s.keys(EventHatTrick), "ht:1:211:4!")
		want(t, s.keys(EventCorrection), "corr:w:1:1!")
	})
	t.Run("three sixes after a six", func(t *testing.T) {
		s := newScript(t, 20)
		s.innings(teamA)
		s.play("6 . 6 6 6 1")
		want(t, s.keys(EventConsecutiveSixes), "cs:1:101:4!")
		first := &s.snap.Balls[0]
		s.runs(first, -2)
		first.Six, first.Four = false, true
		s.row(1, 101).Sixes, s.row(1, 101).Fours = 3, 1
		s.polls(8)
		want(t, s.keys(EventConsecutiveSixes, EventCorrection), "cs:1:101:4!")
	})
}

// A match in play has rows and a state whose keys and facts hold ids of balls: they are recognised, also after the feed has given
// the balls other ids.
func TestRowsUnderOldKeys(t *testing.T) {
	s := newScript(t, 20)
	s.options.Alerts = everyAlert()
	s.innings(teamA)
	s.play("4 6 6 6 1 1 1 W W W 1 1")
	old := map[string]string{}
	for key, e := range s.rows {
		var was string
		switch e.Type {
		case EventFour, EventSix:
			was = keyOf(oldBall, e.BallID)
		case EventHatTrick:
			was = keyOf(oldHatTrick, 210, e.BallID)
		case EventOnHatTrick:
			was = keyOf(oldOnHatTrick, 210, e.BallID)
		case EventConsecutiveSixes:
			was = keyOf(oldSixes, 101, s.snap.Balls[1].ID)
		default:
			continue
		}
		old[key] = was
	}
	if len(old) != 7 {
		t.Fatalf("the match has %v", s.keys())
	}
	known, facts := s.state.Seen.unpack(), s.state.Announced.facts()
	for key, was := range old {
		known.remove(key)
		known.add(was)
		e := s.rows[key]
		e.Key = was
		delete(s.rows, key)
		delete(s.known, key)
		s.rows[was], s.known[was] = e, true
	}
	for i := range facts {
		f := &facts[i]
		if was, is := old[f.key]; is {
			f.key = was
		}
		_, rest, _ := strings.Cut(f.words, ":")
		for j := range s.snap.Balls {
			if f.words != "" && s.snap.Balls[j].place() == f.place() {
				f.words = strings.TrimPrefix(keyOf(oldBall, s.snap.Balls[j].ID), "b:") + ":" + rest
				break
			}
		}
	}
	s.state.Seen, s.state.Announced = known.pack(), packAnnounced(facts)
	before := len(s.confirmed)
	s.polls(4)
	s.renumber(0)
	s.polls(8)
	if got := s.confirmed[before:]; len(got) > 0 {
		t.Errorf("told again: %+v", got)
	}
	six := &s.snap.Balls[3] // the third six was a two
	s.runs(six, -4)
	six.Six, s.row(1, 101).Sixes = false, 2
	s.polls(8)
	want(t, s.keys(EventCorrection), "corr:cs:101:1006!")
	for _, was := range []string{"cs:101:1006", "b:1012"} {
		if s.known[was] {
			t.Errorf("the row %s is still there", was)
		}
	}
}
