package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/payload"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/lease"
)

//go:embed gallery/*.json
var galleryFiles embed.FS

// Scene is one state of a page, from fixed data: a real match stopped at an instructive moment.
type Scene struct {
	Name  string
	What  string
	Match *Input     // nil for a list
	List  *ListInput // nil for a match

	Replay   *ReplayInput // of the page of replays
	Operator *page.OperatorInput
}

// recording is a file of the gallery.
type recording struct {
	Fixture matches.Fixture `json:"fixture"`
	Display cricket.Display `json:"display"`
	Card    cricket.Card    `json:"card"`
	Events  []cricket.Event `json:"events"`
}

// Scenes returns all designed states, for development.
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
		match("result", "Result", "final", endActivities),
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
		match("postponed", "Postponed", "t20", phase(cricket.PhasePostponed, "Postp.", "Rain")),
		match("nonews", "No more news", "chase", phase(cricket.PhaseNoNews, "No more news", "")),
		match("stale", "The feed is silent", "chase", silent),
		match("observer", "An observer, offline", "chase", offline),
		match("noballs", "Balls not known, unknown teams", "chase", noBalls),
		{Name: "list", What: "Several matches", List: &list},
		{Name: "replays", What: "Replays", Replay: sceneReplays()},
		{Name: "hub", What: "For operators", Operator: sceneOperator()},
		{Name: "noreplays", What: "Nothing is being played", Replay: &ReplayInput{Recordings: sceneReplays().Recordings, Problem: "There is no replay “7”."}},
		{Name: "quiet", What: "Nothing on", List: &ListInput{Node: list.Node}},
	}, nil
}

// Gallery renders all scenes, and first the small parts in all their states.
func (r *Renderer) Gallery() ([]page.Scene, error) {
	scenes, err := Scenes()
	if err != nil {
		return nil, err
	}
	kit, err := r.Parts(page.View{}, "Small parts", []page.Block{{ID: "kit", Data: newKitBox()}})
	if err != nil {
		return nil, err
	}
	kit.Kind, kit.Styles = "kit", []string{"match.css", "team.css"}
	out := []page.Scene{{Name: "kit", What: "Small parts", View: kit}}
	if out[0].Page, err = r.Bare(kit, nil); err != nil {
		return nil, err
	}
	for i := range scenes {
		one := page.Scene{Name: scenes[i].Name, What: scenes[i].What}
		if one.View, err = r.scene(&scenes[i]); err != nil {
			return nil, err
		}
		if one.Page, err = r.sceneAlone(one.View); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (r *Renderer) scene(s *Scene) (page.View, error) {
	switch {
	case s.Replay != nil:
		return r.Replays(*s.Replay)
	case s.Operator != nil:
		return r.Operator(*s.Operator)
	case s.List != nil:
		return r.List(*s.List, page.View{})
	}
	return r.Match(*s.Match, page.View{})
}

// sceneAlone renders a scene as a static page.
func (r *Renderer) sceneAlone(v page.View) ([]byte, error) {
	if len(v.Parts) == 1 {
		return r.Bare(v, nil)
	}
	return r.Page(v, page.Frame{})
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
	return NodeStatus{operator.NodeStatus{
		Version: "0.1.0", UptimeSeconds: 4512, Cloud: operator.CloudStatus{State: "none"},
		Journal: store.JournalStats{First: 1, Last: 8812}, Commits: store.CommitStats{LastMillis: 0.31, Shared: 1.8},
		MemoryBytes: 41 << 20, Goroutines: 46, Streams: 3, Clock: operator.ClockStatus{Speed: "30x", Now: now},
	}, Status{
		Role: "leader", Lease: lease.Status{Key: "match:1144530", Fence: 7, Deadline: now.Add(12 * time.Second)},
		Feed: FeedStatus{
			Configured: true, Status: poll.Status{Polls: 11204, Unchanged: 10480, Failed: 3}, LastAnswer: "304", LastAt: now.Add(-2 * time.Second), AgeSeconds: 2,
		},
		Pushes: PushStatus{Configured: true, Counts: push.Counts{Sent: 2316, Accepted: 2310, Refused: 6}, PerMinute: 38.5},
	}}
}

// scenePhones returns the phones of a scene: each has the display state of its last push.
func scenePhones(in *Input) []sandbox.PhoneView {
	state, err := json.Marshal(payload.NewContentState(&in.Display))
	if err != nil {
		return nil
	}
	var alerts []sandbox.ShownAlert
	for i := range in.Events {
		if e := &in.Events[i]; e.Alert {
			title := in.Display.Teams[0].Code + " v " + in.Display.Teams[1].Code
			alerts = append(alerts, sandbox.ShownAlert{Alert: payload.Alert{Title: title, Body: e.Text}, At: e.At})
		}
	}
	compact := sandbox.Compact{Trailing: fmt.Sprintf("%d off %d", in.Display.Required, in.Display.BallsLeft)}
	if in.Display.Required == 0 {
		compact.Trailing = in.Display.Teams[0].Overs
	}
	phones := []sandbox.Phone{
		{Name: "Asha", Model: "iPhone 15"}, {Name: "Tom", Model: "iPhone 14 Pro", Dark: true}, {Name: "Club house", Model: "iPhone SE"},
		{Name: "Ruth", Model: "iPhone 16", Dark: true}, {Name: "Imran", Model: "iPhone 13", Dark: true},
	}
	out := make([]sandbox.PhoneView, 0, len(phones))
	for i, p := range phones {
		p.DeviceID = fmt.Sprintf("phone-%d", i)
		v := sandbox.PhoneView{
			Phone: p, Alerts: alerts, UrgentLastHour: 7 + i, UrgentLimit: 15, Received: 212 + 3*i, Ignored: 3 + i,
			Activities: []sandbox.ActivityView{{State: state, Compact: compact}},
		}
		switch i {
		case 2:
			v.Alerts = alerts[:min(1, len(alerts))]
		case 3:
			v.Activities[0].Stale = true
		case 4:
			v.Activities[0].State, v.Alerts, v.UrgentLastHour, v.Received, v.Ignored = nil, nil, 0, 0, 0
		}
		out = append(out, v)
	}
	return out
}
