package recording

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/corpus"
)

// Any file is either refused, or all players named in its recording belong to the right side.
func FuzzRead(f *testing.F) {
	f.Add([]byte(match))
	f.Add([]byte(strings.Replace(match, `"wides":1`, `"penalty":1`, 1)))
	f.Add([]byte(`{"info":{"teams":["A","B"]},"innings":[{}]}`))
	corpus.Add(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Read("7", "", src)
		if err != nil {
			return
		}
		for _, in := range m.Innings {
			for _, o := range in.Overs {
				for _, d := range o.Balls {
					if m.Player(d.Batter) == nil || m.Player(d.Bowler) == nil || d.Batter.Team() != in.Team || d.Bowler.Team() == in.Team {
						t.Fatalf("over %d: %+v", o.No, d)
					}
				}
			}
		}
	})
}
