package payload

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/edge/cricket"
)

// ContentState is what a Live Activity shows: the app's Swift struct of that name, property by property. It is
// built once per match and state, the same for every follower. The app decodes it with Swift's default decoder,
// which silently drops a state that lacks a required property: names and optionality are a contract.
type ContentState struct {
	Phase        cricket.Phase   `json:"phase"`
	Status       string          `json:"status"`
	Teams        []ContentTeam   `json:"teams"`   // batting side first
	Batters      []ContentBatter `json:"batters"` // at most two
	Bowler       *ContentBowler  `json:"bowler,omitempty"`
	Stand        *cricket.Stand  `json:"stand,omitempty"`
	LastBalls    []string        `json:"lastBalls"` // marks, newest last
	Target       int             `json:"target,omitempty"`
	Required     int             `json:"requiredRuns,omitempty"`
	BallsLeft    int             `json:"ballsLeft,omitempty"`
	RunRate      string          `json:"runRate,omitempty"`
	RequiredRate string          `json:"requiredRate,omitempty"`
	Lead         *int            `json:"lead,omitempty"`
	Day          int             `json:"day,omitempty"`
	Equation     string          `json:"equation,omitempty"`
	Note         string          `json:"note,omitempty"`
	KeyEvent     *ContentEvent   `json:"keyEvent,omitempty"`
	Result       string          `json:"result,omitempty"`
	UpdatedAt    SwiftDate       `json:"updatedAt"`
}

// ContentTeam is a side with its latest innings. Earlier holds its previous innings, "352" or "417/8d & 12/1".
type ContentTeam struct {
	ID      int64  `json:"id"`
	Code    string `json:"code"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Overs   string `json:"overs"`
	Batting bool   `json:"batting"`
	Batted  bool   `json:"batted"`
	Earlier string `json:"earlier,omitempty"`
}

// ContentBatter is a batter at the crease.
type ContentBatter struct {
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Balls    int    `json:"balls"`
	OnStrike bool   `json:"onStrike"`
}

// ContentBowler is the bowler of the latest ball.
type ContentBowler struct {
	Name    string `json:"name"`
	Overs   string `json:"overs"`
	Maidens int    `json:"maidens"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
}

// ContentEvent is the banner.
type ContentEvent struct {
	Type string    `json:"type"`
	Text string    `json:"text"`
	At   SwiftDate `json:"at"`
}

// swiftEpoch is Swift's reference date, 2001-01-01T00:00:00Z, in epoch milliseconds.
const swiftEpoch = 978307200_000

// SwiftDate is a time in Swift's default encoding: seconds since 2001.
type SwiftDate time.Time

// MarshalJSON writes seconds, with milliseconds if there are any.
func (d SwiftDate) MarshalJSON() ([]byte, error) {
	ms := time.Time(d).UnixMilli() - swiftEpoch
	if ms%1000 == 0 {
		return strconv.AppendInt(nil, ms/1000, 10), nil
	}
	return strconv.AppendFloat(nil, float64(ms)/1000, 'f', -1, 64), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *SwiftDate) UnmarshalJSON(raw []byte) error {
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err == nil {
		*d = SwiftDate(time.UnixMilli(swiftEpoch + int64(seconds*1000)))
	}
	return err
}

// NewContentState returns the part of a display that a lock screen shows.
func NewContentState(d *cricket.Display) ContentState {
	c := ContentState{
		Phase: d.Phase, Status: d.Status, Teams: []ContentTeam{}, Batters: []ContentBatter{}, LastBalls: []string{},
		Stand: d.Partnership, Target: d.Target, Required: d.Required, BallsLeft: d.BallsLeft, RunRate: d.RunRate,
		RequiredRate: d.RequiredRate, Lead: d.Lead, Day: d.Day, Equation: d.Equation, Note: d.Note, Result: d.Result,
		UpdatedAt: SwiftDate(d.UpdatedAt),
	}
	for i := range d.Teams {
		c.Teams = append(c.Teams, contentTeam(d, &d.Teams[i]))
	}
	for i := range d.Batters {
		b := &d.Batters[i]
		c.Batters = append(c.Batters, ContentBatter{Name: b.Name, Runs: b.Runs, Balls: b.Balls, OnStrike: b.OnStrike})
	}
	if b := d.Bowler; b != nil {
		c.Bowler = &ContentBowler{Name: b.Name, Overs: b.Overs, Maidens: b.Maidens, Runs: b.Runs, Wickets: b.Wickets}
	}
	for _, b := range d.LastBalls {
		c.LastBalls = append(c.LastBalls, b.Mark)
	}
	if k := d.KeyEvent; k != nil {
		c.KeyEvent = &ContentEvent{Type: k.Type, Text: k.Text, At: SwiftDate(k.At)}
	}
	return c
}

func contentTeam(d *cricket.Display, t *cricket.TeamScore) ContentTeam {
	c := ContentTeam{
		ID: t.ID, Code: codeOf(d, t), Runs: t.Runs, Wickets: t.Wickets, Overs: t.Overs, Batting: t.Batting, Batted: t.Batted,
	}
	var own []cricket.InningsLine
	for _, in := range d.Innings {
		if in.TeamID == t.ID {
			own = append(own, in)
		}
	}
	slices.SortFunc(own, func(a, b cricket.InningsLine) int { return cmp.Compare(a.No, b.No) })
	for i := range max(0, len(own)-1) {
		if i > 0 {
			c.Earlier += " & "
		}
		c.Earlier += inningsScore(&own[i])
	}
	return c
}

// inningsScore writes a finished innings: "352", "417/8d", "241/8".
func inningsScore(in *cricket.InningsLine) string {
	switch {
	case in.Forfeited:
		return "forfeited"
	case in.AllOut && !in.SuperOver:
		return strconv.Itoa(in.Runs)
	case in.Declared:
		return strconv.Itoa(in.Runs) + "/" + strconv.Itoa(in.Wickets) + "d"
	default:
		return strconv.Itoa(in.Runs) + "/" + strconv.Itoa(in.Wickets)
	}
}

// Hash returns a hash of what a phone shows. It ignores the times of the state and of the banner's event.
func (c ContentState) Hash() uint64 {
	c.UpdatedAt = SwiftDate(time.UnixMilli(swiftEpoch))
	if c.KeyEvent != nil {
		k := *c.KeyEvent
		k.At = c.UpdatedAt
		c.KeyEvent = &k
	}
	h := fnv.New64a()
	raw, _ := json.Marshal(c) // strings, numbers and booleans only: cannot fail
	_, _ = h.Write(raw)
	return h.Sum64()
}

// Encode encodes the state in at most limit bytes. It removes the least important parts first; what is left
// after all pruning is returned even if it is longer.
func (c ContentState) Encode(limit int) (json.RawMessage, error) { return c.encode(limit, false) }

// encode is Encode that keeps the key event, cut, if that is what the push is for.
func (c ContentState) encode(limit int, keepsEvent bool) (json.RawMessage, error) {
	raw, err := encodeContent(c)
	for _, prune := range contentPruning() {
		if err != nil || len(raw) <= limit {
			break
		}
		k := c.KeyEvent
		if prune(&c); keepsEvent && c.KeyEvent == nil {
			c.KeyEvent = k
		}
		raw, err = encodeContent(c)
	}
	return raw, err
}

// encodeContent does not escape "<" and "&", which Swift accepts: that saves bytes.
func encodeContent(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// contentPruning lists, in order, what is removed from a state that is too long.
func contentPruning() []func(*ContentState) {
	return []func(*ContentState){
		func(c *ContentState) { c.Note = cut(c.Note, 60) },
		func(c *ContentState) {
			if c.KeyEvent != nil {
				k := *c.KeyEvent
				k.Text = cut(k.Text, 80)
				c.KeyEvent = &k
			}
		},
		func(c *ContentState) { c.Stand = nil },
		func(c *ContentState) { c.shorten(16) },
		func(c *ContentState) { c.Note = "" },
		func(c *ContentState) { c.LastBalls = []string{} },
		func(c *ContentState) { c.KeyEvent = nil },
		func(c *ContentState) { c.Status, c.Result = cut(c.Status, 20), cut(c.Result, 80) },
		func(c *ContentState) { c.Batters, c.Bowler = []ContentBatter{}, nil },
		func(c *ContentState) { c.Equation = cut(c.Equation, 40) },
		func(c *ContentState) { c.Teams = slices.Clone(c.Teams[:min(2, len(c.Teams))]) },
		func(c *ContentState) {
			for i := range c.Teams {
				c.Teams[i].Earlier, c.Teams[i].Code = "", cut(c.Teams[i].Code, 8)
			}
		},
	}
}

// shorten cuts names. It works on copies, because pruning must not change the caller's state.
func (c *ContentState) shorten(runes int) {
	c.Batters = slices.Clone(c.Batters)
	for i := range c.Batters {
		c.Batters[i].Name = cut(c.Batters[i].Name, runes)
	}
	if c.Bowler != nil {
		b := *c.Bowler
		b.Name = cut(b.Name, runes)
		c.Bowler = &b
	}
}

// cut shortens a text to runes characters, the last of them an ellipsis.
func cut(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	r := []rune(s)
	return string(r[:runes-1]) + "…"
}
