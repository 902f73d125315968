package scorekeeperapp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/touchline/touchline/edge/app"
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
		"":      {Place: app.Place{Mount: "/scorekeeper", Table: "scorekeeper-dev"}},
		"table": {Place: app.Place{Mount: "/", Table: "a b"}},
		"words": {Place: app.Place{Mount: "/", Table: "scorekeeper-dev"}, Words: words},
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

const (
	table   = "scorekeeper-test"
	session = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	today   = "2026-02-02"
)

var ( // never changed
	game1 = scorekeeper.GameKey("u1", today)
	guest = scorekeeper.GameKey(session, today)
)

func rowOf(t *testing.T, user string, guesses ...string) attr.Item {
	t.Helper()
	it, err := attr.Marshal(scorekeeper.Game{PK: scorekeeper.GameKey(user, today)["pk"].Str(), SK: "GAME_STATE", UserID: user, Date: today, Guesses: guesses})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func entry(key attr.Item) *intent.Entry {
	e := &intent.Entry{}
	e.Table, e.Key, e.Op = table, key, store.OpUpdate
	return e
}

func nothing(string, attr.Item) (attr.Item, error) { return nil, nil }

// A game that another node has continued is settled without a person. Anything else goes to a person.
func TestMerge(t *testing.T) {
	handler := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)
	ask := func(k, view, remote attr.Item, tail ...*intent.Entry) ([]store.WriteItem, bool) {
		return handler(conflict.MergeCase{Entries: []*intent.Entry{entry(k)}, Tail: tail, Items: []conflict.MergeItem{{View: view, Remote: remote}}, Get: nothing})
	}
	game := func(guesses ...string) attr.Item { return rowOf(t, "u1", guesses...) }
	writes, ok := ask(game1, game("crane", "slate"), game("crane", "moist"), entry(game1))
	if !ok || len(writes) != 1 || writes[0].Update.Condition != "guesses = :seen AND won = :was" {
		t.Fatalf("%+v, %t", writes, ok)
	}
	var got []string
	if err := attr.UnmarshalValue(writes[0].Update.Values[":guesses"], &got); err != nil || !slices.Equal(got, []string{"crane", "moist", "slate"}) {
		t.Errorf("%v, %v", got, err)
	}
	if writes, ok := ask(game1, game("crane"), game("crane", "moist")); !ok || writes != nil {
		t.Errorf("nothing to add: %+v, %t", writes, ok)
	}
	if writes, ok := ask(guest, rowOf(t, session, "crane"), nil); !ok || len(writes) != 1 || writes[0].Put.Condition != "attribute_not_exists(pk)" {
		t.Errorf("a session whose game is gone: %+v, %t", writes, ok)
	}
	first := entry(game1)
	first.Op = store.OpPut
	if writes, ok := handler(conflict.MergeCase{Entries: []*intent.Entry{first}, Items: []conflict.MergeItem{{View: game("crane")}}, Get: nothing}); !ok || len(writes) != 1 || writes[0].Put == nil {
		t.Errorf("a first guess onto a row that is not known: %+v, %t", writes, ok)
	}
	if writes, ok := ask(guest, nil, rowOf(t, session, "crane")); !ok || writes != nil {
		t.Errorf("a session's game that was moved here meanwhile: %+v, %t", writes, ok)
	}
	broken := game("crane")
	broken["guesses"] = attr.S("crane")
	for what, of := range map[string]struct {
		key, view, remote attr.Item
		tail              []*intent.Entry
	}{
		"a conversion after a guess":              {game1, game("crane"), game("crane", "moist"), []*intent.Entry{entry(scorekeeper.GameKey("u2", today))}},
		"a game that is gone at this node":        {game1, nil, game("crane", "moist"), nil},
		"a game of an account that is gone":       {game1, game("crane"), nil, nil},
		"a game that cannot be read in the cloud": {game1, game("crane"), broken, nil},
		"a game that cannot be read here":         {game1, broken, game("crane"), nil},
		"an answer":                               {scorekeeper.AnswerKey(today), game("crane"), game("crane"), nil},
	} {
		if writes, ok := ask(of.key, of.view, of.remote, of.tail...); ok {
			t.Errorf("%s was not left to a person: %+v", what, writes)
		}
	}
}

// A guess after a refused conversion is settled with it, and so is another conversion of that day. Other writes after it go to a person.
func TestMergeOfAConversion(t *testing.T) {
	handler := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)
	marker := attr.Item{"pk": attr.S("USER#" + session), "sk": attr.S("CONVERTED"), "user_id": attr.S("u1")}
	behind := func(key attr.Item, op store.Op) *intent.Entry {
		e := entry(key)
		e.Op = op
		return e
	}
	put := entry(game1)
	put.Item, put.Txn = rowOf(t, "u1", "crane"), 7
	there := map[string]attr.Item{game1["pk"].Str(): rowOf(t, "u1", "crane"), marker["pk"].Str(): marker}
	for what, of := range map[string]struct {
		tail *intent.Entry
		done bool
	}{
		"a guess":                {behind(game1, store.OpUpdate), true},
		"another conversion":     {behind(guest, store.OpDelete), true},
		"a guess of another day": {behind(scorekeeper.GameKey("u1", "2026-02-01"), store.OpUpdate), false},
		"something else":         {behind(marker, store.OpPut), false},
	} {
		writes, ok := handler(conflict.MergeCase{
			Entries: []*intent.Entry{put, behind(guest, store.OpDelete)}, Tail: []*intent.Entry{of.tail},
			Items: []conflict.MergeItem{{View: rowOf(t, "u1", "crane", "moist"), Remote: there[game1["pk"].Str()]}, {}},
			Get:   func(_ string, key attr.Item) (attr.Item, error) { return there[key["pk"].Str()], nil },
		})
		if ok != of.done || ok && (len(writes) != 1 || writes[0].Update == nil) {
			t.Errorf("%s: %+v, %t", what, writes, ok)
		}
	}
}

// A change of a team that another node has made already needs nothing. Any other goes to a person.
func TestMergeOfATeam(t *testing.T) {
	handler := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)
	member := attr.Item{"pk": attr.S("TEAM#t1"), "sk": attr.S("MEMBER#u2")}
	role := func(r scorekeeper.Role) attr.Item {
		return attr.Item{"pk": member["pk"], "sk": member["sk"], "role": attr.S(string(r))}
	}
	accepted := role(scorekeeper.RoleMember)
	accepted["accepted"] = attr.Bool(true)
	for what, of := range map[string]struct {
		view, there attr.Item
		tail        []*intent.Entry
		done        bool
	}{
		"gone at both":           {nil, nil, nil, true},
		"the same role":          {role(scorekeeper.RoleAdmin), role(scorekeeper.RoleAdmin), nil, true},
		"another role":           {role(scorekeeper.RoleAdmin), role(scorekeeper.RoleMember), nil, false},
		"gone there":             {role(scorekeeper.RoleAdmin), nil, nil, false},
		"accepted, gone there":   {accepted, nil, nil, true},
		"gone here":              {nil, role(scorekeeper.RoleAdmin), nil, false},
		"something comes behind": {nil, nil, []*intent.Entry{entry(attr.Item{"pk": member["pk"], "sk": attr.S("METADATA")})}, false},
	} {
		writes, ok := handler(conflict.MergeCase{
			Entries: []*intent.Entry{entry(member)}, Items: []conflict.MergeItem{{View: of.view, Remote: of.there}}, Tail: of.tail, Get: nothing,
		})
		if ok != of.done || writes != nil {
			t.Errorf("%s: %+v, %t", what, writes, ok)
		}
	}
}

// The last admin that a team has in the cloud stays, whatever a node that did not know this has accepted.
func TestMergeOfTheLastAdmin(t *testing.T) {
	handler := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)
	member, team := attr.Item{"pk": attr.S("TEAM#t1"), "sk": attr.S("MEMBER#u2")}, attr.Item{"pk": attr.S("TEAM#t1"), "sk": attr.S("METADATA")}
	for what, of := range map[string]struct {
		role    scorekeeper.Role
		admins  int64
		deletes bool // the team
		done    bool
	}{
		"the last admin":             {scorekeeper.RoleAdmin, 1, false, true},
		"another admin is there":     {scorekeeper.RoleAdmin, 2, false, false},
		"no admin any more":          {scorekeeper.RoleMember, 1, false, false},
		"the team itself is deleted": {scorekeeper.RoleAdmin, 1, true, false},
	} {
		count := entry(team)
		if of.deletes {
			count.Op = store.OpDelete
		}
		writes, ok := handler(conflict.MergeCase{
			Entries: []*intent.Entry{entry(member), count}, Get: nothing,
			Items: []conflict.MergeItem{{Remote: attr.Item{"role": attr.S(string(of.role))}}, {Remote: attr.Item{"admins": attr.Int(of.admins)}}},
		})
		if ok != of.done || writes != nil {
			t.Errorf("%s: %+v, %t", what, writes, ok)
		}
	}
}

// Guesses made after the refused write had left the view are in none of its images: they are read from the writes behind it.
func TestMergeOfWhatCameBehind(t *testing.T) {
	first, behind, other, row := entry(game1), entry(game1), entry(game1), rowOf(t, "u1", "crane", "moist", "proud")
	first.Op, first.Item = store.OpPut, rowOf(t, "u1", "crane")
	behind.Update, behind.Values = "SET guesses = :0", attr.Item{":0": row["guesses"]}
	// Another merge has written over the first guess, without knowing of the next ones.
	other.Update, other.Condition = "SET guesses = :0", "guesses = :1"
	other.Values = attr.Item{":0": rowOf(t, "u1", "fjord", "crane")["guesses"], ":1": rowOf(t, "u1", "crane")["guesses"]}
	for want, tail := range map[int][]*intent.Entry{4: {behind}, 5: {behind, other}} {
		writes, ok := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)(conflict.MergeCase{
			Entries: []*intent.Entry{first}, Items: []conflict.MergeItem{{View: rowOf(t, "u1", "crane", "moist"), Remote: rowOf(t, "u1", "slate")}},
			Tail: tail, Get: nothing,
		})
		if !ok || len(writes) != 1 || len(writes[0].Update.Values[":guesses"].List()) != want {
			t.Errorf("%+v, %t, want %d", writes, ok, want)
		}
	}
}

// A guess of a session is refused, and the conversion behind it goes with it. The account gets all guesses seen here, even if the session was
// converted to another account meanwhile.
func TestMergeOfAConversionBehindAGuess(t *testing.T) {
	put, gone := entry(game1), entry(guest)
	put.Op, put.Item, put.Txn, gone.Op, gone.Txn = store.OpPut, rowOf(t, "u1", "crane", "moist"), 7, store.OpDelete, 7
	for _, became := range []string{"u1", "u2"} {
		marker := attr.Item{"pk": attr.S("USER#" + session), "sk": attr.S("CONVERTED"), "user_id": attr.S(became)}
		writes, ok := app.Merge((&scorekeeper.Service{Handle: scorekeeper.Rows(table)}).MergeRefused)(conflict.MergeCase{
			Entries: []*intent.Entry{entry(guest)}, Items: []conflict.MergeItem{{}}, Tail: []*intent.Entry{gone, put},
			Get: func(_ string, key attr.Item) (attr.Item, error) {
				return map[string]attr.Item{"CONVERTED": marker}[key["sk"].Str()], nil
			},
		})
		if !ok || len(writes) != 1 || writes[0].Put == nil || len(writes[0].Put.Item["guesses"].List()) != 2 || writes[0].Put.Item["user_id"].Str() != "u1" {
			t.Errorf("it became %s: %+v, %t", became, writes, ok)
		}
	}
}
