package threefc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// put writes a row without conditions, as another program does.
func (r *rig) put(row attr.Item) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: tableName, Item: row})
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}

// rows returns all rows of the table.
func (r *rig) rows() []attr.Item {
	r.t.Helper()
	return view(r, func(tx *store.Tx) (all []attr.Item, err error) {
		for it, err := range tx.ScanAll(store.Scan{Table: tableName}) {
			if err != nil {
				return nil, err
			}
			all = append(all, it)
		}
		return all, nil
	})
}

// unreadable returns the keys of the rows that the store names as unreadable, each with the reason.
func (r *rig) unreadable() (all []string) {
	r.t.Helper()
	rows, _, err := r.store.UnreadableItems(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, u := range rows {
		all = append(all, fmt.Sprintf("%s %s: %s", u.Key["pk"].Str(), u.Key["sk"].Str(), u.Why))
	}
	return all
}

// lists reads all lists of the league, and the two records that no list reads.
func (r *rig) lists(tx *store.Tx) error {
	_, _ = r.Season(tx, "s") // a request for the row itself, to have it named
	_, _ = r.Session(tx, "d")
	_, _, leagues := r.PublicLeagues(tx, ListPage{Limit: 10})
	_, _, own := r.LeaguesOf(tx, boss, ListPage{Limit: 10})
	_, _, roles := r.AccessList(tx, "l", ListPage{Limit: 100})
	_, seasons := r.Seasons(tx, "l")
	_, sessions := r.Sessions(tx, "s")
	_, teams := r.SeasonTeams(tx, "s")
	_, games := r.SeasonGames(tx, "s")
	_, day := r.GamesOf(tx, "d")
	_, standings := r.Standings(tx, "s", false)
	_, leaders := r.Leaders(tx, "s", false)
	_, roster := r.Roster(tx, "g")
	_, other := r.Roster(tx, "h")
	_, players := r.Players(tx, "g", "", 50)
	_, live := r.Open(tx, nil)
	_, rest := r.Rest(tx, nil)
	return errors.Join(leagues, own, roles, seasons, sessions, teams, games, day, standings, leaders, roster, other, players, live, rest)
}

// One row that cannot be decoded, of whatever kind, stops neither the lists nor the consumer: it is left out and named. The derived rows of the
// other game are right, those of a game with unreadable facts stay as they were, and once the row is mended nothing is named any more.
func TestOneUnreadableRow(t *testing.T) {
	r := newRig(t)
	r.league()
	r.game("h")
	for _, game := range []string{"g", "h"} {
		r.start(game, 1)
		r.goal(game, "red", "blue")
	}
	r.must(func(tx *store.Tx) (Change, error) {
		return r.PutSeasonTeam(tx, "s", "red", TeamName{Name: "Reds"})
	})
	r.export(0)
	for _, good := range r.rows() {
		place := good["pk"].Str() + " " + good["sk"].Str()
		bad := attr.Item{"pk": good["pk"], "sk": good["sk"], "entityType": good["entityType"], "data": attr.S("[]")}
		before := r.rows()
		r.put(bad)
		if err := r.store.View(t.Context(), r.lists); err != nil {
			t.Errorf("%s: lists: %v", place, err)
		}
		seq := r.store.Seq()
		_, scoredErr := r.try(func(tx *store.Tx) (Change, error) {
			return r.CreateGoal(tx, "h", NewGoal{Scored: scored("red", "yellow"), At: r.now, Actor: boss}, &IDs{})
		})
		if scoredErr != nil && place != "GAME#h METADATA" && place != "GAME#h ROSTER#red#r1" {
			t.Errorf("%s: a goal of the other game: %v", place, scoredErr)
		}
		r.export(seq - 1)
		if err := r.store.Update(t.Context(), r.ConsumeTable); err != nil {
			t.Errorf("%s: %v", place, err)
		}
		r.derive(nil)
		unread := strings.HasPrefix(good["sk"].Str(), skMarker) // only the repetition of its goal reads it
		want := map[bool]string{false: place + ": attribute data is not a JSON object"}[unread]
		if got := strings.Join(r.unreadable(), "\n"); got != want {
			t.Errorf("%s: named are %q", place, got)
		}
		for _, was := range before { // no row is deleted, and none of the game g is rewritten
			now := r.row(r.KeyOf(was))
			if now == nil || was["pk"].Str() == "GAME#g" && !attr.EqualItems(now, was) && !attr.EqualItems(now, bad) {
				t.Errorf("%s: %v became %v", place, was, now)
			}
		}
		r.put(good)
		r.export(seq - 1)
		if got := r.unreadable(); len(got) > 0 {
			t.Errorf("%s: mended, and still named: %q", place, got)
		}
	}
}

// A request for the unreadable row itself gets an error that says so, without the key.
func TestUnreadableSubject(t *testing.T) {
	r := newRig(t)
	r.league()
	row := r.row(gameKey("g"))
	row["data"] = attr.S(strings.Replace(row["data"].Str(), `"thirdLengthMinutes":20`, `"thirdLengthMinutes":"20"`, 1))
	r.put(row)
	err := r.store.View(t.Context(), func(tx *store.Tx) error {
		_, err := r.Board(tx, "g")
		return err
	})
	if !fault.Is(err, fault.Unreadable) || !strings.Contains(err.Error(), "stored game cannot be read") || strings.Contains(err.Error(), "GAME#") {
		t.Errorf("%v", err)
	}
	want := []string{"GAME#g METADATA: member thirdLengthMinutes of attribute data is a text, where a whole number belongs"}
	if got := r.unreadable(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A league or a season with a row below it that cannot be decoded does not count as empty.
func TestUnreadableRowsAreNotAbsent(t *testing.T) {
	r := newRig(t)
	r.league()
	for _, k := range []attr.Item{seasonKey("l", "s"), sessionKey("s", "d")} {
		row := r.row(k)
		row["data"] = attr.S("[]")
		r.put(row)
	}
	for want, do := range map[string]func(tx *store.Tx) (Change, error){
		"league_has_seasons": func(tx *store.Tx) (Change, error) { return r.DeleteLeague(tx, boss, "l") },
		"season_has_games":   func(tx *store.Tx) (Change, error) { return r.DeleteSeason(tx, boss, "s") },
	} {
		if _, err := r.try(do); codeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Nobody gets a code for an address whose role cannot be read.
func TestNoCodeForAnUnreadableRole(t *testing.T) {
	r := newRig(t)
	r.league()
	ann := "ann@example.org"
	r.grant(boss, ann, RoleScorekeeper)
	row := r.row(aclKey("l", ann))
	row["data"] = attr.S("null")
	r.put(row)
	err := r.store.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.Side(sideSignedIn).Set([]byte(hashText(ann)), []byte("x")); err != nil {
			return err
		}
		_, _, err := r.CodeFor(tx, "l", boss, ann)
		return err
	})
	if !fault.Is(err, fault.Unreadable) {
		t.Errorf("a code although the role cannot be read: %v", err)
	}
}

// An import decodes every row by its kind first: one that cannot be decoded is refused by its number, key and reason, and nothing is written. An
// export leaves such a row out and names it.
func TestImportRefusesUnreadableRows(t *testing.T) {
	from, to := newRig(t), newRig(t)
	from.league()
	from.play("g", [2]string{"red", "blue"})
	to.must(func(tx *store.Tx) (Change, error) {
		return to.CreateLeague(tx, boss, League{LeagueID: "l", Name: "League"})
	})
	whole := view(from, func(tx *store.Tx) (File, error) { return from.ExportSeason(tx, "s") })
	before := len(to.rows())
	kinds := map[string]bool{}
	for i, row := range whole.Rows {
		bad := File{Format: whole.Format, SeasonID: "s", Rows: slices.Clone(whole.Rows)}
		bad.Rows[i].Data = []byte(`{"createdAt":"2026-07-04","seasonId":"s","leagueId":5,"gameId":5,"playerId":5,"eventId":5,"sessionId":5,"name":5}`)
		_, err := to.ImportSeason(t.Context(), to.store, &bad, nil)
		in, ok := errors.AsType[*FileError](err)
		if !ok || in.Row != i || codeOf(err) != "bad_file" || !strings.Contains(err.Error(), row.PK+" "+row.SK) || !strings.Contains(err.Error(), "is a number, where a text belongs") {
			t.Errorf("row %d, %s %s: %v", i, row.PK, row.SK, err)
		}
		if len(to.rows()) != before {
			t.Fatalf("row %d, %s %s: rows were written", i, row.PK, row.SK)
		}
		kinds[row.Entity] = true
	}
	if len(kinds) < 9 {
		t.Errorf("only the kinds %v were tried", kinds)
	}
	row := from.row(gamePlayerKey("g", "r1"))
	row["data"] = attr.S("{}}")
	from.put(row)
	f := view(from, func(tx *store.Tx) (File, error) { return from.ExportSeason(tx, "s") })
	if len(f.Rows) != len(whole.Rows)-1 || len(f.Unreadable) != 1 || !strings.HasPrefix(f.Unreadable[0], "GAME#g PLAYER#r1: ") {
		t.Errorf("%d of %d rows, unreadable %q", len(f.Rows), len(whole.Rows), f.Unreadable)
	}
}
