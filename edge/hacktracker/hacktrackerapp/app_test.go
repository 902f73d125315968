package hacktrackerapp

import (
	"testing"

	"github.com/touchline/touchline/edge/app"
)

func TestSettings(t *testing.T) {
	for want, s := range map[string]Settings{
		"":      {Place: app.Place{Mount: "/hacktracker", Table: "hacktracker-dev"}},
		"table": {Place: app.Place{Mount: "/", Table: "a b"}},
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
