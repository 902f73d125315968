package cricketapp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/cricketapp"
)

// promised returns a report that keeps every promise, of a match with a wicket and a result.
func promised() *cricketapp.ReplayReport {
	r := &cricketapp.ReplayReport{
		LargestPayload: 900, UrgentPerHour: 3, PhonesRight: true,
		Display: cricket.Display{MatchID: "1", Result: "Reds won", Innings: []cricket.InningsLine{{No: 1, Runs: 9}}},
		Record: []cricket.Event{
			{Key: "w:1:1", Type: cricket.EventWicket, Text: "WICKET! Kohli b Starc 1 (2)", Alert: true},
			{Key: "m50:1:7", Type: cricket.EventFifty, Text: "FIFTY! Gill 50 (41)", Dropped: "cooldown"},
			{Key: "result", Type: cricket.EventResult, Text: "Reds won by 9 runs", Alert: true},
		},
		Shown: []string{"WICKET! Kohli b Starc 1 (2)", "Reds won by 9 runs"},
	}
	r.Pushes.Sent, r.Pushes.Accepted = 5, 5
	r.Alerts = []cricketapp.SummaryAlert{{Key: "w:1:1"}, {Key: "result"}}
	return r
}

// againstClean finds every breach of a promise, and nothing else.
func TestPromises(t *testing.T) {
	announce := func(r *cricketapp.ReplayReport, e cricket.Event) {
		e.Alert = true
		r.Record = append(r.Record, e)
		r.Alerts = append(r.Alerts, cricketapp.SummaryAlert{Key: e.Key, Text: e.Text})
	}
	phantom := cricket.Event{Key: "w:1:2", Type: cricket.EventWicket, Text: "WICKET! Sharma c & b Starc 0 (1)"}
	correction := cricket.Event{Key: "corr:w:1:2", Type: cricket.EventCorrection, Detail: "w:1:2", Text: "Correction: Sharma not out (review)"}
	for _, tt := range []struct {
		name, want string
		change     func(r *cricketapp.ReplayReport)
	}{
		{"no difference", "", func(*cricketapp.ReplayReport) {}},
		{"another display time", "", func(r *cricketapp.ReplayReport) { r.Display.UpdatedAt = r.Display.UpdatedAt.Add(1) }},
		{"another score", "final display", func(r *cricketapp.ReplayReport) { r.Display.Innings = []cricket.InningsLine{{No: 1, Runs: 8}} }},
		{"a wicket that did not fall", "alert w:1:2", func(r *cricketapp.ReplayReport) { announce(r, phantom) }},
		{"and is corrected", "", func(r *cricketapp.ReplayReport) { announce(r, phantom); announce(r, correction) }},
		{"corrected before it was announced", "alert w:1:2", func(r *cricketapp.ReplayReport) { announce(r, correction); announce(r, phantom) }},
		{"another batter", "alert w:1:1", func(r *cricketapp.ReplayReport) { r.Record[0].Text = "WICKET! Sharma b Starc 1 (2)" }},
		{"two wickets in one alert", "", func(r *cricketapp.ReplayReport) { r.Record[0].Text = "2 wickets! Kohli b Starc 1 (2)" }},
		{"another winner", "alert result", func(r *cricketapp.ReplayReport) { r.Record[2].Text = "Blues won by 9 runs" }},
		{"a wicket is missing", "w:1:1 (WICKET! Kohli b Starc 1 (2)) is missing", func(r *cricketapp.ReplayReport) { r.Record = r.Record[1:] }},
		{"a rule dropped it", "", func(r *cricketapp.ReplayReport) { r.Record[0].Alert, r.Record[0].Dropped = false, "budget" }},
		{"no rule dropped it", "no rule dropped it", func(r *cricketapp.ReplayReport) { r.Record[0].Alert = false }},
		{"an alert twice", "alert w:1:1 twice", func(r *cricketapp.ReplayReport) { r.Alerts = append(r.Alerts, r.Alerts[0]) }},
		{"no result", "no alert for the result", func(r *cricketapp.ReplayReport) { r.Alerts = r.Alerts[:1] }},
		{"shown twice", `showed "Reds won by 9 runs" 2 times`, func(r *cricketapp.ReplayReport) { r.Shown = append(r.Shown, "Reds won by 9 runs") }},
		{"sixteen an hour", "16 pushes", func(r *cricketapp.ReplayReport) { r.UrgentPerHour = 16 }},
		{"wrong last words", "of w:1:1", func(r *cricketapp.ReplayReport) {
			r.LastWords = &cricketapp.LastWords{Wrong: 1, Each: []string{"wrong: of w:1:1"}}
		}},
		{"true last words", "", func(r *cricketapp.ReplayReport) { r.LastWords = &cricketapp.LastWords{} }},
		{"a wrong record", "false: four", func(r *cricketapp.ReplayReport) {
			r.RecordDiff = &cricketapp.RecordDiff{Each: []string{"false: four"}}
		}},
		{"a correct record", "", func(r *cricketapp.ReplayReport) { r.RecordDiff = &cricketapp.RecordDiff{} }},
		{"too long", "a payload of 2049", func(r *cricketapp.ReplayReport) { r.LargestPayload = 2049 }},
		{"backwards", "did not rise", func(r *cricketapp.ReplayReport) { r.Late = 1 }},
		{"mute", "lit up another", func(r *cricketapp.ReplayReport) { r.Mute = 2 }},
		{"ignored", "ignored 1", func(r *cricketapp.ReplayReport) { r.Ignored = 1 }},
		{"refused", "pushes", func(r *cricketapp.ReplayReport) { r.Pushes.Refused = 1 }},
		{"a phone shows something else", "a phone shows", func(r *cricketapp.ReplayReport) { r.PhonesRight = false }},
	} {
		r := promised()
		tt.change(r)
		got := againstClean(r, promised())
		if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, tt.want) }) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
