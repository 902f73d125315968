package threefc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
)

// Games of one day are deleted one after the other, however many were deleted before, here and where the deletions arrive from the cloud. The day
// stays, without games.
func TestManyDeletedGamesOfOneDay(t *testing.T) {
	r := newRig(t)
	r.league()
	const games = 110
	for n := range games {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateGame(tx, Game{SessionID: "d", GameID: fmt.Sprint("g", n), GameStartTs: "2026-07-04T10:00:00.000Z"})
		})
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	for n := range games {
		if c := r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, fmt.Sprint("g", n)) }); len(c.Writes) > 6 {
			t.Fatalf("the deletion of game %d has %d items", n, len(c.Writes))
		}
		r.export(r.store.Seq() - 5)
	}
	if all := view(r, func(tx *store.Tx) ([]Board, error) { return r.GamesOf(tx, "d") }); len(all) > 0 {
		t.Errorf("%d games are left", len(all))
	}
	for _, row := range r.rows() {
		if pk := row["pk"].Str(); (strings.HasPrefix(pk, pkGame) && row["sk"].Str() != skDeleted) || strings.HasPrefix(pk, pkJoin) || strings.HasPrefix(row["sk"].Str(), pkGame) {
			t.Errorf("%s %s is left", pk, row["sk"].Str())
		}
	}
	r.game("next") // in the same session
}

// A season without games is deleted with its sessions, in slices if there are many: each is a transaction, and after a crash between two of them
// the work goes on. A session in which another node has created a game stays until that game is deleted.
func TestDeletedSeasonWithEmptySessions(t *testing.T) {
	r := newRig(t)
	r.league()
	const days = 120
	for n := range days {
		r.must(func(tx *store.Tx) (Change, error) {
			return r.CreateSession(tx, Session{SeasonID: "s", SessionID: fmt.Sprint("d", n), SessionDate: "2026-07-04"})
		})
	}
	if _, err := r.try(func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, boss, "s") }); codeOf(err) != "season_has_games" {
		t.Errorf("a season with a game: %v", err)
	}
	r.must(func(tx *store.Tx) (Change, error) { return r.DeleteGame(tx, boss, "g") })
	seq := r.store.Seq()
	if c := r.must(func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, boss, "s") }); len(c.Writes) != 4 {
		t.Errorf("the deletion has %d items", len(c.Writes))
	}
	late := sessionGameKey("d7", "2026-07-04T10:00:00.000Z", "late") // of a game that another node has created meanwhile
	row, err := encode(late, sessionGame{SessionID: "d7", GameID: "late", GameStartTs: "2026-07-04T10:00:00.000Z"})
	if err != nil {
		t.Fatal(err)
	}
	r.adopt(late, row)
	records, err := r.store.Journal(t.Context(), seq, 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // then the process ends
		if err := r.store.Update(t.Context(), func(tx *store.Tx) error {
			before := tx.Seq()
			err := r.ConsumeRecords(tx, records)
			if n := tx.Seq() - before; n == 0 || n > table.Slice || err != table.ErrMore { //nolint:errorlint // not wrapped
				t.Errorf("a slice of %d writes, %v", n, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.export(seq)
	left := func() (all []string) {
		for _, row := range r.rows() {
			if pk, sk := row["pk"].Str(), row["sk"].Str(); (strings.HasPrefix(pk, pkSession) || strings.HasPrefix(pk, pkSeason)) && sk != skDeleted {
				all = append(all, pk+" "+sk)
			}
		}
		return all
	}
	if got, want := strings.Join(left(), ", "), "SEASON#s SESSION#d7, SESSION#d7 GAME#2026-07-04T10:00:00.000Z#late, SESSION#d7 METADATA"; got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	dead, err := encode(deletedKey(pkGame+"late"), tombstone{GameID: "late", SessionID: "d7", GameStartTs: "2026-07-04T10:00:00.000Z", JoinCode: "ABCDEFGH"})
	if err != nil {
		t.Fatal(err)
	}
	seq = r.store.Seq()
	r.adopt(deletedKey(pkGame+"late"), dead)
	r.export(seq)
	if got := left(); len(got) > 0 {
		t.Errorf("left are %s", got)
	}
}
