package threefcapp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
)

// make creates a session or, if game is set, that game in it.
func (w *world) make(n *peer, session, game string) {
	a := act{kind: "create", game: game, sub: session}
	if game == "" {
		a = act{kind: "session", game: session}
	}
	w.do(n, a, request{of: []threefc.Scope{{Kind: "session", ID: session}}, plan: func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		if game == "" {
			return n.CreateSession(tx, threefc.Session{SeasonID: "s", SessionID: session, SessionDate: "2026-07-04"})
		}
		return n.CreateGame(tx, threefc.Game{SessionID: session, GameID: game, GameStartTs: "2026-07-04T10:00:00.000Z"})
	}})
}

// drop deletes a game at a node that may know no more of it than its partition.
func (w *world) drop(n *peer, game string) {
	w.do(n, act{kind: "delete", game: game}, request{of: of(game), plan: func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.DeleteGame(tx, randomBoss, game)
	}})
}

// goOn finishes the running first third.
func (w *world) goOn(n *peer, game string) {
	w.do(n, act{kind: "third", game: game, sub: "finish1"}, request{of: of(game), plan: func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
		return n.FinishThird(tx, game, 1, n.Now(tx))
	}})
}

// A deleted game leaves no pointers to it, even if the deleting node did not know of them: its join code and its entry in its session. The
// session stays, and takes new games.
func TestNothingLeadsToADeletedGame(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(w *world, a, b *peer)
		left string // remaining sessions
		asks bool   // whether a person is asked
	}{
		"its code has not come": {left: "d e", play: func(w *world, a, b *peer) {
			w.make(a, "d", "i")
			w.Pass(2 * time.Second)
			w.drop(b, "i")
		}},
		"its session has not come": {left: "d e f", play: func(w *world, a, b *peer) {
			w.make(a, "f", "")
			w.make(a, "f", "i")
			w.Pass(2 * time.Second)
			w.drop(b, "i")
		}},
		"each of the last two elsewhere": {left: "d e", play: func(w *world, a, b *peer) {
			w.make(a, "d", "i")
			w.Pass(time.Minute)
			a.Link.SetMode(simcloud.NoDNS)
			b.Link.SetMode(simcloud.NoDNS)
			w.drop(a, "g")
			w.drop(b, "i")
		}},
		"a game that went on elsewhere, and the other here": {left: "d e", asks: true, play: func(w *world, a, b *peer) {
			w.make(a, "d", "i")
			w.Pass(time.Minute)
			b.Link.SetMode(simcloud.NoDNS)
			w.drop(b, "g")
			w.Pass(time.Second)
			w.drop(b, "i")
			w.goOn(a, "g")
			w.Pass(time.Second)
		}},
		"a game that went on elsewhere, as the other ended": {left: "d e", asks: true, play: func(w *world, a, b *peer) {
			w.make(a, "d", "i")
			w.Pass(time.Minute)
			b.Link.SetMode(simcloud.NoDNS)
			w.drop(b, "g")
			w.goOn(a, "g")
			w.drop(a, "i")
			w.Pass(time.Second)
		}},
		"one by both, the last by one": {left: "d e", play: func(w *world, a, b *peer) {
			w.make(a, "d", "i")
			w.Pass(time.Minute)
			b.Link.SetMode(simcloud.NoDNS)
			w.drop(b, "g")
			w.drop(a, "g")
			w.Pass(time.Second)
			w.drop(b, "i")
			w.Pass(time.Second)
		}},
		"the last here, and another made elsewhere": {left: "d e", play: func(w *world, a, b *peer) {
			w.Pass(time.Minute)
			b.Link.SetMode(simcloud.NoDNS)
			w.drop(b, "g")
			w.make(a, "d", "i")
			w.Pass(time.Second)
		}},
		"the last, and another made later": {left: "d e", play: func(w *world, a, b *peer) {
			w.drop(a, "g")
			w.Pass(time.Minute)
			w.make(b, "d", "i")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{pair: newPair(t), count: map[string]int{}}
				w.begin()
				w.Pass(70 * time.Second)
				tt.play(w, w.nodes[0], w.nodes[1])
				w.Meet()
				w.judge()
				look(t, w)
				if w.count["refused"] > 0 || w.count["asked"] > 0 != tt.asks {
					t.Errorf("%v\n%s", w.count, strings.Join(w.log, "\n"))
				}
				var left []string
				for k := range w.Rows(nil) {
					if id, is := strings.CutPrefix(strings.TrimSuffix(k, " METADATA"), "SESSION#"); is && !strings.Contains(id, " ") {
						left = append(left, id)
					}
				}
				slices.Sort(left)
				if got := strings.Join(left, " "); got != tt.left {
					t.Errorf("sessions %s, want %s", got, tt.left)
				}
			})
		})
	}
}

// If two nodes create a game with the same id, a person decides about the game and about the players assigned to its teams.
func TestTeamOfAGameMadeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{pair: newPair(t), count: map[string]int{}}
		w.begin()
		w.Pass(130 * time.Second)
		a, b := w.nodes[0], w.nodes[1]
		b.Link.SetMode(simcloud.NoDNS)
		w.make(b, "d", "i")
		w.do(b, act{kind: "roster", game: "i", sub: "r1", value: "yellow"}, request{of: of("i"), plan: func(n *peer, tx *store.Tx, _ *threefc.IDs) (threefc.Change, error) {
			return n.Assign(tx, "i", "r1", "yellow", true)
		}})
		w.make(a, "d", "i")
		w.Pass(time.Second)
		w.Meet()
		w.judge()
		look(t, w)
		if w.count["refused"] > 0 || w.count["asked"] != 2 {
			t.Errorf("%v\n%s", w.count, strings.Join(w.log, "\n"))
		}
	})
}

// More games of one day than fit in a transaction are deleted at one node. The other node's consumer follows, the day stays, and a new game can be
// created in it at either node.
func TestManyDeletedGamesAtTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{pair: newPair(t), count: map[string]int{}}
		w.begin()
		a, b := w.nodes[0], w.nodes[1]
		const games = 105
		for n := range games {
			w.make(a, "d", fmt.Sprint("many-", n))
		}
		w.Pass(2 * time.Minute)
		w.drop(a, "g")
		for n := range games {
			w.drop(a, fmt.Sprint("many-", n))
			w.Pass(time.Second)
		}
		w.Meet()
		w.make(b, "d", "next")
		w.Meet()
		look(t, w)
		if w.count["refused"] > 0 || w.count["asked"] > 0 {
			t.Errorf("%v", w.count)
		}
		for _, n := range w.nodes {
			for k := range w.Rows(n.Half) {
				if strings.HasPrefix(k, "GAME#many-") && !strings.HasSuffix(k, " DELETED") || strings.Contains(k, "#many-") && strings.HasPrefix(k, "SESSION#") {
					t.Errorf("%s has %s", n.Name, k)
				}
			}
		}
	})
}
