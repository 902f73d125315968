package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tape is a finished match that can be played again.
type Tape struct {
	ID     string `json:"id"`
	Title  string `json:"title"` // "England v New Zealand"
	Date   string `json:"date"`  // 2019-07-14
	Type   string `json:"type"`  // ODI, T20, Test/5day
	Event  string `json:"event,omitempty"`
	Venue  string `json:"venue,omitempty"`
	Result string `json:"result,omitempty"`
	Why    string `json:"why,omitempty"` // what makes it worth a look
	Balls  int    `json:"balls"`
}

// Playing is a tape that is played as if it were live.
type Playing struct {
	ID        string    `json:"id"`
	TapeID    string    `json:"tapeId"`
	MatchID   string    `json:"matchId"` // that it is played as
	Title     string    `json:"title"`
	Status    string    `json:"status"` // playing, paused, stopped, finished, or what the match is in ("Innings Break")
	Cursor    int       `json:"cursor"` // balls bowled
	Balls     int       `json:"balls"`
	MsPerBall float64   `json:"msPerBall"` // real time between two balls
	Speed     float64   `json:"speed"`
	Faults    uint64    `json:"faults"` // seed of the lies that the feed tells; 0: none
	StartedAt time.Time `json:"startedAt"`
}

// ReplayInput is everything the page of replays shows.
type ReplayInput struct {
	Tapes   []Tape
	Query   string // of the tapes those that have all its words; empty: all
	Playing []Playing
	Problem string // what was wrong with what was asked for; empty: nothing
	Nav     *Nav
}

// Replay is the page of replays.
type Replay struct {
	Problem string
	Playing []ReplayPanel
	Stopped []ReplayPanel // can only be played anew
	Tapes   []Tape
	Count   string // "3 of 48 matches"
	Query   string
	Speeds  []string
}

// ReplayPanel is a replay with its controls.
type ReplayPanel struct {
	ID, MatchID, Title string
	TapeID             string
	Pill               Pill
	Going              bool // else it can be played on
	Over               bool // it can only be played anew, or from an earlier ball
	Cursor, Balls      int
	Where              string // "ball 214 of 612"
	Speed              string
	Faults             uint64
	Speeds             []string
}

// speeds are what the page offers.
func speeds() []string { return []string{"1", "5", "30", "100", "1000"} }

// NewReplay works the page out.
func NewReplay(in ReplayInput) Replay {
	r := Replay{Problem: in.Problem, Tapes: found(in.Tapes, in.Query), Query: in.Query, Speeds: speeds()}
	r.Count = plural(len(in.Tapes), "match", "matches")
	if len(r.Tapes) < len(in.Tapes) {
		r.Count = fmt.Sprintf("%d of %s", len(r.Tapes), r.Count)
	}
	for i := range in.Playing {
		p := &in.Playing[i]
		panel := ReplayPanel{
			ID: p.ID, TapeID: p.TapeID, MatchID: p.MatchID, Title: p.Title, Cursor: p.Cursor, Balls: p.Balls, Faults: p.Faults, Speeds: speeds(),
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

// found returns the tapes that have every word of a query somewhere, in either case.
func found(tapes []Tape, query string) []Tape {
	words := strings.Fields(strings.ToLower(query))
	var out []Tape
	for i := range tapes {
		t := &tapes[i]
		text := strings.ToLower(strings.Join([]string{t.ID, t.Title, t.Date, t.Type, t.Event, t.Venue, t.Result, t.Why}, "\n"))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			out = append(out, *t)
		}
	}
	return out
}

// Replays renders the page of replays. It works by plain forms.
func (r *Renderer) Replays(in ReplayInput) ([]byte, error) {
	v, err := r.replay(&in)
	if err != nil {
		return nil, err
	}
	return r.framed("replay-page", template.HTML(v.Parts[0].HTML), //nolint:gosec // made by our own templates, which escape
		frame{Title: v.Title + " · touchline", Body: "page-replay", Module: "refresh.js", Kits: extra(), Nav: in.Nav})
}

func (r *Renderer) replay(in *ReplayInput) (View, error) {
	return r.parts(View{}, "Replays", []block{{"replay", NewReplay(*in)}})
}
