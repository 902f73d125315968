package threefcapp

import (
	"testing"

	"github.com/touchline/touchline/edge/app"
)

func TestSettings(t *testing.T) {
	for want, s := range map[string]Settings{
		"":        {Place: app.Place{Mount: "/3fc", Table: "3fc-prod-app"}, Origins: []string{"https://3fc.football"}},
		"table":   {Place: app.Place{Mount: "/", Table: "a b"}},
		"origins": {Place: app.Place{Mount: "/", Table: "3fc-prod-app"}, Origins: []string{"*"}},
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
