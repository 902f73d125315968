package threefc

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/testrig/actions"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// changes returns the names of the methods that plan a transaction, which a request makes with the row of its key.
func changes() (names []string) {
	of := reflect.TypeFor[*Service]()
	for m := range of.Methods() {
		if m.Type.NumOut() > 0 && m.Type.Out(0) == reflect.TypeFor[Change]() {
			names = append(names, m.Name)
		}
	}
	return names
}

// crowded is how many of each there are in the walk.
const crowded = 140

// walk is a walk of an application's transactions.
type walk struct {
	*rig
	watch  *actions.Watch
	walked map[string]bool
}

// step makes the transaction that a method plans.
func (w *walk) step(method string, do func(tx *store.Tx) (Change, error)) (c Change) {
	w.t.Helper()
	c, err := w.try(do)
	if err != nil {
		w.t.Errorf("%s: %v", method, err)
	}
	w.watch.Largest(method)
	w.walked[method] = true
	return c
}

// crowd fills what a league, a season, a session, a game and a user have lists of, beyond what one transaction holds. Nodes that are cut off may
// together make more of each than one lets in.
func (w *walk) crowd() {
	w.t.Helper()
	put := func(rows ...store.WriteItem) {
		if err := w.store.Update(w.t.Context(), func(tx *store.Tx) error {
			for i := range rows {
				if _, err := tx.Put(*rows[i].Put); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range crowded {
		w.bareGame(fmt.Sprintf("g%03d", i))
		if _, err := w.try(func(tx *store.Tx) (Change, error) {
			return w.CreateSession(tx, Session{SeasonID: "s", SessionID: fmt.Sprintf("d%03d", i), SessionDate: "2026-07-04"})
		}); err != nil {
			w.t.Fatal(err)
		}
		if _, err := w.try(func(tx *store.Tx) (Change, error) {
			return w.AddPlayer(tx, "g", fmt.Sprintf("p%03d", i), "P", &IDs{})
		}); err != nil {
			w.t.Fatal(err)
		}
		w.grant(boss, fmt.Sprintf("u%03d@example.org", i), RoleViewer)
		put(w.beginSession(newSecret(), boss, "", w.now)...)
	}
}

// bareGame creates a game without players.
func (w *walk) bareGame(id string) {
	w.t.Helper()
	w.must(func(tx *store.Tx) (Change, error) {
		return w.CreateGame(tx, Game{SessionID: "d", GameID: id, GameStartTs: "2026-07-04T11:00:00.000Z"})
	})
}

// No transaction grows with the data: each has a fixed bound in a league with more games, sessions, players, members and sign-ins than one
// transaction holds. The walk has all of them.
func TestTransactionsDoNotGrow(t *testing.T) {
	r := newRig(t)
	w := &walk{r, actions.On(t, r.store), map[string]bool{}}
	r.league()
	w.crowd()
	w.watch.Largest("filling a league")
	w.members()
	w.matches()
	w.players()
	w.deletions()
	for _, name := range changes() {
		if !w.walked[name] {
			t.Errorf("the walk leaves out %s: add it", name)
		}
	}
	w.watch.Covers(".", "Take", "Anew")
}

// members walks roles, invites and sign-ins.
func (w *walk) members() {
	const ann = "ann@example.org"
	w.step("Grant", func(tx *store.Tx) (Change, error) { return w.Grant(tx, "l", boss, ann, RoleViewer) })
	w.step("AcceptRole", func(tx *store.Tx) (Change, error) { return w.AcceptRole(tx, "l", ann) })
	invite := w.step("CreateInvite", func(tx *store.Tx) (Change, error) { return w.CreateInvite(tx, "l", boss, "") }).IDs["invite"]
	w.step("AcceptInvite", func(tx *store.Tx) (Change, error) { return w.AcceptInvite(tx, invite, "bob@example.org") })
	var m Magic
	if err := w.store.Update(w.t.Context(), func(tx *store.Tx) (err error) {
		m, err = w.StartMagic(tx, ann)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	secret := SessionSecret(MagicProof(m.Token), "s")
	id := w.step("CompleteMagic", func(tx *store.Tx) (Change, error) { return w.CompleteMagic(tx, m.Token, secret) }).IDs["session"]
	w.step("EndSession", func(tx *store.Tx) (Change, error) { return w.EndSession(tx, ann, id) })
	var code string
	if err := w.store.Update(w.t.Context(), func(tx *store.Tx) (err error) {
		code, _, err = w.CodeFor(tx, "l", boss, ann)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	secret = newSecret()
	w.step("CompleteCode", func(tx *store.Tx) (Change, error) { return w.CompleteCode(tx, ann, code, secret) })
	if err := w.store.Update(w.t.Context(), func(tx *store.Tx) error { return w.SignOut(tx, secret) }); err != nil {
		w.t.Error(err)
	}
	w.watch.Largest("SignOut")
	w.step("EndSessions", func(tx *store.Tx) (Change, error) {
		return w.EndSessions(tx, boss, func(*SignIn) bool { return true })
	})
}

// matches walks games with many goals.
func (w *walk) matches() {
	by, start := Corrector{Actor: boss, Admin: true}, "2026-07-04T12:00:00.000Z"
	w.step("CreateGame", func(tx *store.Tx) (Change, error) {
		return w.CreateGame(tx, Game{SessionID: "d", GameID: "n", GameStartTs: start})
	})
	w.step("PatchGame", func(tx *store.Tx) (Change, error) {
		return w.PatchGame(tx, "n", GamePatch{GameStartTs: new("2026-07-04T13:00:00.000Z")})
	})
	w.step("PutGameTeam", func(tx *store.Tx) (Change, error) { return w.PutGameTeam(tx, "g", "red", TeamName{Name: "R"}) })
	for n := 1; n <= thirds; n++ {
		w.step("StartThird", func(tx *store.Tx) (Change, error) { return w.StartThird(tx, "g", n, w.now) })
		for range 50 {
			w.now = w.now.Add(time.Second)
			w.step("CreateGoal", func(tx *store.Tx) (Change, error) {
				return w.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: w.now, Actor: boss}, &IDs{Seed: boss + w.now.String(), Hash: "h"})
			})
		}
		w.step("UpdateGoal", func(tx *store.Tx) (Change, error) {
			return w.UpdateGoal(tx, "g", w.last(tx), by, func(s *Scored) { *s = scored("yellow", "blue") }, &IDs{})
		})
		w.step("DeleteGoal", func(tx *store.Tx) (Change, error) { return w.DeleteGoal(tx, "g", w.last(tx), by, &IDs{}) })
		w.step("UndoLast", func(tx *store.Tx) (Change, error) { return w.UndoLast(tx, "g", w.last(tx), by, &IDs{}) })
		w.now = w.now.Add(20 * time.Minute)
		w.step("FinishThird", func(tx *store.Tx) (Change, error) { return w.FinishThird(tx, "g", n, w.now) })
	}
	w.derive(nil)
	w.watch.Largest("the rows that are counted")
	w.step("FinishGame", func(tx *store.Tx) (Change, error) { return w.FinishGame(tx, "g") })
	late := w.entries(view(w.rig, func(tx *store.Tx) (Change, error) {
		return w.CreateGoal(tx, "g", NewGoal{Scored: scored("red", "blue"), At: w.now.Add(-time.Minute), Actor: boss}, &IDs{})
	}))
	for range 50 { // taken back where they had not arrived
		w.now = w.now.Add(time.Millisecond)
		g := Goal{GameID: "g", GoalFacts: GoalFacts{EventID: (&IDs{}).New(w.now), Moment: MomentAt(20, 1, 1)}, Stamps: Stamps{UpdatedAt: stampOf(w.now)}}
		row, err := encode(goalKey("g", 1, 1, g.EventID), g)
		mark, markErr := encode(goneKey("g", g.EventID), gone{GameID: "g", EventID: g.EventID, Unseen: true})
		if err := errors.Join(err, markErr); err != nil {
			w.t.Fatal(err)
		}
		w.adopt(goalKey("g", 1, 1, g.EventID), row)
		w.adopt(goneKey("g", g.EventID), mark)
	}
	if err := w.store.Update(w.t.Context(), w.ConsumeTable); !errors.Is(err, table.ErrMore) { // a slice of them, which is not committed
		w.t.Errorf("a walk through the whole table: %v", err)
	}
	w.export(0)
	w.step("CountGoal", func(tx *store.Tx) (Change, error) { return w.CountGoal(tx, "g", late) })
	w.derive(nil)
	w.watch.Largest("the result of a game")
}

// players walks rosters.
func (w *walk) players() {
	w.step("AddPlayer", func(tx *store.Tx) (Change, error) { return w.AddPlayer(tx, "n", "x1", "X", &IDs{}) })
	w.step("Assign", func(tx *store.Tx) (Change, error) { return w.Assign(tx, "n", "x1", "red", true) })
	w.step("Unassign", func(tx *store.Tx) (Change, error) { return w.Unassign(tx, "n", "x1", true) })
	w.step("Claim", func(tx *store.Tx) (Change, error) { return w.Claim(tx, "ann@example.org", "p001") })
	w.step("RemovePlayer", func(tx *store.Tx) (Change, error) { return w.RemovePlayer(tx, "n", "x1") })
	w.step("PutSeasonTeam", func(tx *store.Tx) (Change, error) {
		return w.PutSeasonTeam(tx, "s", "red", TeamName{Name: "Reds"})
	})
}

// deletions walks what is deleted whole, with what the consumer removes of it, and merges of deletions.
func (w *walk) deletions() {
	from := w.store.Seq()
	refused := w.entries(view(w.rig, func(tx *store.Tx) (Change, error) { return w.DeleteGame(tx, boss, "g") }))
	writes, _ := w.Merge(refused, nil, w.get)
	w.watch.Bounded("a deletion that the cloud refused", writes)
	for _, game := range append([]string{"g", "n"}, w.games()...) {
		w.step("DeleteGame", func(tx *store.Tx) (Change, error) { return w.DeleteGame(tx, boss, game) })
	}
	from = w.export(from)
	w.step("DeleteSeason", func(tx *store.Tx) (Change, error) { return w.DeleteSeason(tx, boss, "s") })
	late := sessionGameKey("d007", "2026-07-04T10:00:00.000Z", "late") // of a game that another node has created meanwhile
	row, err := encode(late, sessionGame{SessionID: "d007", GameID: "late", GameStartTs: "2026-07-04T10:00:00.000Z"})
	dead, deadErr := encode(deletedKey(pkGame+"late"), tombstone{GameID: "late", SessionID: "d007", GameStartTs: "2026-07-04T10:00:00.000Z", JoinCode: "ABCDEFGH"})
	if err := errors.Join(err, deadErr); err != nil {
		w.t.Fatal(err)
	}
	w.adopt(late, row)
	from = w.export(from)
	w.adopt(deletedKey(pkGame+"late"), dead)
	from = w.export(from)
	w.step("DeleteLeague", func(tx *store.Tx) (Change, error) { return w.DeleteLeague(tx, boss, "l") })
	for more := true; more; {
		if err := w.store.Update(w.t.Context(), func(tx *store.Tx) error {
			err := w.ConsumeTable(tx)
			if more = errors.Is(err, table.ErrMore); more {
				return nil
			}
			return err
		}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.export(from)
	w.watch.Largest("what the consumer removes")
	w.step("CreateLeague", func(tx *store.Tx) (Change, error) {
		return w.CreateLeague(tx, boss, League{LeagueID: "l2", Name: "League"})
	})
	w.step("CreateSeason", func(tx *store.Tx) (Change, error) {
		return w.CreateSeason(tx, Season{LeagueID: "l2", SeasonID: "s2", Name: "Season"})
	})
	w.step("CreateSession", func(tx *store.Tx) (Change, error) {
		return w.CreateSession(tx, Session{SeasonID: "s2", SessionID: "e", SessionDate: "2026-07-05"})
	})
}

// games lists the games that crowd has made.
func (w *walk) games() (games []string) {
	for i := range crowded {
		games = append(games, fmt.Sprintf("g%03d", i))
	}
	return games
}
