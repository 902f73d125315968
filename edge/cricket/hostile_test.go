package cricket

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// hostile draws a snapshot with arbitrary changes to base.
func hostile(t *rapid.T, base *Snapshot) *Snapshot {
	number := rapid.OneOf(
		rapid.IntRange(-3, 12), rapid.SampledFrom([]int{0, 1, 2, 6, 50, 99, 10000, -1, math.MaxInt, math.MinInt, 1 << 40}),
	)
	id := rapid.Map(number, func(n int) int64 { return int64(n) })
	word := rapid.OneOf(rapid.SampledFrom([]string{
		"", "0.0", "12.4", "-1.2", "1e9", "999999999999999999999", "99999.9", "0.10", ".", "Run Out", "Catch Out", "SIX", "Stump Day 2",
		"Stump Day ", "Finished", "Aban.", "NS", "2nd Innings", "Innings Break", "Lunch", "x won by 3 runs (DLS)", "\x00=~!", "Target -3 runs",
	}), rapid.String())
	at := rapid.Map(rapid.IntRange(-100, 100), func(n int) time.Time { return base.StartsAt.Add(time.Duration(n) * time.Minute) })
	s := *base
	s.Innings, s.Batting = slices.Clone(s.Innings), slices.Clone(s.Batting)
	s.Bowling, s.Balls = slices.Clone(s.Bowling), slices.Clone(s.Balls)
	s.Status = Status(word.Draw(t, "status"))
	for range rapid.IntRange(0, 6).Draw(t, "changes") {
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0:
			s.Type, s.Overs = word.Draw(t, "type"), number.Draw(t, "overs")
		case 1:
			s.RevOvers, s.RevTarget = word.Draw(t, "rev"), number.Draw(t, "target")
		case 2:
			s.Winner, s.NoResult, s.Note = id.Draw(t, "winner"), word.Draw(t, "none"), word.Draw(t, "note")
		case 3:
			s.Teams = [2]Team{{ID: id.Draw(t, "team")}, {ID: id.Draw(t, "team")}}
		case 4:
			s.Innings = append(s.Innings, Innings{
				No: number.Draw(t, "no"), TeamID: id.Draw(t, "team"), Runs: number.Draw(t, "runs"), Wickets: number.Draw(t, "wickets"),
				Overs: word.Draw(t, "overs"), Penalty: number.Draw(t, "penalty"), Powerplay: number.Draw(t, "pp"), UpdatedAt: at.Draw(t, "at"),
			})
		case 5:
			s.Batting = append(s.Batting, BattingRow{
				Innings: number.Draw(t, "no"), PlayerID: id.Draw(t, "who"), Runs: number.Draw(t, "runs"), Balls: number.Draw(t, "balls"),
				Sixes: number.Draw(t, "sixes"), Out: rapid.Bool().Draw(t, "out"), HowOut: word.Draw(t, "how"), FoWOvers: word.Draw(t, "fow"),
			})
		case 6:
			s.Bowling = append(s.Bowling, BowlingRow{
				Innings: number.Draw(t, "no"), PlayerID: id.Draw(t, "who"), Overs: word.Draw(t, "overs"), Wickets: number.Draw(t, "wickets"),
				Maidens: number.Draw(t, "maidens"), Runs: number.Draw(t, "runs"),
			})
		case 7:
			s.Balls = append(s.Balls, Ball{
				ID: id.Draw(t, "id"), Innings: number.Draw(t, "no"), Over: number.Draw(t, "over"), Label: word.Draw(t, "label"),
				BatterID: id.Draw(t, "batter"), BowlerID: id.Draw(t, "bowler"), Runs: number.Draw(t, "runs"), Byes: number.Draw(t, "byes"),
				Outcome: word.Draw(t, "outcome"), Wicket: rapid.Bool().Draw(t, "wicket"), OutID: id.Draw(t, "out"), Wide: rapid.Bool().Draw(t, "wide"),
				Six: rapid.Bool().Draw(t, "six"), UpdatedAt: at.Draw(t, "at"),
			})
		case 8:
			s.Innings = s.Innings[:rapid.IntRange(0, len(s.Innings)).Draw(t, "innings")]
		case 9:
			s.Balls = s.Balls[rapid.IntRange(0, len(s.Balls)).Draw(t, "balls"):]
		case 10:
			slices.Reverse(s.Balls)
			slices.Reverse(s.Innings)
		case 11:
			s.Players, s.Batting, s.Bowling = nil, nil, nil
		}
	}
	return &s
}

// Whatever a feed sends, nothing panics, no key is recorded twice, there is at most one alert in a tick and twelve in an hour, and
// the final result is recorded.
func TestHostileSnapshots(t *testing.T) {
	script := newScript(t, 2)
	script.innings(teamA)
	script.bowl("1 4 . W 6 2wd 1 1 W . 4 6 1")
	script.innings(teamB)
	script.bowl("6 1 . W 4")
	base := script.copied()
	rapid.Check(t, func(t *rapid.T) {
		var st State
		now := base.StartsAt
		alerts := []time.Time{}
		rows := map[string]bool{}
		step := func(s *Snapshot) {
			out := Step(st, s, Options{}, now)
			st = out.State
			for _, key := range out.Cleared {
				delete(rows, key)
			}
			inTick := 0
			for _, e := range out.Events {
				if rows[e.Key] || e.Key == "" {
					t.Fatalf("%q is recorded twice", e.Key)
				}
				rows[e.Key] = true
				if e.Alert {
					inTick++
					alerts = append(alerts, now)
				}
			}
			if inTick > 1 {
				t.Fatalf("%d alerts in one tick", inTick)
			}
			if len(st.Pending) > 3*maxHeld {
				t.Fatalf("%d events are held", len(st.Pending))
			}
		}
		for range rapid.IntRange(1, 25).Draw(t, "readings") {
			s := hostile(t, &base)
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				step(s)
				now = now.Add(time.Duration(rapid.IntRange(0, 6000).Draw(t, "ms")) * time.Millisecond)
			}
		}
		for i := range alerts {
			if i >= 12 && alerts[i].Sub(alerts[i-12]) < time.Hour {
				t.Fatalf("thirteen alerts within an hour")
			}
		}
		if st.Status == ActiveEnded {
			return
		}
		end := base
		end.Status, end.Winner, end.Note = "Finished", teamA, "Alphas won by 14 runs (DLS)"
		end.Innings = slices.Clone(end.Innings)
		for range 100 { // minutes: an hour until the limit allows an alert, three for an open verdict, fifteen until the match ends
			for i := range end.Innings {
				end.Innings[i].UpdatedAt = now
			}
			step(&end)
			now = now.Add(time.Minute)
		}
		if st.Status != ActiveEnded || !rows[resultKey] && !st.Seen.Has(resultKey) {
			t.Fatalf("at the end: status %s, result recorded %v, pending %+v, doubts %d", st.Status, rows[resultKey], st.Pending, st.Doubts)
		}
	})
}
