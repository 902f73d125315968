package cricketapp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/matches"
)

// Summary is the outcome of a match, read from the node's tables.
type Summary struct {
	Match   string           `json:"match"`
	Title   string           `json:"title"`
	Innings []SummaryInnings `json:"innings"`
	Result  string           `json:"result"`
	Events  map[string]int   `json:"events"`  // by type
	Alerts  []SummaryAlert   `json:"alerts"`  // in the order they were announced; those of a replay include withdrawn ones
	Dropped map[string]int   `json:"dropped"` // events of alerting types without an alert, by rule
	Pushes  SummaryPushes    `json:"pushes"`
}

// late returns how many events would have alerted had the node processed them in time.
func (s *Summary) late() int {
	return s.Dropped[cricket.StaleRule] + s.Dropped["burst"] + s.Dropped["baseline"]
}

// SummaryInnings is one innings; super overs and forfeited innings are included.
type SummaryInnings struct {
	Team    string `json:"team"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Overs   string `json:"overs"` // legal balls as overs, "49.3"

	AllOut   bool `json:"-"`
	Declared bool `json:"-"`
}

// score returns the score as in alerts: "88 all out", "241/8", "402/6 declared".
func (in *SummaryInnings) score() string {
	switch {
	case in.AllOut:
		return fmt.Sprintf("%d all out", in.Runs)
	case in.Declared:
		return fmt.Sprintf("%d/%d declared", in.Runs, in.Wickets)
	default:
		return fmt.Sprintf("%d/%d", in.Runs, in.Wickets)
	}
}

// SummaryAlert is an event announced to phones.
type SummaryAlert struct {
	Key       string `json:"key"`
	Text      string `json:"text"`
	Withdrawn bool   `json:"withdrawn,omitempty"` // its event is no longer in the record
}

// SummaryPushes counts the pushes.
type SummaryPushes struct {
	Sent     int64 `json:"sent"`
	Accepted int64 `json:"accepted"`
	Refused  int64 `json:"refused"`
}

// summarize returns the summary of a match.
func summarize(ctx context.Context, c *matches.Service, id, title string, pushes SummaryPushes) (*Summary, error) {
	d, err := c.Display(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := c.Events(ctx, id)
	if err != nil {
		return nil, err
	}
	s := &Summary{
		Match: id, Title: title, Result: d.Result, Pushes: pushes,
		Innings: []SummaryInnings{}, Events: map[string]int{}, Alerts: []SummaryAlert{}, Dropped: map[string]int{},
	}
	names := map[int64]string{}
	for _, t := range d.Teams {
		names[t.ID] = t.Name
	}
	for _, in := range d.Innings {
		s.Innings = append(s.Innings, SummaryInnings{
			Team: names[in.TeamID], Runs: in.Runs, Wickets: in.Wickets, Overs: in.Overs, AllOut: in.AllOut, Declared: in.Declared,
		})
	}
	for _, e := range events {
		s.Events[string(e.Type)]++
		if e.Alert {
			s.Alerts = append(s.Alerts, SummaryAlert{Key: e.Key, Text: cmp.Or(e.Told, e.Text)})
		}
		if e.Dropped != "" {
			s.Dropped[e.Dropped]++
		}
	}
	return s, nil
}

// Print writes the summary as text.
func (s *Summary) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(tw, format, args...) } //nolint:errcheck // Flush tells
	line("%s\n\n", s.Title)
	for i := range s.Innings {
		in := &s.Innings[i]
		line("%s\t%s\t(%s)\n", in.Team, in.score(), strings.TrimSuffix(in.Overs, ".0")) // as in alerts
	}
	line("\n%s\n\n", s.Result)
	for _, kind := range slices.Sorted(maps.Keys(s.Events)) {
		line("%s\t%d\n", kind, s.Events[kind])
	}
	if n := s.late(); n > 0 {
		line("\nalerts left out because the news was old: %d\n", n)
	}
	line("\n%d alerts; pushes: %d sent, %d accepted, %d refused\n", len(s.Alerts), s.Pushes.Sent, s.Pushes.Accepted, s.Pushes.Refused)
	return tw.Flush()
}
