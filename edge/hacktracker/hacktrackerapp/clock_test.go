package hacktrackerapp

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/testrig/nodes"
)

// A node whose clock is set, by hours and either way, goes on reading what others write and sending what it took, as soon as ever.
func TestClockIsSet(t *testing.T) {
	nodes.ClockIsSet(t, nodes.Options{App: New}, prod, func(of *nodes.Apart) func(at string) string {
		w := &apart{Apart: of, taps: map[string]map[string]bool{}, started: map[string]string{}}
		w.newTeam()
		w.Settle()
		w.Want("b", "ana", "GET", "/hacktracker/games/"+w.games[0], "")
		return func(at string) string { return "GAME#" + w.games[0] + " ATBAT#" + w.scores(at) }
	})
}

// scores enters an at-bat at a node and returns its id.
func (w *apart) scores(at string) string {
	w.T.Helper()
	w.n++
	body := fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1,"rbis":0,"hitLocation":{"x":0.5,"y":0.%03d}}`, w.players[0], w.n)
	return w.makes(at, "/games/"+w.games[0]+"/atbats", body, "atBatId", "")
}
