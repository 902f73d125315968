package scorekeeper

import (
	"slices"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Merge joins two games of a player and a day that went apart: ours at a node, theirs in the cloud. What both begin with stays; the
// guesses behind it are taken in the order in which they were made, those without a time first and of two at one time theirs. A word
// that is there already is passed over. The game ends when it is solved or has six guesses; what is left was not to be guessed any
// more, and the player is told so (Dropped):
//
//	theirs  crane slate | moist 10:02, manna 10:09 (solved)
//	ours    crane slate | proud 10:05, brick 10:11
//	merged  crane slate   moist proud manna          dropped: brick
func Merge(ours, theirs *Game) Game {
	out := *theirs
	n := 0
	for n < min(len(ours.Guesses), len(theirs.Guesses)) && ours.Guesses[n] == theirs.Guesses[n] {
		n++
	}
	out.Guesses = slices.Clone(theirs.Guesses[:n])
	out.GuessTimes, out.GuessKeys = slices.Clone(padded(theirs.GuessTimes, n)), slices.Clone(padded(theirs.GuessKeys, n))
	out.Dropped = slices.Clone(theirs.Dropped)
	solution := solutionOf(theirs)
	if solution == "" {
		solution = solutionOf(ours)
	}
	out.Won = solution != "" && slices.Contains(out.Guesses, solution)
	for i, j := n, n; i < len(theirs.Guesses) || j < len(ours.Guesses); {
		if i == len(theirs.Guesses) || j < len(ours.Guesses) && at(ours.GuessTimes, j) < at(theirs.GuessTimes, i) {
			out.take(ours, j, solution)
			j++
		} else {
			out.take(theirs, i, solution)
			i++
		}
	}
	out.UpdatedAt = max(ours.UpdatedAt, theirs.UpdatedAt)
	return out
}

// take adds a guess of another game to a merged one.
func (g *Game) take(from *Game, i int, solution string) {
	switch word := from.Guesses[i]; {
	case slices.Contains(g.Guesses, word) || slices.Contains(g.Dropped, word):
	case g.Over():
		g.Dropped = append(g.Dropped, word)
	default:
		g.Guesses = append(g.Guesses, word)
		g.GuessTimes = append(g.GuessTimes, at(from.GuessTimes, i))
		g.GuessKeys = append(g.GuessKeys, at(from.GuessKeys, i))
		g.Won = word == solution
	}
}

// solutionOf is the word that has won a game.
func solutionOf(g *Game) string {
	if !g.Won || len(g.Guesses) == 0 {
		return ""
	}
	return g.Guesses[len(g.Guesses)-1]
}

// Converted is the account that a session's game belongs to, as rows read by get say; empty: the session was not converted.
func Converted(get func(key attr.Item) (attr.Item, error), session string) (account string, err error) {
	marker, err := get(convertedKey(session))
	return marker["user_id"].Str(), err
}

// LateWrite is the write of a game that was played in a session after that became an account's: it goes to the account's row, which
// is there nil where the account has not played on that day. changed is false where nothing is to be added.
func LateWrite(table, account string, late, there *Game) (w store.WriteItem, changed bool, err error) {
	if there != nil {
		u, changed := MergeUpdate(table, late, there)
		return store.WriteItem{Update: &u}, changed, nil
	}
	moved := *late
	moved.PK, moved.SK, moved.UserID = gamePK(account, late.Date), skGame, account
	item, err := attr.Marshal(moved)
	return store.WriteItem{Put: &store.PutItem{Table: table, Item: item, Condition: "attribute_not_exists(pk)"}}, true, err
}

// MergeUpdate is the write that makes the cloud's game the merged one; changed is false where it is that already.
func MergeUpdate(table string, ours, theirs *Game) (u store.UpdateItem, changed bool) {
	m := Merge(ours, theirs)
	if slices.Equal(m.Guesses, theirs.Guesses) && slices.Equal(m.Dropped, theirs.Dropped) {
		return u, false
	}
	u = store.UpdateItem{
		Table: table, Key: key(m.PK, m.SK), Condition: "guesses = :seen",
		Update: "SET guesses = :guesses, guess_times = :times, guess_keys = :keys, won = :won, updated_at = :at",
		Params: expr.Params{Values: attr.Item{
			":seen": texts(theirs.Guesses), ":guesses": texts(m.Guesses), ":times": texts(m.GuessTimes), ":keys": texts(m.GuessKeys),
			":won": attr.Bool(m.Won), ":at": attr.S(m.UpdatedAt),
		}},
	}
	if len(m.Dropped) > 0 {
		u.Update += ", dropped = :dropped"
		u.Values[":dropped"] = texts(m.Dropped)
	}
	return u, true
}
