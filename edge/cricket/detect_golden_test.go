package cricket_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/edge/cricket"
)

var updateTexts = flag.Bool("update-texts", false, "rewrite the golden files of the events' texts")

// maxFrequent is how many events of each frequent type a golden file has.
const maxFrequent = 4

// The texts of real matches are as the golden files have them, which a person has checked: a T20 with a hat-trick, a final that
// a super over did not settle, a four-day match, a match shortened by rain, and the final without balls. With -short, only the
// T20 and the shortened match.
func TestTexts(t *testing.T) {
	for _, tc := range []struct {
		name, id string
		balls    bool
		long     bool
	}{
		{"t20", "1192877", true, false}, {"final", "1144530", true, true}, {"fourday", "1244270", true, true}, {"rain", "947101", true, false},
		{"final_without_balls", "1144530", false, true},
	} {
		if tc.long && testing.Short() {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", "detect", tc.name+".txt"), texts(play(t, tc.id, tc.balls).events))
		})
	}
}

func texts(events []cricket.Event) string {
	var b strings.Builder
	n := map[cricket.EventType]int{}
	for _, e := range events {
		n[e.Type]++
		switch e.Type {
		case cricket.EventFour, cricket.EventSix, cricket.EventOverEnd, cricket.EventMaiden, cricket.EventNewBatsman:
			if n[e.Type] > maxFrequent {
				continue
			}
		default:
		}
		fmt.Fprintf(&b, "%-17s %-22s %s\n", e.Type, e.Key, e.Text)
	}
	return b.String()
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *updateTexts {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
