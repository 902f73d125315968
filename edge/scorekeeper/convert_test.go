package scorekeeper

import (
	"fmt"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

func (r *rig) convert(account, session string) (c Conversion, err error) {
	err = r.update(func(tx *store.Tx) (err error) {
		c, err = r.Convert(tx, account, session)
		return err
	})
	return c, err
}

func TestConvert(t *testing.T) {
	r := newRig(t)
	r.now = r.now.AddDate(0, 1, 0)
	for _, d := range []string{"2026-02-06", "2026-02-07", "2026-02-08"} {
		r.answerIs(d, "manna")
	}
	r.plays(anon, "2026-02-06", "crane")
	r.plays(user, "2026-02-07", "slate") // begun before the session's
	r.plays(anon, "2026-02-07", "moist", "brick")
	r.plays(anon, "2026-02-08", "proud", "manna") // begun before the account's
	r.plays(user, "2026-02-08", "fjord")

	got, err := r.convert(user, anon)
	if err != nil || got.Converted != 2 || got.Conflicts != 2 || !slices.Equal(got.Dates, []string{"2026-02-06", "2026-02-08"}) {
		t.Errorf("%+v, %v", got, err)
	}
	games := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, user) })
	for i, want := range [][]string{{"crane"}, {"slate"}, {"proud", "manna"}} {
		if g := games[i]; !slices.Equal(g.Guesses, want) || g.UserID != user {
			t.Errorf("%s: %+v", g.Date, g)
		}
	}
	if left := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, anon) }); len(left) != 0 {
		t.Errorf("the session still has %v", left)
	}
	if again, err := r.convert(user, anon); err != nil || again.Converted != 0 || again.Conflicts != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// A game that goes on from a skOldGame row leaves that row behind. Converting the game removes the row; it does not count as a second game.
func TestConvertOldRow(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	r.must(func(tx *store.Tx) error {
		row := key(gamesOf(anon)+day, skOldGame)
		row["user_id"], row["puzzle_date"], row["won"], row["guesses"] = attr.S(anon), attr.S(day), attr.Bool(false), texts([]string{"crane"})
		row["created_at"], row["updated_at"] = attr.S("2026-02-02T08:00:00Z"), attr.S("2026-02-02T08:00:00Z")
		_, err := tx.Put(store.PutItem{Table: tableName, Item: row})
		return err
	})
	r.plays(anon, day, "slate")
	if got, err := r.convert(user, anon); err != nil || got.Converted != 1 || got.Conflicts != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if left := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, anon) }); len(left) != 0 {
		t.Errorf("the session still has %v", left)
	}
	if g := read(r, func(tx *store.Tx) (Game, error) { return r.game(tx, user, day) }); !slices.Equal(g.Guesses, []string{"crane", "slate"}) {
		t.Errorf("%+v", g)
	}
}

func TestConvertRefuses(t *testing.T) {
	r := newRig(t)
	for _, session := range []string{"", "auth0|123", "F47AC10B-58CC-4372-A567-0E02B2C3D479", "f47ac10b58cc4372a5670e02b2c3d479", user, "urn:uuid:" + anon} {
		if _, err := r.convert(user, session); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", session, err)
		}
	}
	if _, err := r.convert(anon, anon); !fault.Is(err, fault.Invalid) {
		t.Errorf("the caller's own id: %v", err)
	}
}

// row returns the stored row with a key.
func (r *rig) row(key attr.Item) attr.Item {
	r.t.Helper()
	return read(r, func(tx *store.Tx) (attr.Item, error) { return tx.Get(tableName, key) })
}

// takes runs the consumer on the records after a sequence number, and returns the last one's.
func (r *rig) takes(after uint64) (last uint64) {
	r.t.Helper()
	r.must(func(tx *store.Tx) error {
		last = tx.Seq()
		records, err := tx.Journal(after, 1000)
		if err != nil {
			return err
		}
		return r.ConsumeRecords(tx, records)
	})
	return last
}

// Guesses of a session at a node that does not know of its conversion go to the account once the node learns of it. A further guess is merged
// into the moved game; a first guess of a day begins the account's game.
func TestLateGuesses(t *testing.T) {
	for _, known := range []bool{true, false} {
		r := newRig(t)
		r.answerIs(day, "manna")
		r.answerIs("2026-02-01", "fjord")
		r.plays(anon, day, "crane", "slate")
		was := r.row(GameKey(anon, day))
		if _, err := r.convert(user, anon); err != nil {
			t.Fatal(err)
		}
		marker := r.row(convertedKey(anon))
		if !known { // not at this node yet
			r.must(func(tx *store.Tx) error {
				_, err := tx.Delete(store.DeleteItem{Table: tableName, Key: convertedKey(anon)})
				return err
			})
		}
		seen := r.takes(0)
		late, err := gameOf(was)
		if err != nil {
			t.Fatal(err)
		}
		late.add(turn{word: "moist", at: "2026-02-02T10:40:00Z"})
		view, err := attr.Marshal(late)
		if err != nil {
			t.Fatal(err)
		}
		writes, ok := r.mergeByRow([]refusal{{Key: GameKey(anon, day), View: view}}, false, func(k attr.Item) (attr.Item, error) { return r.row(k), nil })
		if !ok || len(writes) != 1 {
			t.Fatalf("%+v, %t", writes, ok)
		}
		r.must(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: writes}) })
		r.plays(anon, "2026-02-01", "proud") // the first guess of a day is not refused
		if !known {
			seen = r.takes(seen)
			if g := r.row(GameKey(anon, day)); g == nil {
				t.Error("moved although the account is not known")
			}
			r.must(func(tx *store.Tx) error { _, err := tx.Put(store.PutItem{Table: tableName, Item: marker}); return err })
		}
		r.takes(seen)
		games := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, user) })
		if len(games) != 2 || !slices.Equal(games[0].Guesses, []string{"proud"}) || !slices.Equal(games[1].Guesses, []string{"crane", "slate", "moist"}) {
			t.Errorf("known %t: %+v", known, games)
		}
		if left := read(r, func(tx *store.Tx) ([]Game, error) { return r.games(tx, anon) }); len(left) != 0 {
			t.Errorf("known %t: the session still has %v", known, left)
		}
	}
}

// A row that cannot be moved does not hold up the consumer: later answers are still dropped, and other sessions' games still move.
func TestGamesThatCannotBeMoved(t *testing.T) {
	const other = "0b9d1e1c-2f5b-4c0e-9a51-6d0a3f1f7c11"
	r := newRig(t)
	r.answerIs(day, "manna")
	r.plays(anon, day, "crane")
	r.plays(other, day, "slate")
	r.must(func(tx *store.Tx) error {
		for session, account := range map[string]string{anon: user, other: user + "2", user: user} {
			row := convertedKey(session)
			row["user_id"] = attr.S(account)
			if _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); err != nil {
				return err
			}
		}
		row := GameKey(anon, "2026-02-01")
		row["user_id"], row["puzzle_date"] = attr.S(anon), attr.S("2026-02-01") // without guesses
		_, err := tx.Put(store.PutItem{Table: tableName, Item: row})
		return err
	})
	r.takes(0)
	if g := r.row(GameKey(user+"2", day)); g == nil {
		t.Error("another session's game is held up")
	}
	if g := r.row(GameKey(anon, day)); g == nil {
		t.Error("the session's game is gone, although not all of its games could be moved")
	}
}

// A conversion that the cloud refused is repeated with the rows as they are now. A game that is gone is ignored, an account's game that began
// earlier stays, and a session's game that has gone on moves with all its guesses.
func TestRefusedConversion(t *testing.T) {
	for name, c := range map[string]struct {
		session, account []string // their games for the day in the cloud
		want, told       string
	}{
		"gone":                      {nil, nil, "[]", "[]"},
		"begun before":              {[]string{"proud"}, []string{"slate"}, "[slate]", "[proud vexed]"},
		"has gone on":               {[]string{"proud", "brick"}, nil, "[proud brick]", "[vexed]"},
		"moved already by the node": {nil, []string{"slate"}, "[slate]", "[]"},
	} {
		r := newRig(t)
		r.answerIs(day, "manna")
		r.plays(user, day, c.account...)
		r.plays(anon, day, c.session...)
		r.must(func(tx *store.Tx) error {
			if row := r.row(GameKey(anon, day)); row != nil {
				row["dropped"] = texts([]string{"vexed"})
				if _, err := tx.Put(store.PutItem{Table: tableName, Item: row}); err != nil {
					return err
				}
			}
			_, err := r.become(tx, user, anon)
			return err
		})
		refused := []refusal{{Key: GameKey(user, day), Remote: r.row(GameKey(user, day))}, {Key: GameKey(anon, day), Deletes: true, Remote: r.row(GameKey(anon, day))}}
		settle := func() []store.WriteItem {
			writes, ok := r.mergeByRow(refused, false, func(k attr.Item) (attr.Item, error) { return r.row(k), nil })
			if !ok {
				t.Fatalf("%s: a person is asked", name)
			}
			return writes
		}
		if writes := settle(); len(writes) > 0 {
			r.must(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: writes}) })
		}
		g := read(r, func(tx *store.Tx) (Game, error) { return r.game(tx, user, day) })
		if fmt.Sprint(g.Guesses) != c.want || fmt.Sprint(g.Dropped) != c.told || r.row(GameKey(anon, day)) != nil {
			t.Errorf("%s: %+v", name, g)
		}
		if refused[1].Remote = nil; settle() != nil {
			t.Errorf("%s: moved twice", name)
		}
		seen := Game{Guesses: []string{"proud"}, GuessTimes: []string{""}, GuessKeys: []string{""}, Dropped: []string{"vexed"}}
		var err error
		if refused[0].View, err = attr.Marshal(seen); err != nil {
			t.Fatal(err)
		}
		refused[0].Wrote = refused[0].View
		if writes := settle(); c.session == nil && c.account == nil && writes != nil {
			t.Errorf("%s: a game without guesses: %+v", name, writes)
		}
		if _, ok := r.mergeByRow(refused, true, func(attr.Item) (attr.Item, error) { return nil, nil }); ok {
			t.Errorf("%s: it is not known whose game it became, but no person is asked", name)
		}
	}
}

// Guesses made after a conversion that the cloud refused go to the account, whichever game of the day stays. No guess is lost without the player
// being told, and no person has to decide.
func TestGuessesBehindARefusedConversion(t *testing.T) {
	for name, c := range map[string]struct {
		account []string // the account's game for the day in the cloud, which began earlier
		moved   bool     // another node has moved the game meanwhile
		want    string
	}{
		"no other game":          {nil, false, "[proud brick]"},
		"another game, earlier":  {[]string{"slate"}, false, "[slate brick]"},
		"another node's, moved":  {[]string{"proud"}, true, "[proud brick]"},
		"another node's, played": {[]string{"proud", "moist"}, true, "[proud moist brick]"},
	} {
		r := newRig(t)
		r.answerIs(day, "manna")
		r.plays(anon, day, "proud")
		g, err := gameOf(r.row(GameKey(anon, day)))
		if err != nil {
			t.Fatal(err)
		}
		g.PK, g.UserID = GameKey(user, day)["pk"].Str(), user
		image := func(g Game) attr.Item {
			it, err := attr.Marshal(&g)
			if err != nil {
				t.Fatal(err)
			}
			return it
		}
		wrote := image(g)
		then := g
		then.add(turn{word: "brick", at: "2026-02-02T11:00:00Z"})
		if c.account != nil {
			there := g
			there.Guesses, there.GuessTimes, there.GuessKeys = nil, nil, nil
			for i, w := range c.account {
				there.add(turn{word: w, at: fmt.Sprintf("2026-02-02T10:3%d:00Z", i)})
			}
			if !c.moved {
				there.CreatedAt = "2026-02-02T00:00:00Z"
			}
			r.must(func(tx *store.Tx) error {
				_, err := tx.Put(store.PutItem{Table: tableName, Item: image(there)})
				if err == nil && c.moved {
					_, err = tx.Delete(store.DeleteItem{Table: tableName, Key: GameKey(anon, day)})
				}
				return err
			})
		}
		r.must(func(tx *store.Tx) error {
			_, err := r.become(tx, user, anon)
			return err
		})
		writes, ok := r.mergeByRow([]refusal{
			{Key: GameKey(user, day), Wrote: wrote, View: image(then), Remote: r.row(GameKey(user, day))},
			{Key: GameKey(anon, day), Remote: r.row(GameKey(anon, day)), Deletes: true},
		}, false, func(k attr.Item) (attr.Item, error) { return r.row(k), nil })
		if !ok {
			t.Fatalf("%s: a person is asked", name)
		}
		r.must(func(tx *store.Tx) error { return tx.TransactWrite(store.TransactWrite{Items: writes}) })
		if got := read(r, func(tx *store.Tx) (Game, error) { return r.game(tx, user, day) }); fmt.Sprint(got.Guesses) != c.want || got.UserID != user {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		if left := r.row(GameKey(anon, day)); left != nil {
			t.Errorf("%s: the session still has %v", name, left)
		}
	}
}

// Rows that another program has written in another form are skipped: no read of many rows fails because of one.
func TestRowsOfAnotherShape(t *testing.T) {
	r := newRig(t)
	r.answerIs(day, "manna")
	id := r.team1("ann", "bob", "cat")
	r.plays("ann", day, "crane", "manna")
	bad := func(k attr.Item, name string, v attr.Value) {
		t.Helper()
		r.must(func(tx *store.Tx) error {
			row, err := tx.Get(tableName, k)
			if row == nil {
				row = k
			}
			row[name] = v
			if err == nil {
				_, err = tx.Put(store.PutItem{Table: tableName, Item: row})
			}
			return err
		})
	}
	r.plays("bob", day, "crane")
	bad(GameKey("bob", day), "won", attr.S("no"))
	bad(GameKey("ann", "2026-02-01"), "guesses", attr.Int(3))
	bad(GameKey("ann", "2026-01-31"), "guesses", texts([]string{"crane"})) // without a date
	bad(AnswerKey("2026-01-30"), "word", attr.L())
	bad(memberKey(id, "cat"), "joined_at_millis", attr.S("x"))
	bad(profileKey("ann"), "displayName", attr.L())
	b := read(r, func(tx *store.Tx) (Board, error) { return r.Board(tx, "ann", id, day) })
	if len(b.Scores) != 1 || b.Participants != 1 || b.Scores[0].UserID != "ann" {
		t.Errorf("board: %+v", b)
	}
	if team := read(r, func(tx *store.Tx) (Team, error) { return r.Team(tx, id, "ann") }); len(team.Members) != 2 {
		t.Errorf("team: %+v", team)
	}
	if h := read(r, func(tx *store.Tx) (History, error) { return r.History(tx, "ann") }); h.Total != 1 || h.Games[0].Date != day {
		t.Errorf("history: %+v", h)
	}
	if s := read(r, func(tx *store.Tx) (Streaks, error) { return r.Streaks(tx, "ann", day) }); s.Now != 1 || s.Distribution[1] != 1 {
		t.Errorf("streaks: %+v", s)
	}
	for what, ask := range map[string]func(tx *store.Tx) error{
		"game": func(tx *store.Tx) error { _, err := r.Game(tx, "bob", day); return err },
		"guess": func(tx *store.Tx) error {
			_, err := r.Guess(tx, Guess{User: "bob", Date: day, Word: "slate"})
			return err
		},
		"puzzle": func(tx *store.Tx) error { _, err := r.Puzzle(tx, "2026-01-30"); return err },
		"answer": func(tx *store.Tx) error {
			_, err := r.SetAnswer(tx, NewAnswer{Date: "2026-01-30", Word: "brick"})
			return err
		},
	} {
		if err := r.update(ask); !fault.Is(err, fault.Unreadable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if all := read(r, func(tx *store.Tx) ([]Puzzle, error) { return r.Puzzles(tx, "", "") }); len(all) != 1 {
		t.Errorf("puzzles: %+v", all)
	}
	var named []string
	rows, _, err := r.store.UnreadableItems(t.Context())
	for _, u := range rows {
		named = append(named, u.Why)
	}
	slices.Sort(named)
	want := []string{
		"attribute displayName: it is a list, where a text belongs", "attribute guesses: it is a number, where a list belongs",
		"attribute joined_at_millis: it is a text, where a whole number belongs", "attribute puzzle_date is not a day such as 2026-02-02",
		"attribute won: it is a text, where yes or no belongs", "attribute word: it is a list, where a text belongs",
	}
	if err != nil || !slices.Equal(named, want) {
		t.Errorf("named are %q, %v", named, err)
	}
}
