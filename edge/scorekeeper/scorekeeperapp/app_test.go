package scorekeeperapp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/touchline/touchline/edge/scorekeeper"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
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
		return merge(conflict.MergeCase{Entries: []*intent.Entry{e}, Items: []conflict.MergeItem{{View: view, Remote: remote}}})
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
	if _, ok := ask(key, game("crane"), nil); ok {
		t.Error("a game that is gone is decided")
	}
	if _, ok := ask(scorekeeper.AnswerKey("2026-02-02"), game("crane"), game("crane")); ok {
		t.Error("an answer is decided")
	}
}
