package cricket

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Balls come in any order, and some twice. They are sorted by place and id. Of two rows with the same id the one updated last is
// kept, or the later row if both were updated at the same time; a revision may move a ball to another innings.
func TestOrderOfBalls(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 10, 9, 13, 0, second, 0, time.UTC) }
	late := Ball{ID: 60, Innings: 1, Outcome: "posted late", UpdatedAt: at(59)}
	for name, tt := range map[string]struct {
		balls []Ball
		want  []string
	}{
		"in order":     {[]Ball{{ID: 11, Innings: 1}, {ID: 12, Innings: 1}, {ID: 9, Innings: 2}}, []string{"1:11 ", "1:12 ", "2:9 "}},
		"out of order": {[]Ball{{ID: 50, Innings: 10}, {ID: 40, Innings: 2}, {ID: 12, Innings: 1}, {ID: 11, Innings: 1}, late}, []string{"1:11 ", "1:12 ", "1:60 posted late", "2:40 ", "10:50 "}},
		"the last update comes first": {
			[]Ball{{ID: 1, Innings: 1, Outcome: "FOUR", UpdatedAt: at(2)}, {ID: 2, Innings: 1}, {ID: 1, Innings: 1, UpdatedAt: at(1)}}, []string{"1:1 FOUR", "1:2 "},
		},
		"the last update comes last": {
			[]Ball{{ID: 1, Innings: 1, UpdatedAt: at(1)}, {ID: 2, Innings: 1}, {ID: 1, Innings: 1, Outcome: "FOUR", UpdatedAt: at(2)}}, []string{"1:1 FOUR", "1:2 "},
		},
		"same update time: the later row": {
			[]Ball{{ID: 1, Innings: 1, UpdatedAt: at(1)}, {ID: 1, Innings: 1, Outcome: "FOUR", UpdatedAt: at(1)}}, []string{"1:1 FOUR"},
		},
		"moved to another innings": {
			[]Ball{{ID: 2, Innings: 2, UpdatedAt: at(1)}, {ID: 1, Innings: 1, UpdatedAt: at(1)}, {ID: 2, Innings: 1, UpdatedAt: at(3)}}, []string{"1:1 ", "1:2 "},
		},
	} {
		var got []string
		for _, b := range inOrder(tt.balls) {
			got = append(got, fmt.Sprintf("%d:%d %s", b.Innings, b.ID, b.Outcome))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
