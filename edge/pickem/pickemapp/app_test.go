package pickemapp

import (
	"testing"

	"github.com/touchline/touchline/edge/app"
)

func TestSettings(t *testing.T) {
	for want, s := range map[string]Settings{
		"":      {Place: app.Place{Mount: "/pickem", Table: "pickem-dev"}, Index: "GSI"},
		"table": {Place: app.Place{Mount: "/", Table: "a b"}, Index: "GSI"},
		"index": {Place: app.Place{Mount: "/", Table: "pickem-dev"}},
	} {
		var keys []string
		for _, p := range s.Problems() {
			keys = append(keys, p.Key)
		}
		if got := append(keys, "")[0]; got != want || len(keys) > 1 {
			t.Errorf("%+v: problems with %v, want %q", s, keys, want)
		}
	}
}
