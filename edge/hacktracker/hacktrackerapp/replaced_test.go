package hacktrackerapp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/nodes"
	"github.com/touchline/touchline/store/attr"
)

// A machine is replaced from a backup, and its old disk is started later, or the other way round; or a snapshot of it runs elsewhere for a
// while. At-bats, runs, corrections and at-bats taken back that any of them has acknowledged arrive, and nobody is asked.
func TestMachineIsReplaced(t *testing.T) {
	nodes.PlayReplaced(t, func(t *testing.T) *nodes.Replaced { return newReplaced(t).Replaced })
}

// replaced is a team whose game is scored at a machine that is replaced.
type replaced struct {
	*nodes.Replaced
	*apart
	atBats []string // from before the machine is copied; each write corrects or takes back one of its own
}

func newReplaced(t *testing.T) *replaced {
	w := &replaced{apart: newApart(t)}
	w.Replaced = &nodes.Replaced{Apart: w.apart.Apart, Write: w.write}
	for range 10 {
		w.atBats = append(w.atBats, w.scores("a"))
	}
	w.apart.Settle()
	return w
}

func (w *replaced) write(at string, n int) {
	game, atBat := w.games[0], w.atBats[n/9*2+n%9/7]
	place := fmt.Sprintf("0.5%02d1", n)
	row := "GAME#" + game + " METADATA"
	switch n % 9 {
	case 0, 2, 4, 6, 8:
		body := fmt.Sprintf(`{"playerId":%q,"result":"1B","inning":1,"outs":0,"battingOrder":1,"rbis":0,"hitLocation":{"x":0.5,"y":%s}}`, w.players[0], place)
		if id := w.makes(at, "/games/"+game+"/atbats", body, "atBatId", ""); id != "" {
			w.Acknowledged("at-bat", id, func(cloud map[string]attr.Item) bool {
				return cloud["GAME#"+game+" ATBAT#"+id] != nil
			})
		}
	case 1, 5:
		tap := fmt.Sprintf("01JT6XQ0Z8M1C3V5N7B9D1%04d", n)
		if w.makes(at, "/games/"+game+"/runs", `{"teamScore":1}`, "gameId", tap) != "" {
			w.Acknowledged("run", tap[len(tap)-8:], func(cloud map[string]attr.Item) bool {
				taps := nodes.Shown(cloud[row], "runKeys")
				score, _ := cloud[row]["teamScore"].Int()
				return strings.Contains(taps, tap[len(tap)-8:]) && int(score) == len(cloud[row]["runKeys"].List())
			})
		}
	case 3:
		if _, ok := w.apart.Asks(at, "ana", "PUT", "/hacktracker/games/"+game+"/atbats/"+atBat, `{"hitLocation":{"x":0.25,"y":`+place+`}}`, ""); ok {
			w.Acknowledged("correction", place, func(cloud map[string]attr.Item) bool {
				return strings.Contains(nodes.Shown(cloud["GAME#"+game+" ATBAT#"+atBat], "hitLocation"), place)
			})
		}
	case 7:
		if _, ok := w.apart.Asks(at, "ana", "DELETE", "/hacktracker/games/"+game+"/atbats/"+atBat, "", ""); ok {
			w.Acknowledged("at-bat taken back", atBat, func(cloud map[string]attr.Item) bool {
				return cloud["GAME#"+game+" ATBAT#"+atBat] == nil
			})
		}
	}
}
