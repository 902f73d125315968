package hacktrackerapp

import "testing"

func TestSettings(t *testing.T) {
	for want, s := range map[string]Settings{
		"":      {Mount: "/hacktracker", Table: "hacktracker-dev"},
		"mount": {Mount: "hacktracker", Table: "hacktracker-dev"},
		"table": {Mount: "/", Table: "a b"},
	} {
		got := ""
		for _, p := range s.Problems() {
			got += p.Key
		}
		if got != want {
			t.Errorf("%+v: problems with %q, want %q", s, got, want)
		}
	}
}
