package threefc

import (
	"errors"
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// codeOfGame reads the join code of a game, and removes the code's row, as on a node that does not have it yet.
func (r *rig) codeOfGame(game string) string {
	r.t.Helper()
	code := r.board(game).JoinCode
	r.must(func(*store.Tx) (Change, error) { return Change{Writes: []store.WriteItem{r.Drop(JoinKey(code))}}, nil })
	return code
}

// A game is found by the code in its row alone, and a player by their games, as they are written, removed and undone.
func TestGameDirectory(t *testing.T) {
	r := newRig(t)
	r.league()
	in := &SignIn{Email: boss}
	all := map[string]string{"g": r.codeOfGame("g")}
	want := func(when string, games ...string) {
		t.Helper()
		there := map[string]bool{}
		for _, game := range games {
			there[game] = true
		}
		for game, code := range all {
			of, err := Scope{}, error(nil)
			_ = r.store.View(t.Context(), func(tx *store.Tx) error {
				of, err = r.Joins(tx, code)
				return nil
			})
			if there[game] != (err == nil && of.ID == game) || !there[game] && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: the code of %s leads to %q, %v", when, game, of.ID, err)
			}
		}
	}
	wantPlayer := func(when string, may bool) {
		t.Helper()
		var err error
		_ = r.store.View(t.Context(), func(tx *store.Tx) error {
			_, err = r.PlayerOf(tx, in, "r1")
			return nil
		})
		if may != (err == nil) || !may && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v", when, err)
		}
	}
	want("at first", "g")
	wantPlayer("of the league", true)
	row, err := encode(playerKey("r1"), Player{PlayerID: "r1", Nickname: "Ann"}) // as the original writes it: without a league
	if err != nil {
		t.Fatal(err)
	}
	r.adopt(playerKey("r1"), row)
	wantPlayer("in a game of the league", true)

	r.game("h")
	all["h"] = r.codeOfGame("h")
	want("after a creation", "g", "h")
	undone := r.store.Update(t.Context(), func(tx *store.Tx) error {
		c, err := r.DeleteGame(tx, boss, "g")
		if err == nil {
			err = tx.TransactWrite(store.TransactWrite{Items: c.Writes})
		}
		if _, joins := r.Joins(tx, all["g"]); !fault.Is(joins, fault.NotFound) {
			t.Errorf("in the transaction that deletes it: %v", joins)
		}
		return fmt.Errorf("undone: %w", err)
	})
	if undone == nil {
		t.Error("committed")
	}
	want("after what was undone", "g", "h")
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	want("after a deletion", "h")
	wantPlayer("in the other game", true)
	if _, err := r.store.BeginIncarnation(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	r.game("i")
	all["i"] = r.codeOfGame("i")
	want("in another incarnation", "h", "i")
	for range mostBehind + 1 {
		r.must(func(*store.Tx) (Change, error) {
			return Change{Writes: []store.WriteItem{r.Put(key("OTHER#", "x"), table.If{})}}, nil
		})
	}
	want("far behind", "h", "i")
	for _, game := range []string{"h", "i"} {
		r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, game) })
	}
	want("after all deletions")
	wantPlayer("in no game that exists", false)
}

// A code that nobody has given, and a player whom the reader may not see, read no games of others, however many there are.
func TestCostAmongManyGames(t *testing.T) {
	const games = 2000
	r := newRig(t)
	r.league()
	r.must(func(tx *store.Tx) (Change, error) { return r.CreateLeague(tx, "other", League{LeagueID: "theirs"}) })
	r.must(func(tx *store.Tx) (Change, error) { return r.AddPlayer(tx, "g", "p", "Ann", &IDs{}) })
	if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		p := r.plan(tx)
		for i := range games { // as rows of another node arrive
			g := Game{GameID: fmt.Sprint(i), LeagueID: "l", JoinCode: fmt.Sprintf("C%07d", i)}
			row, err := encode(gameKey(g.GameID), g)
			p.Fail(err)
			p.Commit(r.Create(row))
		}
		return p.Err()
	}); err != nil {
		t.Fatal(err)
	}
	spent := func() (units int) {
		if err := r.store.ViewShared(t.Context(), func(tx *store.Tx) error {
			_, joins := r.Joins(tx, "AAAAAAAA")
			_, sees := r.PlayerOf(tx, &SignIn{Email: "other"}, "p")
			units = tx.Work().UnitsSpent()
			if !fault.Is(joins, fault.NotFound) || !fault.Is(sees, fault.Forbidden) {
				return fmt.Errorf("joins: %w", errors.Join(joins, sees))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return units
	}
	spent() // reads the directories
	if units := spent(); units > 20_000 {
		t.Errorf("%d units of work among %d games", units, games)
	}
}
