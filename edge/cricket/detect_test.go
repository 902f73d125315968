package cricket

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// fill computes from the balls of a scripted match the boundaries of its batting rows, and its bowling rows.
func (s *script) fill() {
	s.snap.Bowling = nil
	for i := range s.snap.Batting {
		s.snap.Batting[i].Fours, s.snap.Batting[i].Sixes = 0, 0
	}
	for i := range s.snap.Balls {
		b := &s.snap.Balls[i]
		row := s.row(b.Innings, b.BatterID)
		if b.Four {
			row.Fours++
		}
		if b.Six {
			row.Sixes++
		}
		k := slices.IndexFunc(s.snap.Bowling, func(r BowlingRow) bool { return r.Innings == b.Innings && r.PlayerID == b.BowlerID })
		if k < 0 {
			k = len(s.snap.Bowling)
			s.snap.Bowling = append(s.snap.Bowling, BowlingRow{Innings: b.Innings, PlayerID: b.BowlerID, TeamID: 3 - b.TeamID})
		}
		s.snap.Bowling[k].Runs += b.Runs
		if b.Wicket {
			s.snap.Bowling[k].Wickets++
		}
	}
	for _, in := range s.snap.Innings {
		for _, o := range s.snap.maidensIn(s.snap.ballsIn(in.No)) {
			for k := range s.snap.Bowling {
				if r := &s.snap.Bowling[k]; r.Innings == in.No && r.PlayerID == o.bowler {
					r.Maidens++
				}
			}
		}
	}
}

// look returns the events of one snapshot, with or without balls, as lines "key text".
func (s *script) look(balls bool, types ...EventType) []string {
	s.fill()
	snap := s.snap
	if !balls {
		snap.Balls = nil
	}
	out := []string{}
	for _, c := range Detect(&s.state, &snap) {
		if slices.Contains(types, c.Type) {
			out = append(out, c.Key+" "+c.Text)
		}
	}
	return out
}

func TestDetectOfPlay(t *testing.T) {
	for _, tc := range []struct {
		name  string
		overs int
		play  func(s *script)
		types []EventType
		want  []string
		rows  []string // without balls; nil: the same as with balls
	}{
		{"start", 20, func(s *script) { s.innings(teamA); s.bowl(".") }, []EventType{EventMatchStart},
			[]string{"start ALP v BET is under way. ALP batting."}, nil},
		{"no ball yet", 20, func(s *script) { s.innings(teamA); s.snap.Status = "NS"; s.snap.Balls = []Ball{} },
			[]EventType{EventMatchStart}, []string{}, nil},
		{"wicket", 20, func(s *script) { s.innings(teamA); s.bowl("1 . 4 W 1") }, []EventType{EventWicket},
			[]string{"w:1:1 WICKET! P102 b P211 4 (3) · ALP 5/1 (0.4)"}, nil},
		{"last wicket", 20, func(s *script) { s.innings(teamA); s.bowl(strings.Repeat("W ", 10)) }, []EventType{EventWicket},
			nil, nil},
		{"boundaries", 20, func(s *script) { s.innings(teamA); s.bowl("4 1 6 4") }, []EventType{EventFour, EventSix},
			[]string{"4:1:101:1 FOUR! P101 · ALP 4/0 (0.1)", "6:1:102:1 SIX! P102 · ALP 11/0 (0.3)", "4:1:102:1 FOUR! P102 · ALP 15/0 (0.4)"},
			[]string{"4:1:101:1 FOUR! P101 · ALP 15/0 (0.4)", "4:1:102:1 FOUR! P102 · ALP 15/0 (0.4)", "6:1:102:1 SIX! P102 · ALP 15/0 (0.4)"}},
		{"three sixes, a wide between", 20, func(s *script) { s.innings(teamA); s.bowl("6 6 1wd 6 6 6 6") },
			[]EventType{EventConsecutiveSixes}, []string{"cs:1:101:3 Three sixes in a row! P101 · ALP 19/0 (0.3)"}, []string{}},
		{"sixes separated by a dot", 20, func(s *script) { s.innings(teamA); s.bowl("6 6 . 6 6") },
			[]EventType{EventConsecutiveSixes}, []string{}, nil},
		{"fifty and nineties", 20, func(s *script) { s.innings(teamA); s.bowl(strings.Repeat("6 . ", 15) + "2") },
			[]EventType{EventFifty, EventNineties, EventHundred}, []string{"m50:1:101 FIFTY! P101 54 (17)", " P101 92*"},
			[]string{"m50:1:101 FIFTY! P101 92 (31)", " P101 92*"}},
		{"hundred", 20, func(s *script) { s.innings(teamA); s.bowl(strings.Repeat("6 . ", 17)) },
			[]EventType{EventHundred, EventNineties}, []string{"m100:1:101 HUNDRED! P101 102 (33)"},
			[]string{"m100:1:101 HUNDRED! P101 102 (34)"}},
		{"team and partnership", 20, func(s *script) { s.innings(teamA); s.bowl("W " + strings.Repeat("6 . ", 17)) },
			[]EventType{EventTeamMilestone, EventPartnership},
			[]string{"t50:1 ALP 50 up in 3", "p50:1:2 50 stand for the 2nd wicket", "t100:1 ALP 100 up in 5.4", "p100:1:2 100 stand for the 2nd wicket"},
			[]string{"t50:1 ALP 50 up", "t100:1 ALP 100 up in 5.5", "p50:1:2 50 stand for the 2nd wicket", "p100:1:2 100 stand for the 2nd wicket"}},
		{"over and maiden", 20, func(s *script) { s.innings(teamA); s.bowl(". . . . . . 1 4 2wd W . 6 . 1") },
			[]EventType{EventOverEnd, EventMaiden},
			[]string{"md:1:1 Maiden: P211", "ov:1:1 Over 1: 0 0 0 0 0 0 (0)", "ov:1:2 Over 2: 1 4 2wd W 0 6 0 (13)"},
			[]string{"mdr:1:211:1 Maiden: P211", "ov:1:1 End of over 1", "ov:1:2 End of over 2: ALP 14/1 (2.1)"}},
		{"powerplay", 20, func(s *script) {
			s.innings(teamA)
			s.snap.Innings[0].Powerplay = 2
			s.bowl("1 . . . . W . . . . . 4 6")
		}, []EventType{EventPowerplayEnd}, []string{"pp:1 Powerplay: ALP 5/1"}, []string{"pp:1 Powerplay: ALP 11/1"}},
		{"bowler on fire", 20, func(s *script) {
			s.innings(teamA)
			s.bowl("W 1 W . W . . . . . . . W 1 W")
		}, []EventType{EventBowlerOnFire, EventFiveFor},
			[]string{"bf:1:211:3 P211 3-1", "bf:1:211:4 P211 4-1", "bf:1:211:5 P211 5-2", "5w:1:211 Five for P211 5-2"},
			[]string{"bf:1:211:3 P211 3-2", "bf:1:211:4 P211 4-2", "bf:1:211:5 P211 5-2", "5w:1:211 Five for P211 5-2"}},
		{"batter on fire", 20, func(s *script) { s.innings(teamA); s.bowl("6 6 6 . 2 . 6") }, []EventType{EventBatsmanOnFire},
			[]string{"tf:1:101 P101 20 (5)"}, []string{"tf:1:101 P101 26 (7)"}},
		{"new batter", 20, func(s *script) { s.innings(teamA); s.bowl("1 W 4") }, []EventType{EventNewBatsman},
			[]string{"nb:1:103 P103 comes in · ALP 1/1 (0.2)"}, []string{"nb:1:103 P103 comes in"}},
		{"hat-trick", 20, func(s *script) { s.innings(teamA); s.bowl("W W W W") },
			[]EventType{EventOnHatTrick, EventHatTrick},
			[]string{"oht:1:211:2 P211 on a hat-trick", "ht:1:211:3 HAT-TRICK! P211: P101, P103, P104 · ALP 0/3 (0.3)"}, []string{}},
		{"a wide breaks it", 20, func(s *script) { s.innings(teamA); s.bowl("W W 1wd W") }, []EventType{EventHatTrick}, []string{}, nil},
		{"chase", 5, func(s *script) {
			s.innings(teamA)
			s.bowl(strings.Repeat("2 ", 30))
			s.innings(teamB)
			s.bowl("4 1")
		}, []EventType{EventChaseClose}, []string{"close BET need 57 off 29"}, []string{"close BET need 56 off 28"}},
		{"target", 1, func(s *script) {
			s.innings(teamA)
			s.bowl("1 1 1 1 1 1")
			s.innings(teamB)
			s.bowl("6 W 1")
		}, []EventType{EventInningsEnd, EventResult}, []string{
			"inn:1 ALP 6/0 (1). BET need 7", "inn:2 BET reach the target: 7/1 (0.3)", "result Betas won by 9 wickets"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, tc.overs)
			s.snap.Note = ""
			tc.play(s)
			if tc.want == nil {
				got := s.look(true, tc.types...)
				if len(got) != 10 || !strings.HasSuffix(got[9], "ALP 0 all out (1.4)") {
					t.Errorf("ten wickets: %q", got)
				}
				return
			}
			want(t, s.look(true, tc.types...), tc.want...)
			if tc.rows == nil {
				tc.rows = tc.want
			}
			want(t, s.look(false, tc.types...), tc.rows...)
		})
	}
}

func TestDetectOfWords(t *testing.T) {
	for _, tc := range []struct {
		name  string
		set   func(s *script)
		types []EventType
		want  []string
	}{
		{"toss", func(s *script) { s.snap.Toss = Toss{teamB, "bowling"} }, []EventType{EventToss}, []string{"toss BET won the toss, chose to field"}},
		{"line-ups", func(s *script) { s.snap.LineUp = 22 }, []EventType{EventLineup}, []string{"xi Teams are in"}},
		{"one line-up", func(s *script) { s.snap.LineUp = 11 }, []EventType{EventLineup}, []string{}},
		{"delayed", func(s *script) { s.snap.Status = "DELAYED" }, []EventType{EventDelayed}, []string{"st:delayed Start delayed"}},
		{"delayed, with a ball bowled", func(s *script) { s.innings(teamA); s.bowl("1"); s.snap.Status = "Delayed" },
			[]EventType{EventDelayed}, []string{}},
		{"postponed", func(s *script) { s.snap.Status = "Postp." }, []EventType{EventPostponed, EventAbandoned},
			[]string{"st:postp Match postponed"}},
		{"cancelled", func(s *script) { s.snap.Status = "Cancl" }, []EventType{EventCancelled, EventAbandoned},
			[]string{"st:cancl Match cancelled"}},
		{"rain", func(s *script) { s.innings(teamA); s.bowl("1 4 ."); s.snap.Status = "Int." }, []EventType{EventInterrupted},
			[]string{"int:0.3 Rain stops play: ALP 5/0 (0.3)"}},
		{"bad light", func(s *script) { s.innings(teamA); s.bowl("1"); s.snap.Status, s.snap.Note = "int", "Bad light" },
			[]EventType{EventInterrupted}, []string{"int:0.1 Bad light stops play: ALP 1/0 (0.1)"}},
		{"lunch", func(s *script) { s.multiDay(); s.innings(teamA); s.bowl("1 4 W"); s.snap.Status = "Lunch" },
			[]EventType{EventLunch}, []string{"brk:1:lunch Lunch: ALP 5/1"}},
		{"tea on the second day", func(s *script) {
			s.multiDay()
			s.innings(teamA)
			s.bowl("1 4 W")
			s.snap.Status = "Stump Day 1"
			s.polls(3)
			s.snap.Status = "Tea Break"
		}, []EventType{EventTea}, []string{"brk:2:tea break Tea: ALP 5/1"}},
		{"drinks", func(s *script) { s.innings(teamA); s.bowl("1"); s.snap.Status = "Drinks" }, []EventType{EventDrinks},
			[]string{"brk:1:drinks Drinks: ALP 1/0 (0.1)"}},
		{"dinner", func(s *script) { s.innings(teamA); s.bowl("1"); s.snap.Status = "Dinner" }, []EventType{EventDinner},
			[]string{"brk:1:dinner Dinner: ALP 1/0 (0.1)"}},
		{"stumps", func(s *script) {
			s.multiDay()
			s.innings(teamA)
			s.bowl("4 4")
			s.innings(teamB)
			s.bowl("1 2")
			s.snap.Status = "Stump Day 2"
		}, []EventType{EventStumps, EventDeclared}, []string{"dec:1 ALP declare 8/0", "stumps:2 Stumps day 2: BET 3/0, trail by 5"}},
		{"revised target", func(s *script) { s.second("1 4 ."); s.snap.RevTarget, s.snap.RevOvers = 151, "18.0" },
			[]EventType{EventTargetRevised}, []string{"dls:151:18 Revised target: 151 off 18 (DLS)"}},
		{"fewer overs", func(s *script) { s.innings(teamA); s.bowl("1"); s.snap.RevOvers = "18.0" },
			[]EventType{EventTargetRevised}, []string{"dls:0:18 Match reduced to 18 overs a side"}},
		{"the note's number", func(s *script) { s.second("1 4 ."); s.snap.Note = "Target 90 runs" },
			[]EventType{EventTargetRevised}, []string{"dls:90: Revised target: 90"}},
		{"the number it would be", func(s *script) { s.second("1 4 ."); s.snap.Note = "Target 6 runs" },
			[]EventType{EventTargetRevised}, []string{}},
		{"super over by the note", func(s *script) {
			s.snap.Overs = 1
			s.second("1 1 1 1 1 1", "2 2 2 . . .")
			s.snap.Status, s.snap.Note = "Innings Break", "Super Over"
		}, []EventType{EventSuperOver}, []string{"so:1 Scores level – super over!"}},
		{"super over by the flag", func(s *script) {
			s.snap.Overs = 1
			s.second("1 1 1 1 1 1", "2 2 2 . . .")
			s.snap.Status, s.snap.SuperOver = "Innings Break", true
		}, []EventType{EventSuperOver}, []string{"so:1 Scores level – super over!"}},
		{"no super over when scores differ", func(s *script) {
			s.snap.Overs = 1
			s.second("1 1 1 1 1 1", "2 2 . . . .")
			s.snap.Status, s.snap.Note = "Innings Break", "Super Over"
		}, []EventType{EventSuperOver}, []string{}},
		{"follow-on by the flag", func(s *script) {
			s.multiDay()
			s.innings(teamA)
			s.bowl("6 6 6")
			s.innings(teamB)
			s.bowl(strings.Repeat("W ", 10))
			s.snap.FollowOn, s.snap.Status = true, "Innings Break"
		}, []EventType{EventFollowOn}, []string{"fo BET follow on, trail by 18"}},
		{"forfeited without a score line", func(s *script) {
			s.multiDay()
			s.innings(teamA)
			s.bowl("6 6 6")
			s.innings(teamA)
			s.snap.Innings[1].No = 3
			s.snap.Status = "3rd Innings"
		}, []EventType{EventInningsEnd}, []string{"inn:1 ALP 18/0 dec (0.3)", "inn:2 BET forfeit the innings"}},
		{"player of the match", func(s *script) { s.second("1"); s.snap.Status, s.snap.Player = "Finished", 101 },
			[]EventType{EventPlayerOfMatch}, []string{"pom Player of the match: Player 101"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, 20)
			tc.set(s)
			want(t, s.look(true, tc.types...), tc.want...)
		})
	}
}

func (s *script) multiDay() { s.snap.Overs, s.snap.Type = 0, "Test/5day" }

// second bowls a first innings and the given balls of a second.
func (s *script) second(first string, then ...string) {
	s.innings(teamA)
	s.bowl(first)
	s.innings(teamB)
	for _, balls := range then {
		s.bowl(balls)
	}
}

func TestDetectResults(t *testing.T) {
	ends := []EventType{EventResult, EventTie, EventDraw, EventNoResult, EventAbandoned}
	for _, tc := range []struct {
		name string
		set  func(s *Snapshot)
		kind EventType
		text string
	}{
		{"by runs", func(s *Snapshot) { s.Winner, s.Note = teamA, "Alphas won by 2 runs" }, EventResult, "Alphas won by 2 runs"},
		{"without a note", func(s *Snapshot) { s.Winner = teamA }, EventResult, "Alphas won by 2 runs"},
		{"by the rain rule, without a note", func(s *Snapshot) { s.Winner, s.RevTarget = teamB, 4 }, EventResult, "Betas won by 10 wickets (DLS)"},
		{"note of another", func(s *Snapshot) { s.Winner, s.Note = teamA, "Target 7 runs" }, EventResult, "Alphas won by 2 runs"},
		{"super over", func(s *Snapshot) { s.Winner, s.Note = teamB, "Match tied (Betas won the Super Over)" }, EventResult, "Betas won the Super Over"},
		{"tie", func(s *Snapshot) { s.NoResult = "tie" }, EventTie, "Match tied"},
		{"tie by the note", func(s *Snapshot) { s.Note = "Match tied (DLS)" }, EventTie, "Match tied (DLS)"},
		{"tie by the scores", func(s *Snapshot) { s.Innings[1].Runs = 6 }, EventTie, "Match tied"},
		{"draw", func(s *Snapshot) { s.NoResult = "Draw" }, EventDraw, "Match drawn"},
		{"no result", func(s *Snapshot) { s.NoResult = "no result" }, EventNoResult, "No result"},
		{"abandoned", func(s *Snapshot) { s.Status = "Aban." }, EventAbandoned, "Match abandoned"},
		{"awarded", func(s *Snapshot) { s.Winner, s.Note = teamA, "Alphas won (match awarded)" }, EventResult, "Alphas won (match awarded)"},
		{"nobody named", func(*Snapshot) {}, EventResult, "Match over: ALP 6/0 (1), BET 4/0 (1)"},
		{"a side without a name", func(s *Snapshot) { s.Winner, s.Teams[0].Name = teamA, "" }, EventResult, "ALP won by 2 runs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, 1)
			s.second("1 1 1 1 1 1", "2 2 . . . .")
			s.snap.Status = "Finished"
			tc.set(&s.snap)
			all := Detect(nil, &s.snap)
			i := slices.IndexFunc(all, func(c Candidate) bool { return slices.Contains(ends, c.Type) })
			if i < 0 || all[i].Type != tc.kind || all[i].Text != tc.text || all[i].Key != "result" {
				t.Errorf("%+v\nwant %s %q", all[max(0, i)], tc.kind, tc.text)
			}
		})
	}
}

func TestInningsEnds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		overs int
		set   func(s *script)
		want  Cause // of the first innings
	}{
		{"goes on", 20, func(s *script) { s.bowl("1") }, CauseNone},
		{"all out", 20, func(s *script) { s.bowl(strings.Repeat("W ", 10)) }, CauseAllOut},
		{"out of overs", 1, func(s *script) { s.bowl("1 1 1 1 1 1") }, CauseOvers},
		{"out of fewer overs", 20, func(s *script) { s.bowl("1 1 1 1 1 1"); s.snap.RevOvers = "1.0" }, CauseOvers},
		{"overs that rain took off the chase", 20, func(s *script) {
			s.bowl("1 1 1 1 1 1 1")
			s.snap.RevOvers, s.snap.Status = "1.0", "Innings Break"
		}, CauseClosed},
		{"closed", 20, func(s *script) { s.bowl("1"); s.snap.Status = "Innings Break" }, CauseClosed},
		{"two absent", 20, func(s *script) { s.bowl(strings.Repeat("W ", 8)); s.snap.Status = "Innings Break" }, CauseAllOut},
		{"eight down and playing", 20, func(s *script) { s.bowl(strings.Repeat("W ", 8)) }, CauseNone},
		{"declared", 0, func(s *script) { s.bowl("6"); s.innings(teamB) }, CauseDeclared},
		{"declared nine down", 0, func(s *script) { s.bowl(strings.Repeat("W ", 9)); s.innings(teamB) }, CauseDeclared},
		{"one retired hurt, nine down", 0, func(s *script) {
			s.bowl("1 1")
			s.pair[0] = s.next // 101 goes off
			s.next++
			s.snap.Batting = append(s.snap.Batting, BattingRow{Innings: 1, TeamID: teamA, PlayerID: s.pair[0]})
			s.bowl(strings.Repeat("W ", 9))
			s.innings(teamB)
		}, CauseAllOut},
		{"forfeited", 0, func(s *script) { s.innings(teamB) }, CauseForfeited},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, tc.overs)
			s.innings(teamA)
			tc.set(s)
			if got := s.snap.CauseOfEnd(&s.snap.Innings[0]); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// Players and teams may lack a name or a code, or have a long name.
func TestTextsWithoutNames(t *testing.T) {
	s := newScript(t, 20)
	s.snap.Players = map[int64]Name{101: {Full: "A Player with a name that no phone has room for", Last: ""}}
	s.snap.Teams[0].Code, s.snap.Teams[1] = "", Team{ID: teamB}
	s.innings(teamA)
	s.bowl("4 1 W . . .")
	want(t, s.look(true, EventMatchStart, EventFour, EventWicket, EventNewBatsman),
		"start Alphas v Team 2 is under way. Alphas batting.",
		"4:1:101:1 FOUR! A Player with a name th… · Alphas 4/0 (0.1)",
		"w:1:1 WICKET! Batter bowled 0 (1) · Alphas 5/1 (0.3)",
		"nb:1:103 New batter comes in · Alphas 5/1 (0.3)")
}

// A wicket known only from the score is reported without a batter.
func TestNamelessWicket(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.bowl("1 1")
	s.snap.Innings[0].Wickets = 1
	all := Detect(&s.state, &s.snap)
	i := slices.IndexFunc(all, func(c Candidate) bool { return c.Type == EventWicket })
	if i < 0 || all[i].Key != "w:1:1" || all[i].Text != "WICKET! ALP 2/1 (0.2)" || all[i].Subject != unknownSubject {
		t.Errorf("%+v", all)
	}
}

// Every type has the priority, alert, option, cooldown and permanence of the catalogue, and its name on the wire.
func TestCatalogue(t *testing.T) {
	const minute = time.Minute
	for kind, want := range map[EventType]rule{
		EventMatchStart: {4, true, false, 0, false}, EventToss: {5, false, true, 0, true}, EventLineup: {6, false, false, 0, false},
		EventDelayed: {2, true, false, 10 * minute, false}, EventPostponed: {2, true, false, 0, false}, EventCancelled: {2, true, false, 0, false},
		EventWicket: {2, true, false, 0, true}, EventHatTrick: {1, true, false, 0, true}, EventOnHatTrick: {4, false, true, 0, false},
		EventFiveFor: {3, true, false, 0, true}, EventTenFor: {3, true, false, 0, true},
		EventSix: {5, false, true, minute, false}, EventFour: {6, false, true, minute, false},
		EventConsecutiveSixes: {4, true, false, 2 * minute, true}, EventFifty: {3, true, false, minute / 2, true},
		EventHundred: {2, true, false, 0, true}, Event300: {2, true, false, 0, true}, EventNineties: {7, false, false, 0, false},
		EventTeamMilestone: {6, false, true, 0, false}, EventPartnership: {6, false, false, 0, false},
		EventOverEnd: {7, false, false, 0, false}, EventMaiden: {7, false, false, 0, false},
		EventBowlerOnFire: {6, false, false, 10 * minute, false}, EventBatsmanOnFire: {6, false, false, 10 * minute, false},
		EventNewBatsman: {7, false, false, minute / 2, false}, EventPowerplayEnd: {7, false, false, 0, false},
		EventDrinks: {5, false, false, 0, false}, EventLunch: {5, false, false, 0, false}, EventTea: {5, false, false, 0, false},
		EventDinner: {5, false, false, 0, false}, EventStumps: {4, true, false, 10 * minute, false},
		EventInterrupted: {4, true, false, 10 * minute, false}, EventResumed: {4, false, false, 10 * minute, false},
		EventTargetRevised: {2, true, false, 0, true}, EventInningsEnd: {2, true, false, 0, true},
		EventFollowOn: {3, true, false, 0, true}, EventDeclared: {3, false, false, 0, true},
		EventSuperOver: {1, true, false, 0, true}, EventChaseClose: {4, true, false, 0, true},
		EventResult: {1, true, false, 0, true}, EventTie: {1, true, false, 0, true},
		EventDraw: {1, true, false, 0, true}, EventNoResult: {1, true, false, 0, true}, EventAbandoned: {1, true, false, 0, true},
		EventPlayerOfMatch: {7, false, false, 0, true}, EventCorrection: {3, false, false, 0, false},
	} {
		if got := ruleOf(kind); got != want {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}
	}
	for kind, want := range map[EventType]string{
		EventResult: "match_end", EventAbandoned: "match_end", EventHatTrick: "hattrick",
		EventOnHatTrick: "on_hattrick", EventNineties: "batsman_on_90s", EventWicket: "wicket", EventTea: "tea",
	} {
		if got := WireType(kind); got != want {
			t.Errorf("%s on the wire: %s, want %s", kind, got, want)
		}
	}
}

// Teams keep their names when the feed leaves them out for longer than a snapshot is doubted; a new name replaces the old one.
func TestSidesKeepTheirNames(t *testing.T) {
	s := newScript(t, 20)
	s.innings(teamA)
	s.play("1 1")
	named := s.snap.Teams
	s.snap.Teams = [2]Team{{ID: teamA}, {ID: teamB}}
	s.polls(doubtPolls + 1)
	s.play("W")
	s.polls(3)
	if got := s.texts(EventWicket); len(got) != 1 || !strings.Contains(got[0], "· ALP 2/1") {
		t.Errorf("announced without the team: %q", got)
	}
	s.snap.Teams = named
	s.snap.Teams[0].Code = "NEW"
	s.play("W")
	s.polls(3)
	if got := s.texts(EventWicket); len(got) != 2 || !strings.Contains(got[1], "· NEW 2/2") {
		t.Errorf("announced without the new name: %q", got)
	}
}

// What is close is as the table of twelve cases has it that the app's developers read.
func TestCloseChases(t *testing.T) {
	page, err := os.ReadFile("../../docs/live-activities.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| needed | balls left | wickets in hand | close |\n|---|---|---|---|\n")
	cases := 0
	for line := range strings.Lines(table) {
		var need, left, wickets int
		var answer string
		if n, _ := fmt.Sscanf(line, "| %d | %d | %d | %s |", &need, &left, &wickets, &answer); n < 4 {
			break
		}
		cases++
		if got := isClose(need, left, wickets, 6); got != (answer == "yes") {
			t.Errorf("%d off %d with %d wickets in hand: close is %t", need, left, wickets, got)
		}
	}
	if cases != 12 {
		t.Errorf("the page has %d cases", cases)
	}
}

// A close chase is told once, and once more in the last over.
func TestCloseChaseInTheLastOver(t *testing.T) {
	s := newScript(t, 3)
	s.innings(teamA)
	s.play("4 4 4 4 4 4 4 1")
	s.snap.Status = "Innings Break"
	s.polls(6)
	s.innings(teamB)
	s.play("1 4 1 2 1 2 1 1 1 1 1 1 1 1 1")
	want(t, s.keys(EventChaseClose), "close!", "close:last!")
	want(t, s.texts(EventChaseClose), "BET need 29 off 17", "BET need 13 off 6")
}
