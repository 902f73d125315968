package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ball returns the JSON of a delivery: runs off the bat, then the rest.
func ball(batter, bowler string, runs int, more string) string {
	total := runs
	for _, extra := range []string{`"wides":`, `"noballs":`, `"byes":`, `"penalty":`} {
		if _, rest, ok := strings.Cut(more, extra); ok {
			total += int(rest[0] - '0')
		}
	}
	flag := ""
	if strings.Contains(more, "allrun") {
		flag, more = `,"non_boundary":true`, ""
	}
	return fmt.Sprintf(`{"batter":%q,"bowler":%q,"runs":{"batter":%d,"total":%d%s}%s}`, batter, bowler, runs, total, flag, more)
}

func out(kind string) string { return `,"wickets":[{"kind":"` + kind + `","player_out":"a"}]` }

func repeat(n int, s string) []string { return slices.Repeat([]string{s}, n) }

// innings returns the JSON of an innings.
func innings(team, more string, overs ...[]string) string {
	list := make([]string, 0, len(overs))
	for _, o := range overs {
		list = append(list, `{"deliveries":[`+strings.Join(o, ",")+`]}`)
	}
	return fmt.Sprintf(`{"team":%q,"overs":[%s]%s}`, team, strings.Join(list, ","), more)
}

func count(t *testing.T, info string, all ...string) expected {
	t.Helper()
	var m match
	text := `{"info":{"balls_per_over":6,` + info + `},"innings":[` + strings.Join(all, ",") + `]}`
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m.expect()
}

const t20 = `"match_type":"T20","overs":20,"outcome":{"result":"no result"}`

func TestEvents(t *testing.T) {
	dot, six := ball("a", "x", 0, ""), ball("a", "x", 6, "")
	bowled, runOut := ball("a", "x", 0, out("bowled")), ball("a", "x", 0, out("run out"))
	wide, other := ball("a", "x", 0, `,"extras":{"wides":1}`), ball("a", "y", 0, "")
	bye := ball("a", "x", 0, `,"extras":{"byes":4}`)
	noBall := ball("a", "x", 0, `,"extras":{"noballs":1}`)
	join := func(parts ...[]string) []string { return slices.Concat(parts...) }
	over := func(balls ...string) []string { return balls }
	for _, tt := range []struct {
		name  string
		overs [][]string
		want  map[string]int
	}{
		{"boundaries by the flag", [][]string{over(ball("a", "x", 4, ""), ball("a", "x", 4, "allrun"), six, ball("a", "x", 6, "allrun"))},
			map[string]int{"four": 1, "six": 1}},
		{"who retires hurt is not out", [][]string{over(ball("a", "x", 1, out("retired hurt")), ball("b", "x", 1, out("retired out")))},
			map[string]int{"wicket": 1}},
		{"two on one ball", [][]string{over(ball("a", "x", 1, `,"wickets":[{"kind":"run out","player_out":"a"},{"kind":"retired out","player_out":"c"}]`))},
			map[string]int{"wicket": 2}},
		{"hat-trick", [][]string{over(bowled, bowled, bowled, ball("a", "x", 1, ""))}, map[string]int{"wicket": 3, "hat_trick": 1}},
		{"four in four", [][]string{over(bowled, bowled, bowled, bowled, ball("a", "x", 1, ""))},
			map[string]int{"wicket": 4, "hat_trick": 1}},
		{"hat-trick over two overs", [][]string{over(ball("a", "x", 1, ""), bowled, bowled), repeat(6, ball("a", "y", 1, "")), over(bowled, noBall)},
			map[string]int{"wicket": 3, "hat_trick": 1}},
		{"broken by a run out", [][]string{over(bowled, bowled, runOut, bowled, wide)}, map[string]int{"wicket": 4}},
		{"broken by a wide", [][]string{over(bowled, bowled, wide, bowled)}, map[string]int{"wicket": 3}},
		{"three sixes, a wide between", [][]string{over(six, wide, six, six, six)}, map[string]int{"six": 4, "consecutive_sixes": 1}},
		{"sixes broken", [][]string{over(six, six, dot, six, six)}, map[string]int{"six": 4}},
		{"sixes broken by an all-run", [][]string{over(six, six, ball("a", "x", 6, "allrun"), six, six)}, map[string]int{"six": 4}},
		{"sixes of two batters", [][]string{over(six, ball("b", "x", 6, ""), six, ball("b", "x", 1, ""))}, map[string]int{"six": 3}},
		{"maiden with byes", [][]string{join(repeat(5, dot), over(bye))}, map[string]int{"maiden": 1}},
		{"no maiden with a wide", [][]string{join(repeat(6, dot), over(wide))}, map[string]int{}},
		{"no maiden of five balls", [][]string{repeat(5, dot)}, map[string]int{}},
		{"no maiden of two bowlers", [][]string{join(repeat(5, dot), over(other))}, map[string]int{}},
		{"milestones in one innings", [][]string{repeat(8, six), over(ball("a", "x", 1, "")), over(ball("a", "x", 1, ""))},
			map[string]int{"six": 8, "consecutive_sixes": 1, "fifty": 1}},
		{"five and ten", [][]string{slices.Concat(slices.Repeat([][]string{{bowled, bowled, other}}, 5)...)},
			map[string]int{"wicket": 10, "five_for": 1, "ten_for": 1, "innings_end": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := count(t, t20, innings("A", "", tt.overs...)).Events
			delete(got, "no_result")
			if tt.name == "five and ten" {
				delete(got, "hat_trick")
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// Super overs: a bowler's wickets there make no hat-trick with earlier ones; each innings ends; two innings are one super over.
func TestSuperOvers(t *testing.T) {
	bowled, six := ball("a", "x", 0, out("bowled")), ball("b", "y", 6, "")
	so := `,"super_over":true`
	e := count(t, `"match_type":"T20","overs":20,"outcome":{"result":"tie","eliminator":"B"}`,
		innings("A", "", []string{bowled}), innings("B", "", []string{bowled}),
		innings("B", so, []string{bowled, bowled}), innings("A", so, []string{six}),
		innings("A", so, []string{ball("a", "y", 1, "")}), innings("B", so, []string{ball("b", "x", 1, "")}))
	want := map[string]int{"wicket": 4, "six": 1, "super_over_start": 2, "innings_end": 5, "result": 1}
	if !maps.Equal(e.Events, want) || e.Result != "win" || e.Winner != "B" {
		t.Errorf("%+v, want %v", e, want)
	}
}

func TestLastInnings(t *testing.T) {
	one := []string{ball("a", "x", 1, "")}
	first := innings("A", "", repeat(6, ball("a", "x", 1, "")))
	hurt := innings("B", `,"absent_hurt":["z"],"target":{"runs":7,"overs":20}`, repeat(8, ball("a", "x", 0, out("bowled"))),
		[]string{ball("a", "x", 0, out("retired hurt"))})
	back := innings("B", `,"absent_hurt":["z"],"target":{"runs":7,"overs":20}`, repeat(8, ball("c", "x", 0, out("bowled"))),
		[]string{ball("a", "x", 0, out("retired hurt")), ball("a", "x", 0, "")})
	for _, tt := range []struct {
		name, last string
		ends       int
	}{
		{"cut short", innings("B", "", one), 1},
		{"target reached", innings("B", `,"target":{"runs":1,"overs":20}`, one), 2},
		{"one short of a target", innings("B", `,"target":{"runs":2,"overs":20}`, one), 1},
		{"out of balls", innings("B", `,"target":{"runs":9,"overs":0.1}`, one), 2},
		{"first innings plus one", innings("B", "", repeat(7, one[0])), 2},
		{"a tie is not the target", innings("B", "", repeat(6, one[0])), 1},
		{"penalty runs count", innings("B", `,"penalty_runs":{"pre":5,"post":1}`, one), 2},
		{"absent and hurt", hurt, 2},
		{"who came back", back, 1},
	} {
		e := count(t, t20, first, tt.last)
		if e.Events["innings_end"] != tt.ends {
			t.Errorf("%s: %d ends, want %d", tt.name, e.Events["innings_end"], tt.ends)
		}
	}
}

func TestMultiDay(t *testing.T) {
	n := func(team string, runs int) string { return innings(team, "", repeat(runs, ball("a", "x", 1, ""))) }
	for _, tt := range []struct {
		name string
		all  []string
		ends int
	}{
		{"won in the fourth", []string{n("A", 10), n("B", 8), n("A", 3), n("B", 6)}, 4},
		{"drawn one short", []string{n("A", 10), n("B", 8), n("A", 3), n("B", 5)}, 3},
		{"third innings never chases", []string{n("A", 10), n("B", 2), n("B", 30)}, 2},
		{"forfeited", []string{n("A", 10), n("B", 5), `{"team":"A","forfeited":true}`, n("B", 2)}, 3},
	} {
		e := count(t, `"match_type":"MDM","outcome":{"result":"draw"}`, tt.all...)
		if e.Events["innings_end"] != tt.ends || e.Events["draw"] != 1 || e.Result != "draw" {
			t.Errorf("%s: %+v, want %d ends", tt.name, e, tt.ends)
		}
	}
}

// Why innings end, and how wickets fall.
func TestEnds(t *testing.T) {
	ones := func(n int) []string { return repeat(n, ball("a", "x", 1, "")) }
	wickets := func(n int) []string { return repeat(n, ball("a", "x", 0, out("caught and bowled"))) }
	for _, tt := range []struct {
		name, info string
		all        []string
		want       []string
	}{
		{"overs, target", t20, []string{innings("A", "", ones(120)), innings("B", "", ones(119), ones(2))}, []string{"overs", "target"}},
		{"all out, all out", t20, []string{innings("A", "", ones(20), wickets(10)), innings("B", "", ones(1), wickets(10))}, []string{"all_out", "all_out"}},
		{"cut by rain", t20, []string{innings("A", "", ones(60)), innings("B", `,"target":{"runs":90,"overs":5}`, ones(30))}, []string{"closed", "overs"}},
		{"short for both", t20, []string{innings("A", "", ones(30)), innings("B", `,"target":{"runs":31,"overs":5}`, ones(9))}, []string{"overs"}},
		{"absent", t20, []string{innings("A", `,"absent_hurt":["q"]`, ones(5), wickets(9)), innings("B", "", ones(1))}, []string{"all_out"}},
		{"declared, forfeited", `"match_type":"MDM","outcome":{"result":"draw"}`, []string{
			innings("A", `,"declared":true`, ones(9)), innings("B", `,"declared":true`, ones(5), wickets(3)), `{"team":"A","forfeited":true}`, innings("B", "", ones(1)),
		}, []string{"declared", "declared", "forfeited"}},
		{"super over", t20, []string{innings("A", "", ones(120)), innings("B", "", ones(120)), innings("B", `,"super_over":true`, wickets(2)), innings("A", `,"super_over":true`, ones(1))},
			[]string{"overs", "overs", "all_out", "target"}},
	} {
		e := count(t, tt.info, tt.all...)
		if !slices.Equal(e.Ends, tt.want) || e.Events["innings_end"] != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, e.Ends, tt.want)
		}
		if got := e.Wickets["caught_and_bowled"]; got != e.Events["wicket"] {
			t.Errorf("%s: %d caught and bowled of %d", tt.name, got, e.Events["wicket"])
		}
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	text := `{"info":{"balls_per_over":5,"match_type":"T20","overs":20,"outcome":{"winner":"A"}},"innings":[` +
		innings("A", "", repeat(7, ball("a", "x", 4, ""))) + `]}`
	for name, text := range map[string]string{"7.json": text, "MANIFEST.json": "[]"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	if err := run(dir, &b); err != nil {
		t.Fatal(err)
	}
	want := `{
"7": {"innings":[{"team":"A","runs":28,"wickets":0,"overs":"1.2"}],"result":"win","winner":"A","deliveries":7,"events":{"four":7,"result":1},"wickets":{},"ends":[]}
}
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
}
