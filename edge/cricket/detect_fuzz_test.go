package cricket

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// mutilated draws changes to a scripted match: inconsistent numbers, rows of innings that do not exist, unknown words.
func mutilated(t *rapid.T, s *script) Snapshot {
	snap := s.snap
	snap.Innings = append([]Innings(nil), snap.Innings...)
	snap.Balls = append([]Ball(nil), snap.Balls...)
	snap.Batting = append([]BattingRow(nil), snap.Batting...)
	snap.Bowling = append([]BowlingRow(nil), snap.Bowling...)
	small := rapid.IntRange(-3, 12)
	label := rapid.SampledFrom([]string{"", "0.0", "0.1", "7", "-1.2", "x", "19.6", "3.", ".4", "99999999999999999999.1"})
	for range rapid.IntRange(1, 12).Draw(t, "changes") {
		switch rapid.IntRange(0, 13).Draw(t, "what") {
		case 0:
			snap.Status = Status(rapid.SampledFrom([]string{
				"", "NS", "Finished", "Int.", "Aban.", "Cancl", "Stump Day 2", "Stump Day x", "Lunch", "Innings Break", "Delayed", "?",
			}).Draw(t, "status"))
		case 1:
			snap.Note = rapid.SampledFrom([]string{"", "Target", "Target 5", "Target -4 runs", "Match tied (", "Super Over", "won"}).Draw(t, "note")
		case 2:
			snap.Overs, snap.RevOvers = small.Draw(t, "overs"), label.Draw(t, "revised")
		case 3:
			snap.RevTarget, snap.Winner = small.Draw(t, "target"), rapid.Int64Range(-1, 3).Draw(t, "winner")
		case 4:
			snap.Type = rapid.SampledFrom([]string{"", "100-Ball", "Test"}).Draw(t, "type")
		case 5:
			snap.Innings = append(snap.Innings, Innings{No: small.Draw(t, "no"), TeamID: rapid.Int64Range(0, 3).Draw(t, "team"), Overs: label.Draw(t, "o")})
		case 6:
			if n := len(snap.Innings); n > 0 {
				in := &snap.Innings[rapid.IntRange(0, n-1).Draw(t, "innings")]
				in.No, in.Runs, in.Wickets, in.Overs = small.Draw(t, "no"), small.Draw(t, "runs"), small.Draw(t, "wickets"), label.Draw(t, "o")
			}
		case 7:
			if n := len(snap.Innings); n > 0 {
				snap.Innings = snap.Innings[:rapid.IntRange(0, n-1).Draw(t, "kept")]
			}
		case 8:
			if n := len(snap.Balls); n > 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "ball")
				b := &snap.Balls[i]
				b.Label, b.Over, b.BatterID = label.Draw(t, "label"), small.Draw(t, "over"), rapid.Int64Range(0, 203).Draw(t, "batter")
				b.Wicket, b.Wide, b.Runs = rapid.Bool().Draw(t, "wicket"), rapid.Bool().Draw(t, "wide"), small.Draw(t, "runs")
			}
		case 9:
			if n := len(snap.Balls); n > 0 {
				snap.Balls = snap.Balls[rapid.IntRange(0, n).Draw(t, "from"):]
			}
		case 10:
			snap.Balls = nil
		case 11:
			if n := len(snap.Batting); n > 0 {
				r := &snap.Batting[rapid.IntRange(0, n-1).Draw(t, "row")]
				r.Runs, r.Fours, r.Sixes, r.Out = rapid.IntRange(-5, 400).Draw(t, "runs"), small.Draw(t, "fours"), small.Draw(t, "sixes"), rapid.Bool().Draw(t, "out")
				r.FoWOvers, r.FoWRuns, r.Innings = label.Draw(t, "fow"), small.Draw(t, "at"), small.Draw(t, "in")
			}
		case 12:
			snap.Bowling = append(snap.Bowling, BowlingRow{Innings: small.Draw(t, "in"), PlayerID: 211, Wickets: small.Draw(t, "w"), Maidens: small.Draw(t, "m")})
		case 13:
			snap.Players, snap.Teams[0] = nil, Team{}
		}
	}
	// Every snapshot has its score lines sorted by number, each once, and its balls sorted by innings.
	slices.SortStableFunc(snap.Innings, func(a, b Innings) int { return a.No - b.No })
	snap.Innings = slices.CompactFunc(snap.Innings, func(a, b Innings) bool { return a.No == b.No })
	slices.SortStableFunc(snap.Balls, func(a, b Ball) int { return a.Innings - b.Innings })
	return snap
}

// Whatever snapshots a feed sends, detection, display, card and memory do not panic; detection finds the same number of events
// twice and no key twice.
func TestDetectAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScript(t, 3)
		for n := range rapid.IntRange(0, 4).Draw(rt, "innings") {
			s.innings(int64(1 + n%2))
			for range rapid.IntRange(0, 18).Draw(rt, "balls") {
				if s.snap.Innings[n].Wickets >= 9 {
					break
				}
				s.ball(rapid.SampledFrom([]string{".", "1", "2", "4", "6", "W", "1wd"}).Draw(rt, "ball"))
			}
		}
		s.fill()
		st := State{}
		for range 3 {
			snap := mutilated(rt, s)
			snap.ReadAt = s.now
			all := Detect(&st, &snap)
			if again := Detect(&st, &snap); len(again) != len(all) {
				rt.Fatalf("%d events, then %d", len(all), len(again))
			}
			keys := map[string]bool{}
			for _, c := range all {
				if c.Text == "" || c.Type == "" || c.Key != "" && keys[c.Key] {
					rt.Fatalf("%+v", c)
				}
				keys[c.Key] = true
			}
			for i := range all {
				st.Seen = st.Seen.WithKeys(all[i].Key)
			}
			st.Memory = st.Memory.next(&st, &snap, st.Seen.unpack())
			_ = snap.display(&st, all, s.now)
			for i := range snap.Innings {
				_ = snap.card(&snap.Innings[i])
			}
			st.remember(&snap, s.now)
			s.now = s.now.Add(10 * time.Second)
		}
	})
}
