//go:build long

package sportmonks_test

import (
	"testing"

	"github.com/touchline/touchline/edge/cricket/replay"
)

// TestBallsReconcileWithTheScoreLines for every recorded match.
func TestBallsReconcileInEveryMatch(t *testing.T) {
	for _, info := range replay.List() {
		t.Run(info.ID, func(t *testing.T) { playMatch(t, info.ID) })
	}
}
