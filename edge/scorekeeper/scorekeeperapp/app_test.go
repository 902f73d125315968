package scorekeeperapp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

func TestSettings(t *testing.T) {
	words := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(words, []byte("crane\nfour\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Settings{
		"":      {Mount: "/scorekeeper", Table: "scorekeeper-dev"},
		"mount": {Mount: "scorekeeper", Table: "scorekeeper-dev"},
		"table": {Mount: "/", Table: "a b"},
		"words": {Mount: "/", Table: "scorekeeper-dev", Words: words},
	} {
		var keys []string
		for _, p := range s.Problems() {
			keys = append(keys, p.Key)
		}
		if got := append(keys, "")[0]; got != want || len(keys) > 1 {
			t.Errorf("%+v: problems with %v, want %q", s, keys, want)
		}
	}
}

// Of a game that another node has played on a person is asked nothing; of everything else one is.
func TestMerge(t *testing.T) {
	game := func(guesses ...string) attr.Item {
		it, err := attr.Marshal(scorekeeper.Game{UserID: "u1", Date: "2026-02-02", Guesses: guesses})
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	key := scorekeeper.GameKey("u1", "2026-02-02")
	ask := func(k, view, remote attr.Item) ([]store.WriteItem, bool) {
		e := &intent.Entry{}
		e.Table, e.Key = "scorekeeper-test", k
		none := func(string, attr.Item) (attr.Item, error) { return nil, nil }
		return merge(conflict.MergeCase{Entries: []*intent.Entry{e}, Items: []conflict.MergeItem{{View: view, Remote: remote}}, Get: none})
	}
	writes, ok := ask(key, game("crane", "slate"), game("crane", "moist"))
	if !ok || len(writes) != 1 || writes[0].Update.Condition != "guesses = :seen" {
		t.Fatalf("%+v, %t", writes, ok)
	}
	var got []string
	if err := attr.UnmarshalValue(writes[0].Update.Values[":guesses"], &got); err != nil || !slices.Equal(got, []string{"crane", "moist", "slate"}) {
		t.Errorf("%v, %v", got, err)
	}
	if writes, ok := ask(key, game("crane"), game("crane", "moist")); !ok || writes != nil {
		t.Errorf("nothing to add: %+v, %t", writes, ok)
	}
	moved := &intent.Entry{}
	moved.Table, moved.Key = "scorekeeper-test", scorekeeper.GameKey("u2", "2026-02-02")
	refused := &intent.Entry{}
	refused.Table, refused.Key = "scorekeeper-test", key
	if _, ok := merge(conflict.MergeCase{
		Entries: []*intent.Entry{refused}, Tail: []*intent.Entry{moved},
		Items: []conflict.MergeItem{{View: game("crane"), Remote: game("crane", "moist")}},
	}); ok {
		t.Error("a conversion behind a guess is dropped with it")
	}
	if _, ok := ask(key, nil, game("crane", "moist")); ok {
		t.Error("a game that is gone here is decided")
	}
	if _, ok := ask(key, game("crane"), nil); ok {
		t.Error("a game that is gone is decided")
	}
	if _, ok := ask(scorekeeper.AnswerKey("2026-02-02"), game("crane"), game("crane")); ok {
		t.Error("an answer is decided")
	}
}

// A late guess of a session that became an account's goes to the account's game, or begins it.
func TestMergeOfAConvertedSession(t *testing.T) {
	const session, day = "f47ac10b-58cc-4372-a567-0e02b2c3d479", "2026-02-02"
	table := scorekeeper.Table("scorekeeper-test")
	s := storetest.OpenWith(t, filepath.Join(t.TempDir(), "s.db"), store.Options{NoSync: true}, table)
	words, err := scorekeeper.NewDictionary("")
	if err != nil {
		t.Fatal(err)
	}
	service := &scorekeeper.Service{Table: table.Name, Words: words}
	at := time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)
	var late attr.Item
	do := func(change func(tx *store.Tx) error) {
		t.Helper()
		if err := s.Update(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	do(func(tx *store.Tx) error {
		if _, err := service.SetAnswer(tx, scorekeeper.NewAnswer{Date: day, Word: "manna"}); err != nil {
			return err
		}
		return service.Import(tx, session, []string{"crane", "slate"}, at)
	})
	do(func(tx *store.Tx) (err error) {
		if late, err = tx.Get(table.Name, scorekeeper.GameKey(session, day)); err == nil {
			late["guesses"] = attr.L(attr.S("crane"), attr.S("slate"), attr.S("moist"))
			_, err = service.Convert(tx, "u1", session)
		}
		return err
	})
	guesses := func(tx *store.Tx) []string {
		var g scorekeeper.Game
		row, err := tx.Get(table.Name, scorekeeper.GameKey("u1", day))
		if err != nil || attr.Unmarshal(row, &g) != nil {
			t.Fatalf("%v, %v", row, err)
		}
		return g.Guesses
	}
	for _, before := range []string{"as converted", "gone"} {
		do(func(tx *store.Tx) error {
			if before == "gone" {
				if _, err := tx.Delete(store.DeleteItem{Table: table.Name, Key: scorekeeper.GameKey("u1", day)}); err != nil {
					return err
				}
			}
			e := &intent.Entry{}
			e.Table, e.Key = table.Name, scorekeeper.GameKey(session, day)
			writes, ok := merge(conflict.MergeCase{Entries: []*intent.Entry{e}, Items: []conflict.MergeItem{{View: late}}, Get: tx.Get})
			if !ok || len(writes) != 1 {
				t.Fatalf("%s: %+v, %t", before, writes, ok)
			}
			if err := tx.TransactWrite(store.TransactWrite{Items: writes}); err != nil {
				return err
			}
			if got := guesses(tx); !slices.Equal(got, []string{"crane", "slate", "moist"}) {
				t.Errorf("%s: %v", before, got)
			}
			return nil
		})
	}
}
