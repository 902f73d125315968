package page

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"

	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
)

var update = flag.Bool("update", false, "rewrite the golden files; review the changes")

func allScenes(t testing.TB) (map[string]*Scene, *Renderer) {
	t.Helper()
	scenes, err := Scenes()
	if err != nil {
		t.Fatal(err)
	}
	r, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*Scene{}
	for i := range scenes {
		byName[scenes[i].Name] = &scenes[i]
	}
	return byName, r
}

// The golden files hold the parts above the fold of every scene, and all parts of one.
func TestGolden(t *testing.T) {
	scenes, r := allScenes(t)
	for name, s := range scenes {
		v, err := r.scene(s)
		if err != nil {
			t.Fatal(err)
		}
		got := "title: " + v.Title + "\n"
		for _, p := range v.Parts {
			switch p.ID {
			case "top", "score", "crease", "list", "hub", "replay":
				got += "\n" + string(p.HTML) + "\n"
			default:
				if name == "t20" {
					got += "\n" + string(p.HTML) + "\n"
				}
			}
		}
		file := filepath.Join("testdata", name+".golden.html")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (go test -update rewrites it):\n%s", name, diff)
		}
	}
}

func TestHeadline(t *testing.T) {
	scenes, _ := allScenes(t)
	for name, want := range map[string][2]string{
		"chase":     {"Need 9 from 3", "2 wickets in hand"},
		"superover": {"Need 3 from 2", "Super over · 2 wickets in hand"},
		"result":    {"Match tied. England win on boundaries, 26 to 17, after a tied super over", ""},
		"test":      {"Lead by 63", "7 wickets in hand"},
		"first":     {"New Zealand batting first", "Toss: New Zealand chose to bat"},
		"prematch":  {"Starts 10:00 UTC", "in 42 min · Toss: New Zealand chose to bat"},
		"break":     {"ENG need 242", ""},
		"rain":      {"Need 125 from 32", "Rain stopped play at 15:07"},
		"lunch":     {"Lead by 63", "Lunch"},
		"stumps":    {"Lead by 63", "Stump Day 4"},
		"abandoned": {"Match abandoned", "Rain"},
		"sobreak":   {"ENG need 14 to win the super over", ""},
	} {
		m := NewMatch(*scenes[name].Match)
		if got := [2]string{m.Score.Headline, m.Score.Context}; got != want {
			t.Errorf("%s says %q, want %q", name, got, want)
		}
	}
	over := *scenes["superover"].Match // its last ball is bowled, and there is no result yet
	over.Display.Equation, over.Display.Required, over.Display.BallsLeft, over.Display.Note = "scores level", 1, 0, ""
	if m := NewMatch(over); m.Score.Headline != "Scores level" || m.Score.Context != "Super over" {
		t.Errorf("a super over that ends level says %q, %q", m.Score.Headline, m.Score.Context)
	}
	over.Display.Result, over.Display.Equation = "New Zealand won the Super Over", "" // by the score, before the feed says so
	if m := NewMatch(over); m.Score.Headline != over.Display.Result {
		t.Errorf("a super over that is won says %q", m.Score.Headline)
	}
}

func TestWinnerWearsTheColours(t *testing.T) {
	scenes, _ := allScenes(t)
	for result, want := range map[string]string{
		"England won on boundary count": "t-england", "New Zealand win by 18 runs": "t-new-zealand",
		"NZ won by 3 wickets": "t-new-zealand", "Match tied": "", "Match drawn": "", "No result": "",
		"Match tied. England win on boundaries": "t-england",
	} {
		in := *scenes["result"].Match
		in.Display.Result = result
		if got := NewMatch(in).Score.Winner; got != want {
			t.Errorf("%q is in the colours of %q, want %q", result, got, want)
		}
	}
}

func TestStale(t *testing.T) {
	for _, tc := range []struct {
		phase cricket.Phase
		speed string
		age   float64
		want  bool
	}{
		{cricket.PhaseLive, "real", 29, false}, {cricket.PhaseLive, "real", 31, true}, {cricket.PhaseLive, "", 31, true},
		{cricket.PhaseLive, "30x", 60, false}, {cricket.PhaseLive, "30x", 100, true}, {cricket.PhaseLive, "max", 100, false},
		{cricket.PhaseInningsBreak, "real", 900, false}, {cricket.PhaseCompleted, "real", 9000, false},
	} {
		n := NodeStatus{operator.NodeStatus{Clock: operator.ClockStatus{Speed: tc.speed}}, Status{Feed: FeedStatus{AgeSeconds: tc.age, LastAt: time.Unix(1, 0)}}}
		if b := newBadges(&n, playing(tc.phase), time.Time{}); b.Stale != tc.want || (b.Notice != "") != tc.want {
			t.Errorf("%+v: stale %v, notice %q", tc, b.Stale, b.Notice)
		}
	}
}

func TestTold(t *testing.T) {
	scenes, _ := allScenes(t)
	in := *scenes["chase"].Match
	in.Events = []cricket.Event{
		{Key: "a", Type: cricket.EventWicket, Text: "W1", Alert: true}, {Key: "b", Type: cricket.EventWicket, Text: "W2", Alert: true},
		{Key: "c", Type: cricket.EventFour, Text: "4"}, {Key: "d", Type: cricket.EventFifty, Text: "50", Dropped: "budget"},
	}
	alert := func(text string) sandbox.ShownAlert { return sandbox.ShownAlert{Alert: payload.Alert{Body: text}} }
	in.Phones = []sandbox.PhoneView{
		{Alerts: []sandbox.ShownAlert{alert("W1"), alert("W2"), alert("other words")}}, {Alerts: []sandbox.ShownAlert{alert("W1")}},
	}
	var got []string
	for _, item := range NewMatch(in).Timeline.Items {
		got = append(got, item.Key+" "+item.Note)
	}
	want := []string{"d No alert: the hour's budget is spent", "c ", "b Alert to 1 phone", "a Alert to 2 phones"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	in.Phones = nil
	in.Audience.Reached = map[string]int{"a": 7}
	items := NewMatch(in).Timeline.Items
	if items[3].Note != "Alert to 7 phones" || items[2].Note != "Alert to no known phone" {
		t.Errorf("without phones here the notes are %q and %q", items[3].Note, items[2].Note)
	}
}

// However long a match is, the timeline keeps its wickets.
func TestTimelineKeepsWickets(t *testing.T) {
	scenes, _ := allScenes(t)
	in := *scenes["chase"].Match
	in.Events = nil
	for n := range 300 {
		e := cricket.Event{Key: strconv.Itoa(n), Type: cricket.EventFour}
		if n%30 == 0 {
			e.Type = cricket.EventWicket
		}
		in.Events = append(in.Events, e)
	}
	tl, wickets := NewMatch(in).Timeline, 0
	for _, item := range tl.Items {
		if item.Kind == "wicket" {
			wickets++
		}
	}
	if wickets != 10 || len(tl.Items) > mostItems || tl.Rest != "266 older events of balls and overs not shown" {
		t.Errorf("%d items with %d wickets, %q", len(tl.Items), wickets, tl.Rest)
	}
}

func TestDiscs(t *testing.T) {
	for mark, want := range map[string]Disc{
		".": {Mark: "", Kind: "dot", Say: "dot ball"}, "1": {Mark: "1", Kind: "run", Say: "1 run"},
		"3": {Mark: "3", Kind: "run", Say: "3 runs"}, "4": {Mark: "4", Kind: "four", Say: "four"},
		"6": {Mark: "6", Kind: "six", Say: "six"}, "W": {Mark: "W", Kind: "wicket", Say: "wicket"},
		"W1": {Mark: "W1", Kind: "wicket", Say: "wicket"}, "wd": {Mark: "wd", Kind: "extra", Say: "wide"},
		"1wd": {Mark: "wd", Kind: "extra", Say: "wide"}, "5wd": {Mark: "5wd", Kind: "extra", Say: "5 from a wide"},
		"4b": {Mark: "4b", Kind: "extra", Say: "4 from a bye"}, "7nb+": {Mark: "7nb+", Kind: "extra", Say: "extras 7nb+"},
	} {
		if diff := cmp.Diff(want, discOf(mark, markKind(mark))); diff != "" {
			t.Errorf("%s: %s", mark, diff)
		}
	}
}

// Every line and bar of every scene lies in its plot, and all wickets are shown.
func TestChartsStayInTheirPlots(t *testing.T) {
	scenes, _ := allScenes(t)
	number := regexp.MustCompile(`-?[0-9.]+`)
	for name, s := range scenes {
		if s.Match == nil {
			continue
		}
		m := NewMatch(*s.Match)
		box := number.FindAllString(m.Worm.ViewBox, -1)
		if goal := m.Worm.Target; goal != nil && !within(t, strings.TrimSuffix(goal.Y, "%"), "100") {
			t.Errorf("%s: the target lies at %s", name, goal.Y)
		}
		for i, line := range m.Worm.Lines {
			for p := range strings.FieldsSeq(line.Points) {
				x, y, _ := strings.Cut(p, ",")
				if !within(t, x, box[2]) || !within(t, y, box[3]) {
					t.Errorf("%s: point %s of line %d is outside %s", name, p, i, m.Worm.ViewBox)
				}
			}
			if want := s.Match.Display.Innings[i].Wickets; name != "first" && len(line.Dots) != want {
				t.Errorf("%s: %d wickets on line %d, want %d", name, len(line.Dots), i, want)
			}
		}
		for _, row := range m.Bars.Rows {
			for _, b := range row.Bars {
				if !within(t, b.X, box[2]) || !within(t, b.Y, strings.Fields(row.ViewBox)[3]) {
					t.Errorf("%s: bar %+v is outside %s", name, b, row.ViewBox)
				}
			}
		}
	}
}

func within(t *testing.T, v, most string) bool {
	t.Helper()
	x, err := strconv.ParseFloat(v, 64)
	if err != nil {
		t.Fatal(err)
	}
	m, err := strconv.ParseFloat(most, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x >= 0 && x <= m+1e-9
}

// A target above all scores, such as a rain rule can set, lies in the plot too. For a Test and a super over no target is drawn.
func TestTargetInTheWorm(t *testing.T) {
	scenes, _ := allScenes(t)
	for name, want := range map[string]string{"chase": "7.41%", "superover": "", "test": ""} {
		in := *scenes[name].Match
		in.Display.Target = 400
		got := ""
		if goal := NewMatch(in).Worm.Target; goal != nil {
			got = goal.Y
		}
		if got != want {
			t.Errorf("%s: the target of 400 lies at %q, want %q", name, got, want)
		}
	}
}

// A bowler's figures are in the same order everywhere.
func TestBowlingColumns(t *testing.T) {
	scenes, r := allScenes(t)
	v, err := r.Match(*scenes["chase"].Match, page.View{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Parts {
		heads, found := regexp.MustCompile(`<[^>]*>`), false
		for table := range strings.SplitSeq(string(p.HTML), "<thead>") {
			row, _, _ := strings.Cut(table, "</thead>")
			if row = heads.ReplaceAllString(row, " "); strings.Contains(row, "Econ") {
				found = true
				if got := strings.Fields(row)[1:]; !slices.Equal(got, []string{"O", "M", "R", "W", "Econ"}) {
					t.Errorf("%s: the columns of bowling are %q", p.ID, got)
				}
			}
		}
		if want := p.ID == "crease" || p.ID == "cards"; found != want {
			t.Errorf("%s has bowling: %v", p.ID, found)
		}
	}
}

// The search looks at everything that is shown with a recording.
func TestReplaySearch(t *testing.T) {
	scenes, r := allScenes(t)
	for query, want := range map[string]string{
		"": "3 matches", " ENGLAND  ashes ": "1 of 3 matches", "england": "2 of 3 matches", "2022-11": "1 of 3 matches",
		"1144530": "1 of 3 matches", "england malawi": "0 of 3 matches",
	} {
		in := *scenes["replays"].Replay
		in.Query = query
		page := NewReplay(in)
		if page.Count != want || len(page.Playing) != 3 {
			t.Errorf("%q finds %s; %d are being played", query, page.Count, len(page.Playing))
		}
		body, err := r.Replays(in)
		if err != nil {
			t.Fatal(err)
		}
		if none := strings.Contains(string(body.Parts[0].HTML), "No match has all of these words."); none != (len(page.Recordings) == 0) {
			t.Errorf("%q: the page says that nothing was found: %v", query, none)
		}
	}
}

// Names come from a feed: they are text, never markup.
func TestForeignTextIsEscaped(t *testing.T) {
	scenes, r := allScenes(t)
	in := *scenes["chase"].Match
	evil := `<script>alert(1)</script>"'`
	in.Fixture.LeagueName, in.Display.Equation, in.Display.Note = evil, evil, evil
	in.Events = []cricket.Event{{Key: evil, Type: cricket.EventType(evil), Text: evil, Over: evil}}
	in.Phones = []sandbox.PhoneView{{
		Phone: sandbox.Phone{DeviceID: evil, Name: evil}, Alerts: []sandbox.ShownAlert{{Alert: payload.Alert{Body: evil}}},
		Activities: []sandbox.ActivityView{{Compact: sandbox.Compact{Leading: evil}}},
	}}
	v, err := r.Match(in, page.View{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range v.Parts {
		if strings.Contains(string(p.HTML), "<script") {
			t.Errorf("%s lets markup through: %s", p.ID, p.HTML)
		}
	}
}

// A part is rendered again only if it has changed.
func TestPartsAreReused(t *testing.T) {
	scenes, r := allScenes(t)
	in := *scenes["chase"].Match
	first, err := r.Match(in, page.View{})
	if err != nil {
		t.Fatal(err)
	}
	in.Display.Equation = "need 3 from 2"
	second, err := r.Match(in, first)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := r.Match(in, page.View{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fresh.Parts, second.Parts); diff != "" {
		t.Errorf("a view made from the last one differs from a fresh one:\n%s", diff)
	}
	for i := range first.Parts {
		if changed := first.Parts[i].Hash != second.Parts[i].Hash; changed != (first.Parts[i].ID == "score") {
			t.Errorf("%s changed: %v", first.Parts[i].ID, changed)
		}
	}
}

// The page does not claim an alert that could not be sent.
func TestAlertNotes(t *testing.T) {
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		push, elsewhere bool
		after           time.Duration
		phones          int
		want            string
	}{
		{want: "Would alert: this node has no push"},
		{push: true, phones: 2, want: "Alert to 2 phones"},
		{push: true, after: onItsWay - time.Second, want: "Alert on its way"},
		{push: true, after: onItsWay, want: "Alert to no known phone"},
		{push: true, after: onItsWay, elsewhere: true, want: "Alert by another node"},
		{push: true, after: onItsWay, elsewhere: true, phones: 1, want: "Alert to 1 phone"},
	} {
		var b builder
		b.in.Node.Pushes.Configured, b.in.Audience.Elsewhere, b.in.Node.Clock.Now = tt.push, tt.elsewhere, at.Add(tt.after)
		if got := b.toldText(&cricket.Event{Alert: true, At: at}, tt.phones); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// Without phones to show, the page says how many users follow the match. It does not deny followers that the node has, or may not
// know of.
func TestUnseenPhones(t *testing.T) {
	for _, tt := range []struct {
		audience Audience
		push     bool
		want     string
	}{
		{Audience{}, true, "Nobody follows this match yet."},
		{Audience{Elsewhere: true}, true, "No follower is known to this node: another may serve them."},
		{Audience{Followers: 1}, false, "1 user follows this match; this node has no push."},
		{Audience{Followers: 2, Elsewhere: true}, true, "2 users follow this match; another node pushes to them."},
		{Audience{Followers: 2, Active: 2}, true, "2 users follow this match; a Live Activity is on 2 phones."},
		{Audience{Followers: 3, Active: 1, Pending: 2}, true,
			"3 users follow this match; a Live Activity is on 1 phone, and pending on 2 without an update token."},
	} {
		b := builder{in: Input{Audience: tt.audience}}
		b.in.Node.Pushes.Configured = tt.push
		if got := b.phones(); got.None != tt.want || got.Told != "" {
			t.Errorf("%+v: %q, %q", tt.audience, got.Told, got.None)
		}
	}
}

// The node strip shows from which endpoint the match is read, and when next.
func TestNodeShowsTheEndpoint(t *testing.T) {
	scenes, _ := allScenes(t)
	in := *scenes["chase"].Match
	in.Node.Feed.Reads = []FeedRead{
		{MatchID: "another", Endpoint: "livescores"},
		{MatchID: in.Display.MatchID, Endpoint: "fixtures/{id}", NextAt: time.Date(2026, 6, 1, 12, 0, 5, 0, time.UTC)},
	}
	var got []Stat
	for _, g := range NewMatch(in).Node.Groups {
		if g.Title == feedGroup {
			got = g.Stats[len(g.Stats)-2:]
		}
	}
	want := []Stat{{"This match is read from", "fixtures/{id}"}, {"Next", "12:00:05"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStrikeRateIsRounded(t *testing.T) {
	for _, tc := range []struct {
		runs, balls int
		want        string
	}{{7, 6, "117"}, {1, 3, "33"}, {1, 8, "13"}, {0, 1, "0"}, {0, 0, "–"}} {
		if got := batterRow(&cricket.Batter{Runs: tc.runs, Balls: tc.balls}).Rate; got != tc.want {
			t.Errorf("%d of %d: %s, want %s", tc.runs, tc.balls, got, tc.want)
		}
	}
}

func TestListWithoutAFeed(t *testing.T) {
	if got := NewList(ListInput{}).Feed; got != "No feed is configured." {
		t.Error(got)
	}
	if got := NewList(ListInput{Node: NodeStatus{Status: Status{Feed: FeedStatus{Configured: true}}}}).Feed; got != "The feed has not answered yet." {
		t.Error(got)
	}
}

// The strip shows whether the cloud has everything, and since when it has not.
func TestCloudText(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		cloud operator.CloudStatus
		want  string
	}{
		{operator.CloudStatus{State: "none"}, "no cloud"},
		{operator.CloudStatus{State: "in_step"}, "cloud in step"},
		{operator.CloudStatus{State: "behind", Since: now.Add(-90 * time.Second), Waiting: 1}, "1 write waiting"},
		{operator.CloudStatus{State: "offline", Since: now.Add(-time.Hour), Waiting: 3}, "offline since 11:00, 3 writes waiting"},
		{operator.CloudStatus{State: "stopped", Waiting: 3}, "cloud stopped, 3 writes waiting"},
	} {
		v := NewNodeView(NodeStatus{NodeStatus: operator.NodeStatus{Cloud: c.cloud}})
		i := slices.IndexFunc(v.Groups[0].Stats, func(s Stat) bool { return s.Label == "Cloud" })
		if got := v.Groups[0].Stats[i].Value; got != c.want {
			t.Errorf("%s: %q, want %q", c.cloud.State, got, c.want)
		}
	}
}

// A node that knows a match only through its cloud says which node has the scorecard, rather than that no ball was bowled.
func TestScorecardElsewhere(t *testing.T) {
	scenes, r := allScenes(t)
	for _, tt := range []struct {
		cloud string
		phase cricket.Phase
		cards bool
		want  bool
	}{
		{"in_step", cricket.PhaseLive, false, true}, {"offline", cricket.PhaseCompleted, false, true},
		{"in_step", cricket.PhaseLive, true, false}, {"none", cricket.PhaseLive, false, false}, {"", cricket.PhaseLive, false, false},
		{"in_step", cricket.PhasePrematch, false, false}, {"in_step", cricket.PhaseAbandoned, false, false},
	} {
		in := *scenes["t20"].Match
		in.Node.Cloud.State, in.Display.Phase = tt.cloud, tt.phase
		if !tt.cards {
			in.Card.Innings = nil
		}
		v, err := r.Match(in, page.View{})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, p := range v.Parts {
			if strings.Contains(string(p.HTML), "kept by the node that reads this match") {
				said = append(said, p.ID)
			}
		}
		if (len(said) == 3) != tt.want || (len(said) == 0) == tt.want {
			t.Errorf("%+v: shown in %q", tt, said)
		}
	}
}
