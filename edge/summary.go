package edge

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/touchline/touchline/edge/cricket"
)

// Summary is what became of a match, read from the node's own tables.
type Summary struct {
	Match   string           `json:"match"`
	Title   string           `json:"title"`
	Innings []SummaryInnings `json:"innings"`
	Result  string           `json:"result"`
	Events  map[string]int   `json:"events"` // by type
	Alerts  []SummaryAlert   `json:"alerts"` // in the order they were told
	Pushes  SummaryPushes    `json:"pushes"`
}

// SummaryInnings is one innings, super overs and forfeited ones included.
type SummaryInnings struct {
	Team    string `json:"team"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Overs   string `json:"overs"` // legal balls as overs, "49.3"
}

// SummaryAlert is an event that phones were told.
type SummaryAlert struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// SummaryPushes counts what went to the push service.
type SummaryPushes struct {
	Sent     int64 `json:"sent"`
	Accepted int64 `json:"accepted"`
	Refused  int64 `json:"refused"`
}

// summarize reads the summary of a match.
func summarize(ctx context.Context, c *cricket.Service, id, title string, pushes SummaryPushes) (*Summary, error) {
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
		Innings: []SummaryInnings{}, Events: map[string]int{}, Alerts: []SummaryAlert{},
	}
	names := map[int64]string{}
	for _, t := range d.Teams {
		names[t.ID] = t.Name
	}
	for _, in := range d.Innings {
		s.Innings = append(s.Innings, SummaryInnings{names[in.TeamID], in.Runs, in.Wickets, in.Overs})
	}
	for _, e := range events {
		s.Events[string(e.Type)]++
		if e.Alert {
			s.Alerts = append(s.Alerts, SummaryAlert{e.Key, e.Text})
		}
	}
	return s, nil
}

// Print writes the summary for a person.
func (s *Summary) Print(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(tw, format, args...) } //nolint:errcheck // Flush tells
	line("%s\n\n", s.Title)
	for _, in := range s.Innings {
		line("%s\t%d/%d\t(%s)\n", in.Team, in.Runs, in.Wickets, in.Overs)
	}
	line("\n%s\n\n", s.Result)
	for _, kind := range slices.Sorted(maps.Keys(s.Events)) {
		line("%s\t%d\n", kind, s.Events[kind])
	}
	line("\n%d alerts; pushes: %d sent, %d accepted, %d refused\n", len(s.Alerts), s.Pushes.Sent, s.Pushes.Accepted, s.Pushes.Refused)
	return tw.Flush()
}
