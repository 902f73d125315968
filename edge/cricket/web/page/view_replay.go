package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/touchline/touchline/edge/cricket/replay"
)

// ReplayInput is all data of the page of replays.
type ReplayInput struct {
	Recordings []replay.Info
	Query      string // show recordings with all these words; empty: all
	Playing    []replay.Playing
	Problem    string // error of the last action; empty: none
}

// Replay is the page of replays.
type Replay struct {
	Problem    string
	Playing    []ReplayPanel
	Stopped    []ReplayPanel // can only be started again
	Recordings []replay.Info
	Count      string // "3 of 48 matches"
	Query      string
	Speeds     []string
}

// ReplayPanel is a replay with its controls.
type ReplayPanel struct {
	ID, MatchID, Title string
	RecordingID        string
	Pill               Pill
	Going              bool // otherwise it can be resumed
	Over               bool // it can only be restarted, or played from an earlier ball
	Cursor, Balls      int
	Where              string // "ball 214 of 612"
	Speed              string
	Faults             uint64
	Speeds             []string
}

// speeds lists the speeds that the page offers.
func speeds() []string { return []string{"1", "5", "30", "100", "1000"} }

// NewReplay returns the content of the page.
func NewReplay(in ReplayInput) Replay {
	r := Replay{Problem: in.Problem, Recordings: matchingRecordings(in.Recordings, in.Query), Query: in.Query, Speeds: speeds()}
	r.Count = plural(len(in.Recordings), "match", "matches")
	if len(r.Recordings) < len(in.Recordings) {
		r.Count = fmt.Sprintf("%d of %s", len(r.Recordings), r.Count)
	}
	for i := range in.Playing {
		p := &in.Playing[i]
		panel := ReplayPanel{
			ID: p.ID, RecordingID: p.RecordingID, MatchID: p.MatchID, Title: p.Title, Cursor: p.Cursor, Balls: p.Balls, Faults: p.Faults, Speeds: speeds(),
			Where: fmt.Sprintf("ball %d of %d", p.Cursor, p.Balls), Speed: strconv.FormatFloat(p.Speed, 'f', -1, 64),
			Pill: Pill{Class: "live", Icon: "dot", Text: p.Status},
		}
		switch p.Status {
		case "paused":
			panel.Pill.Class, panel.Pill.Icon = "pause", "clock"
		case "stopped", "finished":
			panel.Pill.Class, panel.Pill.Icon, panel.Over = "over", "stumps", true
		default:
			panel.Going = true
		}
		if p.Status == "stopped" {
			r.Stopped = append(r.Stopped, panel)
			continue
		}
		r.Playing = append(r.Playing, panel)
	}
	return r
}

// matchingRecordings returns the recordings that contain every word of a query, ignoring case.
func matchingRecordings(recordings []replay.Info, query string) []replay.Info {
	words := strings.Fields(strings.ToLower(query))
	var out []replay.Info
	for i := range recordings {
		t := &recordings[i]
		text := strings.ToLower(strings.Join([]string{t.ID, t.Title, t.Date, t.Type, t.Event, t.Venue, t.Result, t.Why}, "\n"))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			out = append(out, *t)
		}
	}
	return out
}
