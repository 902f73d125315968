package cricketapp

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
)

// Records are compared by their facts: it does not matter whether a row or a ball showed an event, nor which corrections exist.
func TestRecordDiff(t *testing.T) {
	clean := []cricket.Event{
		{Key: "b:1", Type: cricket.EventFour, Text: "FOUR! Gill · IND 4/0 (0.1)", Innings: 1},
		{Key: "b:2", Type: cricket.EventSix, Text: "SIX! Gill · IND 10/0 (0.2)", Innings: 1},
		{Key: "w:1:1", Type: cricket.EventWicket, Text: "WICKET! Gill b Starc 10 (3) · IND 10/1 (0.3)", Detail: "bowled", Innings: 1},
		{Key: "md:1:2", Type: cricket.EventMaiden, Text: "Maiden: Starc", Innings: 1},
	}
	for name, tc := range map[string]struct {
		change func([]cricket.Event) []cricket.Event
		want   []string
	}{
		"the same": {func(e []cricket.Event) []cricket.Event { return e }, nil},
		"a four from a row": {func(e []cricket.Event) []cricket.Event {
			e[0].Key, e[0].Text = "4:1:7:1", "FOUR! Gill · IND 10/0 (0.2)"
			return e
		}, nil},
		"corrected": {func(e []cricket.Event) []cricket.Event {
			return append(e, cricket.Event{Key: "corr:w:1:2", Type: cricket.EventCorrection})
		}, nil},
		"no maiden": {func(e []cricket.Event) []cricket.Event { return e[:3] }, []string{"missing: maiden of innings 1:  Starc"}},
		"a six for a four": {func(e []cricket.Event) []cricket.Event {
			e[0].Type, e[0].Text = cricket.EventSix, "SIX! Gill · IND 6/0 (0.1)"
			return e
		}, []string{"missing: four of innings 1:  Gill", "false: six of innings 1:  Gill"}},
		"another batter": {func(e []cricket.Event) []cricket.Event {
			e[2].Text, e[2].Detail = "WICKET! Rahul run out 0 (0) · IND 10/1 (0.3)", "run_out"
			return e
		}, []string{
			"missing: wicket of innings 1: w:1:1 WICKET! Gill b Starc 10 bowled",
			"false: wicket of innings 1: w:1:1 WICKET! Rahul run out 0 run_out",
		}},
	} {
		got := recordDiff(tc.change(append([]cricket.Event(nil), clean...)), clean)
		if diff := cmp.Diff(tc.want, got.Each); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		n := 0
		for _, of := range []map[string]int{got.Missing, got.False} {
			for _, k := range of {
				n += k
			}
		}
		if n != len(tc.want) {
			t.Errorf("%s: counts %d, want %d", name, n, len(tc.want))
		}
	}
}
