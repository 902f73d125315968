package hacktracker

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/table"
)

// One row of whatever kind that has the wrong form stops no list: it is left out and named. A request for the row itself says that it cannot be
// read, and once it is mended it is named no more.
func TestMisshapenRows(t *testing.T) {
	st, update := openBook(t)
	l := newLedger(t, update)
	e := entry{id: "01JT6XQ0Z8M1C3V5N7B9D1F3H5", player: l.players[0], result: "1B", at: time.Date(2026, 5, 1, 18, 0, 0, 0, time.UTC)}
	l.do(t, func(b *Book) { l.score(b, &e) })
	user := l.owner(t)
	lists := map[string]func(b *Book) int{
		"teams":       func(b *Book) int { return len(b.TeamsOf(user)) },
		"all teams":   func(b *Book) int { all, _ := b.Teams(TeamQuery{Page: Page{Limit: 50}}); return len(all) },
		"all users":   func(b *Book) int { all, _ := b.Users(Page{Limit: 50}); return len(all) },
		"all games":   func(b *Book) int { all, _ := b.Games(Page{Limit: 50}); return len(all) },
		"memberships": func(b *Book) int { return len(b.memberships(user)) },
		"roster":      func(b *Book) int { return len(b.roster(l.team)) },
		"own players": func(b *Book) int { return len(b.Players()) },
		"games":       func(b *Book) int { return len(b.gamesOf(l.team)) },
		"at-bats": func(b *Book) int {
			return len(collect(b, "", prefixGame+l.game, prefixAtBat, atBatOf))
		},
	}
	for _, tt := range []struct {
		key       attr.Item
		attribute string
		bad       attr.Value
		name      string
		get       func(b *Book)
	}{
		{userKey(user), "firstName", attr.Int(5), "user", func(b *Book) { b.User(user) }},
		{memberKey(user, l.team), "role", attr.L(), "membership", func(b *Book) { b.Team(l.team) }},
		{teamKey(l.team), "status", attr.Bool(true), "team", func(b *Book) { b.Team(l.team) }},
		{playerKey(l.team, l.players[0]), "lastName", attr.M(attr.Item{}), "player", func(b *Book) { b.player(l.team, l.players[0]) }},
		{gameKey(l.game), "status", attr.Int(1), "game", func(b *Book) { b.Game(l.game) }},
		{gameKey(l.game), "lineup", attr.S("ana, bea"), "game", func(b *Book) { b.Game(l.game) }},
		{atBatKey(l.game, e.id), "result", attr.Int(1), "", nil},
	} {
		what := fmt.Sprintf("%s %s", rowOf(tt.key), tt.attribute)
		var good attr.Item
		put := func(row attr.Item) {
			t.Helper()
			if err := update(func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: "book", Item: row})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		counts := func() map[string]int {
			n := map[string]int{}
			l.do(t, func(b *Book) {
				good = b.Get(tt.key)
				for list, read := range lists {
					n[list] = read(b)
				}
			})
			return n
		}
		before := counts()
		whole := good
		row := maps.Clone(whole)
		row[tt.attribute] = tt.bad
		put(row)
		less := 0
		for list, n := range counts() {
			if n < before[list] {
				less++
			}
		}
		if less == 0 {
			t.Errorf("%s: it is in all lists", what)
		}
		rows, _, err := st.UnreadableItems(t.Context())
		if err != nil || len(rows) != 1 || !strings.Contains(rows[0].Why, "attribute "+tt.attribute) || rowOf(rows[0].Key) != rowOf(tt.key) {
			t.Errorf("%s: named are %v, %v", what, rows, err)
		}
		if tt.get != nil {
			if err := update(func(tx *store.Tx) error {
				b := l.Open(tx, user)
				tt.get(b)
				return b.Err()
			}); !table.IsUnreadable(err) || !strings.Contains(err.Error(), "stored "+tt.name+" cannot be read") {
				t.Errorf("%s: %v", what, err)
			}
		}
		put(whole)
		if rows, _, err := st.UnreadableItems(t.Context()); err != nil || len(rows) > 0 {
			t.Errorf("%s: mended, and named are %v, %v", what, rows, err)
		}
	}
}

// A user with a team that cannot be read is not deleted: it may be theirs.
func TestUserWithAMisshapenTeamStays(t *testing.T) {
	_, update := openBook(t)
	l := newLedger(t, update)
	user := l.owner(t)
	if err := update(func(tx *store.Tx) error {
		row, err := tx.Get("book", teamKey(l.team))
		if err != nil {
			return err
		}
		row["team_type"] = attr.Int(1)
		_, err = tx.Put(store.PutItem{Table: "book", Item: row})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := update(func(tx *store.Tx) error {
		b := l.Open(tx, user)
		b.DeleteUser()
		return b.Err()
	}); !table.IsUnreadable(err) {
		t.Errorf("%v", err)
	}
}

// owner returns the owner of the ledger's team.
func (l *ledger) owner(t *testing.T) (user string) {
	t.Helper()
	l.do(t, func(b *Book) { user = b.Get(teamKey(l.team))["ownerId"].Str() })
	return user
}
