package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket/replay/recording"
)

func TestScoreOfADelivery(t *testing.T) {
	out := func(kinds ...recording.Kind) (w []recording.Wicket) {
		for _, k := range kinds {
			w = append(w, recording.Wicket{Kind: k})
		}
		return w
	}
	tests := []struct {
		d    recording.Delivery
		want score
	}{
		{recording.Delivery{}, score{id: 82, name: "No Run", ball: true}},
		{recording.Delivery{Bat: 1}, score{id: 69, name: "1 Run", runs: 1, ball: true}},
		{recording.Delivery{Bat: 3}, score{name: "3 Runs", runs: 3, ball: true}},
		{recording.Delivery{Bat: 4}, score{id: 47, name: "FOUR", runs: 4, four: true, ball: true}},
		{recording.Delivery{Bat: 4, Run: true}, score{name: "4 Runs", runs: 4, ball: true}},
		{recording.Delivery{Bat: 6}, score{name: "SIX", runs: 6, six: true, ball: true}},
		{recording.Delivery{Bat: 6, Run: true}, score{name: "6 Runs", runs: 6, ball: true}},
		{recording.Delivery{Wides: 1}, score{id: 17, name: "1 Wide", runs: 1}},
		{recording.Delivery{Wides: 5}, score{id: 52, name: "5 Wides", runs: 5}},
		{recording.Delivery{Byes: 4}, score{name: "4 Bye", bye: 4, ball: true}},
		{recording.Delivery{LegByes: 1}, score{id: 4, name: "1 Leg Bye", legBye: 1, ball: true}},
		{recording.Delivery{NoBalls: 1}, score{name: "1 No Ball", runs: 1, noBall: 1, noBallRuns: 1, ball: true}},
		{recording.Delivery{NoBalls: 2, Bat: 1}, score{name: "2 No Ball + 1 Run", runs: 3, noBall: 1, noBallRuns: 2, ball: true}},
		{recording.Delivery{NoBalls: 1, Bat: 6}, score{name: "1 No Ball + Six", runs: 7, six: true, noBall: 1, noBallRuns: 1, ball: true}},
		{recording.Delivery{NoBalls: 1, Byes: 1}, score{id: 114, name: "1 No Ball + 1 Bye", runs: 1, bye: 1, noBall: 1, noBallRuns: 1, ball: true}},
		{recording.Delivery{NoBalls: 1, LegByes: 2}, score{name: "1 No Ball + 2 Leg Bye", runs: 1, legBye: 2, noBall: 1, noBallRuns: 1, ball: true}},
		{recording.Delivery{Penalty: 5}, score{id: 82, name: "No Run", ball: true}},
		{recording.Delivery{Wickets: out(recording.Caught)}, score{id: 54, name: "Catch Out", wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Wickets: out(recording.CaughtAndBowled)}, score{id: 54, name: "Catch Out", wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Wickets: out(recording.Bowled)}, score{id: 79, name: "Clean Bowled", wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Wickets: out(recording.LBW)}, score{id: 83, name: "LBW OUT", wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Bat: 1, Wickets: out(recording.RunOut, recording.RetiredOut)}, score{name: "Run Out + 1 Run", runs: 1, wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Wides: 1, Wickets: out(recording.Stumped)}, score{name: "Stump Out + 1 Wide", runs: 1, wicket: true, isOut: true}},
		{recording.Delivery{NoBalls: 1, Bat: 1, Wickets: out(recording.RunOut)}, score{name: "Run Out + 1 No Ball + 1 Run", runs: 2, noBall: 1, noBallRuns: 1, wicket: true, isOut: true, ball: true}},
		{recording.Delivery{Bat: 1, Wickets: out(recording.RetiredHurt)}, score{id: 69, name: "1 Run", runs: 1, ball: true}},
		{recording.Delivery{Wickets: out(recording.RetiredHurt, recording.RetiredNotOut)}, score{id: 82, name: "No Run", ball: true}},
		{recording.Delivery{Wickets: out(recording.Obstructing)}, score{name: "Obstructing the Field", wicket: true, isOut: true, ball: true}},
	}
	for _, tt := range tests {
		got := scoreOf(&tt.d)
		if tt.want.id == 0 { // the real feed's id is not known: any id of our own
			if got.id < scoreFirstOwn {
				t.Errorf("%s: id %d", got.name, got.id)
			}
			tt.want.id = got.id
		}
		if got != tt.want {
			t.Errorf("%+v:\n got %+v\nwant %+v", tt.d, got, tt.want)
		}
	}
}

// After a run out and a retirement on one ball, the ball shows the run out, while rows and score line count both.
func TestTwoWicketsOnOneBall(t *testing.T) {
	d := newDesk(t, "1208093")
	f := d.fixture(d.m.End())
	wickets := map[string]int{}
	for i := range f.Balls {
		if b := &f.Balls[i]; b.Scoreboard == "S2" && b.Score.IsWicket {
			wickets[b.Score.Name]++
		}
	}
	if f.Runs[1].Wickets != 8 || wickets["Run Out + 1 Run"] != 1 || wickets["Retired Out"] != 0 {
		t.Errorf("score line %+v, balls %v", f.Runs[1], wickets)
	}
	gone := 0
	for _, b := range f.Batting {
		if b.Scoreboard == "S2" && b.FowBalls == "19.5" && b.Wicket != scoreNotOut {
			gone++
		}
	}
	if gone != 2 {
		t.Errorf("%d batters were out on 19.5: %+v", gone, f.Batting)
	}
}

// A batter who retired hurt is shown as not out, on his row and on the balls. His substitute is in the line-up, marked as
// one.
func TestRetiredHurtAndSubstitute(t *testing.T) {
	d := newDesk(t, "1195619")
	f := d.fixture(d.m.End())
	ids := map[string]seenPlayer{}
	for _, p := range f.Lineup {
		ids[p.Fullname] = p
	}
	if len(f.Lineup) < 23 || !ids["TLW Cooper"].Lineup.Subst || ids["SB Harper"].Lineup.Subst {
		t.Errorf("line-up: %+v", f.Lineup)
	}
	for _, b := range f.Batting {
		if b.Player == ids["SB Harper"].ID && (b.Wicket != scoreNotOut || b.FowScore != 0) {
			t.Errorf("the batter who retired hurt: %+v", b)
		}
	}
	for i := range f.Balls {
		if b := &f.Balls[i]; b.Out == ids["SB Harper"].ID && b.Out != 0 {
			t.Errorf("a ball shows him as out: %+v", b)
		}
	}
}

// Penalty runs are in the score line and in the extras, but not in a ball.
func TestPenaltyRuns(t *testing.T) {
	for _, tt := range []struct {
		id      string
		innings int
		runs    int
		ball    int // balls of the innings when they first show
		before  int // runs on the score line just before
	}{
		{"1269656", 1, 5, 1, 0},    // before the first ball
		{"335988", 1, 5, 74, 106},  // on a ball
		{"947101", 0, 6, 125, 236}, // after the last ball
	} {
		d := newDesk(t, tt.id)
		before, found := 0, false
		for i := range d.m.moments {
			mo := &d.m.moments[i]
			if mo.Begun <= tt.innings {
				continue
			}
			c := d.m.cards(&view{Moment: *mo})[tt.innings]
			if c.penalty == 0 {
				before = c.runs
				continue
			}
			found = true
			f := d.fixture(mo.At)
			extra := f.Scoreboards[2*tt.innings]
			if extra.Penalty != tt.runs || before != tt.before || countBalls(f, tt.innings) != tt.ball {
				t.Errorf("%s: %d penalty runs on %d after %d balls", tt.id, extra.Penalty, before, countBalls(f, tt.innings))
			}
			break
		}
		if !found {
			t.Errorf("%s: no penalty runs", tt.id)
		}
	}
}

func countBalls(f *seenFixture, innings int) int {
	n := 0
	for i := range f.Balls {
		if f.Balls[i].Scoreboard == scoreboard(innings+1) {
			n++
		}
	}
	return n
}

// A forfeited innings appears, empty, with the first ball of the next one.
func TestForfeitedInnings(t *testing.T) {
	d := newDesk(t, "1244270")
	first := 0
	for d.m.balls[first].innings < 3 {
		first++
	}
	before, after := d.fixture(d.m.balls[first].at.Add(-1)), d.fixture(d.m.balls[first].at)
	if len(before.Runs) != 2 || len(after.Runs) != 4 {
		t.Fatalf("%d innings, then %d", len(before.Runs), len(after.Runs))
	}
	r := after.Runs[2]
	if r.Score != 0 || r.Wickets != 0 || r.Overs != "0" || r.Team != after.Runs[0].Team || r.UpdatedAt != d.m.balls[first].at {
		t.Errorf("%+v", r)
	}
}

func TestCourseOfAMatch(t *testing.T) {
	type seen struct {
		Status, Note string
		SuperOver    bool
		FollowOn     bool
		Winner       bool
	}
	look := func(id string) (all []seen) {
		d := newDesk(t, id)
		for _, mo := range d.m.moments[1:] {
			w := d.get(mo.At, "/fixtures/"+id+"?api_token=secret")
			var env struct{ Data seenFixture }
			d.decode(w.Body.Bytes(), &env)
			s := seen{env.Data.Status, env.Data.Note, env.Data.SuperOver, env.Data.FollowOn, env.Data.Winner != 0}
			if len(all) == 0 || s != all[len(all)-1] {
				all = append(all, s)
			}
		}
		return all
	}
	want := []seen{
		{Status: "NS"},
		{Status: "1st Innings"},
		{Status: "Innings Break", Note: "Target 177 runs"},
		{Status: "2nd Innings", Note: "Target 177 runs"},
		{Status: "Innings Break", Note: "Super Over"},
		{Status: "3rd Innings", Note: "Super Over", SuperOver: true},
		{Status: "Innings Break", Note: "Target 6 runs", SuperOver: true},
		{Status: "4th Innings", Note: "Target 6 runs", SuperOver: true},
		{Status: "Innings Break", Note: "Super Over", SuperOver: true},
		{Status: "3rd Innings", Note: "Super Over", SuperOver: true},
		{Status: "Innings Break", Note: "Target 12 runs", SuperOver: true},
		{Status: "4th Innings", Note: "Target 12 runs", SuperOver: true},
		{Status: "Finished", Note: "Match tied (Kings XI Punjab won the Super Over)", SuperOver: true, Winner: true},
	}
	if diff := cmp.Diff(want, look("1216517")); diff != "" {
		t.Errorf("two super overs (-want +got):\n%s", diff)
	}
	var followOn []string
	for _, s := range look("1166935") {
		if s.FollowOn {
			followOn = append(followOn, s.Status)
		}
	}
	if got := strings.Join(followOn, ", "); got != "3rd Innings, Finished" {
		t.Errorf("follow-on in %s", got)
	}
}

func TestLineup(t *testing.T) {
	d := newDesk(t, final)
	if f := d.fixture(d.m.balls[0].at.Add(-tossBefore - 1)); f.TossWon != 0 || len(f.Lineup) != 0 || f.Status != "NS" {
		t.Errorf("before the toss: %+v", f)
	}
	f := d.fixture(d.m.Start())
	if f.TossWon != f.Visitor.ID || f.Status != "NS" {
		t.Errorf("after the toss: %d, %s", f.TossWon, f.Status)
	}
	sides := map[int64]int{}
	for _, p := range f.Lineup {
		if !p.Lineup.Subst {
			sides[p.Lineup.Team]++
		}
	}
	if sides[f.Local.ID] != 11 || sides[f.Visitor.ID] != 11 {
		t.Errorf("sides of %v", sides)
	}
}

// Every side has eleven players; supersubs, impact players and substitute fielders do not count.
func TestElevenASide(t *testing.T) {
	for _, in := range List() {
		m := mustLoad(t, in.ID)
		for i := range m.rec.Teams {
			eleven := 0
			for _, p := range m.rec.Teams[i].Players {
				if p.Listed && !p.SuperSub && !p.Substitute {
					eleven++
				}
			}
			if eleven != 11 {
				t.Errorf("%s: %s has %d", in.ID, m.rec.Teams[i].Name, eleven)
			}
		}
	}
}

// The pair of a ball are the batters at the crease before it, in batting order, whoever is on strike.
func TestPairAtTheCrease(t *testing.T) {
	d := newDesk(t, final)
	f := d.fixture(d.m.End())
	order := map[string]map[int64]int{}
	for _, b := range f.Batting {
		if order[b.Scoreboard] == nil {
			order[b.Scoreboard] = map[int64]int{}
		}
		order[b.Scoreboard][b.Player] = len(order[b.Scoreboard])
	}
	swapped := 0
	for i := range f.Balls {
		b := &f.Balls[i]
		if order[b.Scoreboard][b.One] >= order[b.Scoreboard][b.Two] {
			t.Errorf("%s %s: %d before %d", b.Scoreboard, b.Ball, b.One, b.Two)
		}
		if b.Batsman != b.One && b.Batsman != b.Two {
			t.Errorf("%s %s: the striker is not one of the pair", b.Scoreboard, b.Ball)
		}
		if b.Batsman == b.Two {
			swapped++
		}
	}
	if swapped == 0 {
		t.Error("the later batter was never on strike")
	}
}

func TestNamesAndKinds(t *testing.T) {
	for _, in := range List() {
		if in.Type == "" || in.Event == "" || in.Venue == "" || in.Why == "" || in.Balls == 0 {
			t.Errorf("%+v", in)
		}
	}
	for id, want := range map[string][4]string{ // type, league code, stage, round
		"1144530": {"ODI", "WC", "Final", "Final"},
		"1086066": {"Test/5day", "WA", "Women's Ashes", ""},
		"1260097": {"T20I", "T20I", "India Women tour of England", "1st T20I"},
		"1252718": {"100-Ball", "HWC", "The Hundred Women's Competition", "19th Match"},
		"1347416": {"List A", "RHFT", "Rachael Heyhoe Flint Trophy", "14th Match"},
		"1166919": {"4day", "SCC", "Group 1", ""},
		"1216517": {"T20", "IPL", "Indian Premier League", "36th Match"},
		"1239545": {"Test/5day", "TEST", "India tour of England", "3rd Test"},
	} {
		m := mustLoad(t, id)
		_, code, stage := competition(m.rec)
		if got := [4]string{feedType(m.rec), code, stage, round(m.rec)}; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for name, want := range map[string]string{"England": "ENG", "Some New Club": "SNC", "Elsewhere": "ELS", "Ox": "OX"} {
		if got := teamCode(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := scheduledOvers(mustLoad(t, "1334418").rec); got != 20 {
		t.Errorf("a T20 of %d overs", got)
	}
}
