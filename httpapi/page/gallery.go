package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
)

//go:embed gallery/*.json
var galleryFiles embed.FS

// Scene is one state of a page, from fixed data: real matches stopped at a telling moment.
type Scene struct {
	Name  string
	What  string
	Match *Input     // nil for a list
	List  *ListInput // nil for a match

	Replay *ReplayInput // of the page of replays
	Hub    *HubInput    // of the operators'
}

// recording is a file of the gallery.
type recording struct {
	Fixture cricket.Fixture `json:"fixture"`
	Display cricket.Display `json:"display"`
	Card    cricket.Card    `json:"card"`
	Events  []cricket.Event `json:"events"`
}

// Scenes returns every state that is designed. Development only: it is for those who look at the pages.
func Scenes() ([]Scene, error) {
	rec := map[string]Input{}
	for _, name := range []string{"chase", "superover", "final", "t20", "test"} {
		in, err := loadScene(name)
		if err != nil {
			return nil, err
		}
		rec[name] = in
	}
	match := func(name, what, base string, changes ...func(*Input)) Scene {
		in := rec[base]
		in.Events = slices.Clone(in.Events)
		in.Phones = scenePhones(&in)
		for _, change := range changes {
			change(&in)
		}
		return Scene{Name: name, What: what, Match: &in}
	}
	all := []ListInput{{Node: sceneNode(time.Date(2019, 7, 14, 9, 20, 0, 0, time.UTC))}}
	list := ListInput{Node: all[0].Node}
	for _, name := range []string{"t20", "chase", "test", "final"} {
		in := rec[name]
		if name == "test" {
			preMatch(&in)
		}
		in.Fixture.MatchID = "gallery-" + name
		list.Fixtures = append(list.Fixtures, in.Fixture)
	}
	return []Scene{
		match("chase", "Live: the last over of a chase", "chase"),
		match("superover", "Live: a super over", "superover"),
		match("result", "Result", "final", ended),
		match("sobreak", "Between two super overs", "superover", superOverBreak),
		match("t20", "Live: franchise colours", "t20"),
		match("test", "Live: a Test match", "test"),
		match("first", "Live: first innings", "chase", firstInnings, afterSix),
		match("prematch", "Before the start", "chase", preMatch),
		match("break", "Innings break", "chase", firstInnings, inningsBreak),
		match("rain", "Play stopped", "t20", phase(cricket.PhaseInterrupted, "Int.", "Rain stopped play at 15:07")),
		match("lunch", "Lunch", "test", phase(cricket.PhaseBreak, "Lunch", "")),
		match("stumps", "Stumps", "test", phase(cricket.PhaseStumps, "Stump Day 4", "")),
		match("abandoned", "Abandoned", "t20", phase(cricket.PhaseAbandoned, "Aban.", "Rain")),
		match("stale", "The feed is silent", "chase", silent),
		match("observer", "An observer, offline", "chase", offline),
		match("noballs", "Balls not known, unknown teams", "chase", noBalls),
		{Name: "list", What: "Several matches", List: &list},
		{Name: "replays", What: "Replays", Replay: sceneReplays()},
		{Name: "hub", What: "For operators", Hub: sceneHub()},
		{Name: "noreplays", What: "Nothing is being played", Replay: &ReplayInput{Tapes: sceneReplays().Tapes, Problem: "There is no tape “7”."}},
		{Name: "quiet", What: "Nothing on", List: &ListInput{Node: list.Node}},
	}, nil
}

func loadScene(name string) (Input, error) {
	raw, err := galleryFiles.ReadFile("gallery/" + name + ".json")
	if err != nil {
		return Input{}, fmt.Errorf("read scene: %w", err)
	}
	var r recording
	if err := json.Unmarshal(raw, &r); err != nil {
		return Input{}, fmt.Errorf("read scene %s: %w", name, err)
	}
	in := Input{Fixture: r.Fixture, Display: r.Display, Card: r.Card, Events: r.Events}
	in.Node = sceneNode(r.Display.UpdatedAt.Add(2 * time.Second))
	return in, nil
}

func sceneNode(now time.Time) NodeStatus {
	return NodeStatus{
		Version: "0.1.0", UptimeSeconds: 4512, Role: "leader",
		Lease: LeaseStatus{Key: "match:1144530", Fence: 7, Deadline: now.Add(12 * time.Second)},
		Cloud: CloudStatus{State: "none"},
		Feed: FeedStatus{
			Configured: true, Polls: 11204, Unchanged: 10480, Failed: 3, LastAnswer: "304", LastAt: now.Add(-2 * time.Second), AgeSeconds: 2,
		},
		Pushes:  PushStatus{Configured: true, Sent: 2316, Accepted: 2310, Refused: 6, PerMinute: 38.5},
		Journal: JournalStatus{First: 1, Last: 8812}, Commits: CommitStatus{LastMillis: 0.31, Members: 1.8},
		MemoryBytes: 41 << 20, Goroutines: 46, Streams: 3, Clock: ClockStatus{Speed: "30x", Now: now},
	}
}

// scenePhones makes the phones of a scene: each holds the display state, as a real one would after the last push.
func scenePhones(in *Input) []PhoneView {
	state, err := json.Marshal(cricket.NewContentState(&in.Display))
	if err != nil {
		return nil
	}
	var alerts []PhoneAlert
	for i := range in.Events {
		if e := &in.Events[i]; e.Alert {
			title := in.Display.Teams[0].Code + " v " + in.Display.Teams[1].Code
			alerts = append(alerts, PhoneAlert{Title: title, Body: e.Text, At: e.At})
		}
	}
	compact := CompactView{Trailing: fmt.Sprintf("%d off %d", in.Display.Required, in.Display.BallsLeft)}
	if in.Display.Required == 0 {
		compact.Trailing = in.Display.Teams[0].Overs
	}
	names := []struct{ name, model, look string }{
		{"Asha", "iPhone 15", "light"}, {"Tom", "iPhone 14 Pro", "dark"}, {"Club house", "iPhone SE", "light"},
		{"Ruth", "iPhone 16", "dark"}, {"Imran", "iPhone 13", "dark"},
	}
	out := make([]PhoneView, 0, len(names))
	for i, n := range names {
		v := PhoneView{
			ID: fmt.Sprintf("phone-%d", i), Name: n.name, Model: n.model, Appearance: n.look, State: state,
			Compact: compact, Alerts: alerts, P10Used: 7 + i, P10Budget: 15,
			Pushes: PhonePushes{Received: 212 + 3*i, Applied: 209 + 2*i, Dropped: 3 + i},
		}
		switch i {
		case 2:
			v.Alerts = alerts[:min(1, len(alerts))]
		case 3:
			v.Stale = true
		case 4:
			v.State, v.Alerts, v.P10Used, v.Pushes = nil, nil, 0, PhonePushes{}
		}
		out = append(out, v)
	}
	return out
}
