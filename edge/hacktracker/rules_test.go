package hacktracker

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fraction"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
)

// plays parses at-bats from a text: "a:1B b:HR/2" is a single of a and a home run of b with two runs.
func plays(text string) (all []AtBat) {
	for i, one := range strings.Fields(text) {
		player, result, _ := strings.Cut(one, ":")
		result, rbi, _ := strings.Cut(result, "/")
		a := AtBat{ID: fmt.Sprintf("%03d", i), PlayerID: player, Result: result, CreatedAt: fmt.Sprintf("2026-05-01T10:%02d:00.000Z", i)}
		if rbi != "" {
			a.RBIs = int(rbi[0] - '0')
		}
		all = append(all, a)
	}
	return all
}

func slots(players string) (out []Slot) {
	for i, p := range strings.Fields(players) {
		out = append(out, Slot{p, i + 1})
	}
	return out
}

// The examples of mlb.com's definitions and of the acceptance.
func TestAverages(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  fraction.Fraction
		want string
	}{
		{"AVG 206 of 600", Line{H: 206, AB: 600}.AVG(), ".343"},
		{"SLG 282 of 440", Line{TB: 282, AB: 440}.Batting().SLG, ".641"},
		{"OBP of 434 at-bats", Line{H: 152, BB: 59, HBP: 9, AB: 434, SF: 6}.Batting().OBP, ".433"},
		{"OBP of 529 at-bats", Line{H: 175, BB: 64, HBP: 7, AB: 529, SF: 8}.Batting().OBP, ".405"},
		{"half up", Line{H: 1, AB: 16}.AVG(), ".063"},
		{"AVG of a walk", Line{BB: 1}.AVG(), "---"},
		{"OBP of a walk", Line{BB: 1}.Batting().OBP, "1.000"},
		{"OPS of a walk", Line{BB: 1}.Batting().OPS, "---"},
		{"OPS is rounded once", Line{H: 1, TB: 1, AB: 6}.Batting().OPS, ".333"}, // .167 + .167 would be .334
		{"SLG above one", Line{H: 2, TB: 5, AB: 3}.Batting().SLG, "1.667"},
		{"ISO", Line{H: 2, TB: 5, AB: 4}.Batting().ISO, ".750"},
		{"BABIP", Line{H: 3, HR: 1, AB: 10, K: 2, SF: 1}.Batting().BABIP, ".250"},
		{"BABIP of strikeouts", Line{AB: 2, K: 2}.Batting().BABIP, "---"},
		{"nothing of one", fraction.Of(0, 1), ".000"},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	raw, err := json.Marshal([]fraction.Fraction{fraction.Of(206, 600), fraction.Of(0, 0), fraction.Of(51, 50)})
	if string(raw) != "[0.343,null,1.020]" || err != nil {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]Line{
		"":                        {},
		"a:1B a:2B a:3B a:HR/4":   {PA: 4, AB: 4, H: 4, Doubles: 1, Triples: 1, HR: 1, TB: 10, RBI: 4},
		"a:K a:OUT a:FC a:E a:GO": {PA: 5, AB: 5, K: 1},
		"a:BB a:HBP a:SF/1 a:SH":  {PA: 4, BB: 1, HBP: 1, SF: 1, SH: 1, RBI: 1},
		"a:DP a:TP a:FO a:PO":     {PA: 4, AB: 4},
		"a:SAC":                   {PA: 1, SH: 1},
	} {
		if diff := cmp.Diff(want, Count(plays(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := Count([]AtBat{{Result: Sacrifice, HitType: flyBall}}); got.SF != 1 || got.SH != 0 {
		t.Errorf("a sacrifice hit as a fly: %+v", got)
	}
}

func TestReplay(t *testing.T) {
	for _, tt := range []struct {
		plays, batter string
		inning, outs  int
		bases         *Bases
	}{
		{"", "a", 1, 0, &Bases{}},
		{"a:K b:OUT", "c", 1, 2, &Bases{}},
		{"a:K b:OUT c:GO", "a", 2, 0, &Bases{}},
		{"a:1B b:DP c:K a:BB", "b", 2, 0, &Bases{First: "a"}},
		{"a:K b:K c:DP", "a", 2, 0, &Bases{}}, // the fourth out does not carry over
		{"a:TP", "b", 2, 0, &Bases{}},
		{"a:FC b:E", "c", 1, 0, nil},
		{"a:1B b:1B", "c", 1, 0, nil},
		{"a:1B b:1B c:HR/3", "a", 1, 0, &Bases{}},
		{"a:BB b:BB c:HBP", "a", 1, 0, &Bases{"c", "b", "a"}},
		{"a:2B b:BB", "c", 1, 0, &Bases{First: "b", Second: "a"}},
		{"a:3B b:K", "c", 1, 1, &Bases{Third: "a"}},
		{"a:1B b:SAC", "c", 1, 1, nil},
		{"a:E", "b", 1, 0, nil},
	} {
		st := Replay(slots("a b c"), plays(tt.plays))
		if st.Batter.PlayerID != tt.batter || st.Inning != tt.inning || st.Outs != tt.outs {
			t.Errorf("%s: inning %d, %d out, %s is up", tt.plays, st.Inning, st.Outs, st.Batter.PlayerID)
		}
		if diff := cmp.Diff(tt.bases, st.Bases); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.plays, diff)
		}
	}
	if st := Replay(nil, plays("a:1B")); st.Batter != nil || len(st.Next) != 0 {
		t.Errorf("without a lineup %+v is up", st.Batter)
	}
}

// Values sent by a device are compared and never corrected; an appearance scored twice is shown.
func TestMismatchAndDoubles(t *testing.T) {
	all := plays("a:1B b:K c:K a:K b:1B")
	for i, sent := range [][3]int{{1, 0, 1}, {1, 0, 2}, {1, 1, 3}, {1, 1, 1}, {2, 0, 2}} {
		all[i].Inning, all[i].Outs, all[i].BattingOrder = sent[0], sent[1], sent[2]
	}
	if diff := cmp.Diff([]string{"003"}, Replay(slots("a b c"), all).Mismatch); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	far := plays("a:1B a:1B") // so far apart that their distance in nanoseconds overflows 64 bits
	far[0].ID, far[1].ID = "00000000000000000000000000", ulid.MustNew(18446744073710, nil).String()
	if got := Replay(nil, far).Doubles; len(got) > 0 {
		t.Errorf("%v", got)
	}
	twice := plays("a:1B a:1B a:1B b:1B")
	for i, at := range []string{"10:00:00", "10:01:00", "10:02:01", "10:02:02"} {
		twice[i].CreatedAt = "2026-05-01T" + at + ".000Z"
	}
	if diff := cmp.Diff([][]string{{"000", "001"}}, Replay(nil, twice).Doubles); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBox(t *testing.T) {
	g := Game{Lineup: slots("a b c"), TeamScore: 3}
	roster := []Player{{ID: "a", FirstName: "Ana", LastName: "Ruiz"}, {ID: "s", FirstName: "Sub"}}
	all := plays("a:1B b:HR/2 c:K a:K s:GO c:BB a:1B/1")
	all[4].BattingOrder = 2
	box := NewBox(&g, roster, all, map[string]Line{"a": {H: 1, AB: 3}})
	var got []string
	for i := range box.Batters {
		b := &box.Batters[i]
		got = append(got, fmt.Sprintf("%d %s %s sub=%t %d-%d %s %s", b.BattingOrder, b.PlayerID, b.Name, b.Substitute, b.H, b.AB, b.AVG, b.Season))
	}
	want := []string{"1 a Ana Ruiz sub=false 2-3 .667 .333", "2 b  sub=false 1-1 1.000 ---", "2 s Sub sub=true 0-1 .000 ---", "3 c  sub=false 0-1 .000 ---"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(box.LineScore, []int{2, 1}) || box.Totals.H != 3 || box.Totals.RBI != 3 || box.Differ {
		t.Errorf("%+v, %+v, differ %t", box.LineScore, box.Totals, box.Differ)
	}
	g.TeamScore = 4
	if empty := NewBox(&g, roster, nil, nil); len(empty.Batters) != 3 || !empty.Differ || len(empty.LineScore) != 0 {
		t.Errorf("before the first at-bat: %+v", empty)
	}
}

func TestRecord(t *testing.T) {
	final := func(us, them int) Game {
		return Game{Status: Final, TeamScore: us, OpponentScore: them, scored: true}
	}
	got := NewRecord([]Game{{Status: InProgress, TeamScore: 9, scored: true}, final(3, 2), final(1, 1), {Status: Final}, final(0, 7), final(5, 4), final(2, 3), final(8, 1)})
	want := Record{Wins: 3, Losses: 2, Ties: 1, RunsFor: 19, RunsAgainst: 18, LastFive: []string{"W", "T", "L", "W", "L"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The order in which at-bats are read does not matter; counts of parts add up to the count of the whole.
func TestRecount(t *testing.T) {
	results := make([]string, 0, 19)
	for r := range outsOf {
		results = append(results, r)
	}
	results = append(results, Walk, HitByP, Single, Double, Triple, HomeRun, Choice, OnError)
	slices.Sort(results)
	rapid.Check(t, func(t *rapid.T) {
		var text []string
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			text = append(text, rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "player")+":"+rapid.SampledFrom(results).Draw(t, "result"))
		}
		all := plays(strings.Join(text, " "))
		want := Replay(slots("a b c d"), slices.Clone(all))
		mixed := rapid.Permutation(all).Draw(t, "mixed")
		g := Game{Lineup: slots("a b c d")}
		box := NewBox(&g, nil, mixed, nil)
		if diff := cmp.Diff(want, box.State); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		var sum Line
		for i := range box.Batters {
			l := &box.Batters[i].Line
			sum = Line{
				sum.PA + l.PA, sum.AB + l.AB, sum.H + l.H, sum.Doubles + l.Doubles, sum.Triples + l.Triples, sum.HR + l.HR, sum.RBI + l.RBI,
				sum.BB + l.BB, sum.HBP + l.HBP, sum.K + l.K, sum.SF + l.SF, sum.SH + l.SH, sum.TB + l.TB,
			}
		}
		if sum != Count(all) || sum != box.Totals.Line {
			t.Fatalf("batters come to %+v, all to %+v", sum, box.Totals.Line)
		}
		if sum.PA != sum.AB+sum.BB+sum.HBP+sum.SF+sum.SH {
			t.Fatalf("%d PA of %+v", sum.PA, sum)
		}
	})
}

// Rows written by other programs are served in any form.
func TestRows(t *testing.T) {
	row := func(text string) attr.Item {
		t.Helper()
		it, err := attr.ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	g := gameOf(row(`{"PK":{"S":"GAME#g"},"SK":{"S":"METADATA"},"GSI3PK":{"S":"TEAM#t"},"teamScore":{"N":"3.0"},"lineup":{"L":[{"S":"a"},{"S":"b"}]}}`))
	if diff := cmp.Diff([]Slot{{"a", 1}, {"b", 2}}, g.Lineup); diff != "" || g.TeamID != "t" || g.TeamScore != 3 || g.Status != Scheduled || g.scored {
		t.Errorf("%+v\n%s", g, diff)
	}
	g = gameOf(row(`{"PK":{"S":"GAME#g"},"lineup":{"L":[{"M":{"playerId":{"S":"a"},"battingOrder":{"N":"2"}}},{"M":{"playerId":{"S":"b"},"battingOrder":{"N":"1"}}},{"N":"7"}]}}`))
	if diff := cmp.Diff(slots("b a"), g.Lineup); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a := atBatOf(row(`{"PK":{"S":"GAME#g"},"SK":{"S":"ATBAT#2026-05-01T10:00:00Z"},"result":{"S":"fo"},"hitType":{"S":"ground_ball"},"rbis":{"N":"1.5"},"hitLocation":{"M":{"x":{"N":"0.25"},"y":{"N":"1"}}}}`))
	if a.ID != "2026-05-01T10:00:00Z" || a.Result != "FO" || a.HitType != "ground_out" || a.RBIs != 1 || *a.HitLocation != (Point{0.25, 1}) {
		t.Errorf("%+v", a)
	}
	a = atBatOf(row(`{"PK":{"S":"GAME#g"},"SK":{"S":"ATBAT#x"},"rbis":{"N":"1e30"},"inning":{"N":"-1e99"}}`))
	if a.RBIs != 0 || a.Inning != 0 {
		t.Errorf("%+v", a)
	}
	mixed := []AtBat{{ID: "c", CreatedAt: "2026-05-01T10:02:00.123456"}, {ID: "b", CreatedAt: "2026-05-01T10:01:00.000Z"}, {ID: "d", CreatedAt: "2026-05-01T10:00:59.5"}}
	if Sort(mixed); mixed[0].ID+mixed[1].ID+mixed[2].ID != "dbc" {
		t.Errorf("%+v", mixed)
	}
	p := playerOf(row(`{"PK":{"S":"TEAM#t"},"SK":{"S":"PLAYER#p"},"userId":{"NULL":true},"positions":{"SS":["P","catcher, if need be"]},"playerNumber":{"N":"0"}}`))
	if !p.Ghost || *p.Number != 0 || len(p.Positions) != 2 || p.Status != active || p.LinkedAt != nil {
		t.Errorf("%+v", p)
	}
	if team := teamOf(row(`{"PK":{"S":"TEAM#t"}}`)); team.Type != Managed || team.Status != active {
		t.Errorf("%+v", team)
	}
}

// The validation table of the original, with our additions.
func TestFields(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for name, tt := range map[string]struct {
		fields    map[string]patch.Field
		good, bad []string
	}{
		"name":           {teamFields(), []string{`"Bad News"`, `"  Bad   News 2 "`, `"Équipe"`}, []string{`"ab"`, `"a-b-c"`, `1`, `null`, long(51)}},
		"description":    {teamFields(), []string{`null`, `""`, long(500), `"one\ntwo\tthree"`}, []string{long(501), `1`, `"\u0007"`}},
		"teamType":       {teamFields(), []string{`"managed"`, `"PERSONAL"`}, []string{`"x"`, `null`}},
		"firstName":      {playerFields(), []string{`"José"`, `"O'Neil-Jr."`}, []string{`""`, `"two words"`, `"R2"`, `null`, long(31)}},
		"lastName":       {playerFields(), []string{`"Li"`, `null`}, []string{`""`, `"4"`}},
		"playerNumber":   {playerFields(), []string{`0`, `99`, `null`}, []string{`100`, `-1`, `1.5`, `"7"`}},
		"positions":      {playerFields(), []string{`["ss","SS","1b"]`, `[]`, `null`}, []string{`["SS","C","P"]`, `["LF"]`, `"SS"`}},
		"status":         {playerFields(), []string{`"Active"`, `"sub"`}, []string{`"gone"`, `null`}},
		"scheduledStart": {gameFields(), []string{`"2026-05-01T19:30:00.000Z"`, `"2026-05-01T19:30:00+02:00"`, `null`, `""`}, []string{`"tomorrow"`, `5`}},
		"opponentName":   {gameFields(), []string{long(100), `null`, `""`}, []string{long(101)}},
		"location":       {gameFields(), []string{long(100)}, []string{long(101), `[]`}},
		"seasonId":       {gameFields(), []string{long(64)}, []string{long(65)}},
		"teamScore":      {gameFields(), []string{`0`, `31`}, []string{`-1`, `null`, `"3"`, `1.5`}},
		"lineup": {gameFields(), []string{`[]`, `[{"playerId":"a","battingOrder":2},{"playerId":"b","battingOrder":1}]`}, []string{
			`null`, `["a"]`, `[{"playerId":"a"}]`, `[{"playerId":"a","battingOrder":100}]`, `[{"playerId":"a","battingOrder":1},{"playerId":"b","battingOrder":1}]`,
			`[{"playerId":"a","battingOrder":1},{"playerId":"a","battingOrder":2}]`,
		}},
		"result":      {atBatFields(), []string{`"K"`, `"1b"`, `"FO"`, `"TP"`, `"SAC"`}, []string{`"X"`, `1`, `null`}},
		"hitType":     {atBatFields(), []string{`"fly_ball"`, `"ground_ball"`, `null`}, []string{`"rocket"`}},
		"hitLocation": {atBatFields(), []string{`{"x":0,"y":1.0}`, `{"x":0.123,"y":0.5}`, `null`}, []string{`{"x":1.1,"y":0}`, `{"x":0}`, `{"x":"0","y":true}`, `[0,1]`}},
		"inning":      {atBatFields(), []string{`1`, `12`}, []string{`0`, `1.5`, `null`}},
		"outs":        {atBatFields(), []string{`0`, `2`}, []string{`3`, `-1`}},
		"rbis":        {atBatFields(), []string{`0`, `4`, `null`}, []string{`-1`, `"1"`}},
		"phoneNumber": {userFields(), []string{`"+15555551234"`, `null`}, []string{`"call me"`, `1`}},
	} {
		for i, raw := range append(slices.Clone(tt.good), tt.bad...) {
			_, err := patch.Read(tt.fields, Input{name: json.RawMessage(raw)})
			if (err == nil) != (i < len(tt.good)) {
				t.Errorf("%s %s: %v", name, raw, err)
			}
		}
	}
	p, err := patch.Read(gameFields(), Input{"location": json.RawMessage(`""`), "teamScore": json.RawMessage(`2`), "other": json.RawMessage(`2`)})
	if err != nil || !slices.Equal(p.Remove, []string{"location"}) || len(p.Set) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := patch.Read(teamFields(), Input{}, "name"); err == nil || err.Error() != "name is required" {
		t.Errorf("%v", err)
	}
}
