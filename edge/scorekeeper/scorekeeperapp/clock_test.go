package scorekeeperapp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node whose clock is set, by hours and either way, goes on reading what others write and sending what it took, as soon as ever.
func TestClockIsSet(t *testing.T) {
	nodes.ClockIsSet(t, nodes.Options{App: New}, prod, func(w *nodes.Apart) func(at string) string {
		words := strings.Fields("manna crane slate moist proud brick joust waltz")
		n := map[string]int{}
		return func(at string) string {
			day := w.Clock.Wall().UTC()
			if at == "b" {
				day = day.AddDate(0, 0, 1) // an admin at each node changes the answer of a day
			}
			puzzle := day.Format(scorekeeper.Day)
			w.Want(at, nodes.Boss, "PUT", "/scorekeeper/puzzles", fmt.Sprintf(`{"date":%q,"word":%q}`, puzzle, words[n[at]]))
			n[at]++
			key := scorekeeper.AnswerKey(puzzle)
			return key["pk"].Str() + " " + key["sk"].Str()
		}
	})
}
