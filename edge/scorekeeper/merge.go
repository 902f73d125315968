package scorekeeper

import (
	"cmp"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

// refusal is a row changed by a refused transaction, or by the writes behind it. View is its last state at this node and Remote its state in
// the cloud; nil is no row. Wrote is the row that the refused transaction itself put, as a conversion does; a guess, written alone, has none.
type refusal struct {
	Key, Wrote, View, Remote attr.Item
	Makes, Deletes           bool // whether one of the writes puts the row, and whether one deletes it
}

// MergeRefused decides about a transaction that the cloud refused, and about the later writes that went with it (behind). It returns the writes that
// take their place; if ok is false, a person decides. read returns the last known state of another row in the cloud.
//
//	a guess, after one of another node     merge the guesses of both by time (Merge)
//	a guess, and the session has no game   create the session's game again; ConsumeRecords moves it once it knows the account
//	a first guess, and the game that came  create it again, so that the cloud's answer shows that game
//	before it is not known here
//	a conversion                           repeat it with the rows as they are now, and with the guesses made since
//	a team change that the cloud has       nothing to do
//	a player accepts a team that removed   nothing to do
//	them at another node
//	the last admin leaves                  drop the change: the admin stays, at every node
func (s *Service) MergeRefused(refused, behind []table.Refused, read func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	var all []refusal
	for i, w := range slices.Concat(refused, behind) {
		at := slices.IndexFunc(all, func(r refusal) bool { return attr.EqualItems(r.Key, w.Key) })
		if at < 0 {
			remote, err := read(w.Key)
			if err != nil {
				return nil, false
			}
			at, all = len(all), append(all, refusal{Key: w.Key, Remote: remote})
		}
		r, op := &all[at], &w.Again[0]
		if i < len(refused) {
			r.View, r.Remote = w.View, w.Remote
		} else { // writes behind the refused ones have no images
			r.applyLater(op)
		}
		r.Makes, r.Deletes = r.Makes || op.Put != nil, r.Deletes || op.Delete != nil
		if i < len(refused) && w.Txn != 0 && op.Put != nil {
			r.Wrote = op.Put.Item
		}
	}
	return s.mergeByRow(all, len(behind) > 0, read)
}

// mergeByRow is MergeRefused by row. later reports whether there were writes behind the refused transaction.
func (s *Service) mergeByRow(all []refusal, later bool, read reader) (writes []store.WriteItem, ok bool) {
	for i := range all {
		r := &all[i]
		_, _, game := playedBy(r.Key)
		switch sk := r.Key["sk"].Str(); {
		case game && r.Deletes:
			return s.moveAgain(all, read)
		case later && !game:
			return nil, false
		case strings.HasPrefix(sk, prefixMember) && len(all) == 1 && r.Remote == nil && r.View["accepted"].Bool():
			return nil, true
		case strings.HasPrefix(sk, prefixMember), sk == skTeam && r.Deletes:
			return nil, lastAdmin(all) || (r.Remote == nil) == (r.View == nil) && r.Remote["role"].Equal(r.View["role"])
		}
	}
	r := &all[0]
	ours, err := gameOf(r.View)
	theirs, remoteErr := gameOf(r.Remote)
	switch user, _, game := playedBy(r.Key); {
	case len(all) != 1 || !game || err != nil || remoteErr != nil:
		return nil, false
	case r.View == nil: // the game was moved to an account since
		return nil, IsSession(user)
	case r.Remote == nil:
		w, err := s.write(&ours, &Game{})
		return []store.WriteItem{w}, err == nil && (r.Makes || IsSession(ours.UserID))
	}
	merged := Merge(&ours, &theirs)
	if merged.equals(&theirs) {
		return nil, true
	}
	w, err := s.write(&merged, &theirs)
	return []store.WriteItem{w}, err == nil
}

// lastAdmin reports whether the refused change takes away the only admin that the team has in the cloud.
func lastAdmin(all []refusal) bool {
	hasOne := func(r refusal) bool { return r.Remote["admins"].Equal(attr.Int(1)) && !r.Deletes }
	return all[0].Remote["role"].Equal(attr.S(string(RoleAdmin))) && slices.ContainsFunc(all, hasOne)
}

// moveAgain repeats a refused move with what is left of the session's game. Guesses made since go to the account, even if another game of that
// day stays. If the session belonged to another account before, guesses in that account's game remain with it.
func (s *Service) moveAgain(all []refusal, read reader) (writes []store.WriteItem, ok bool) {
	at := slices.IndexFunc(all, func(r refusal) bool { return r.Deletes })
	session, date, _ := playedBy(all[at].Key)
	marker, err := read(convertedKey(session))
	left, leftErr := gameOf(all[at].Remote)
	if err != nil || leftErr != nil || marker == nil {
		return nil, false
	}
	left.Date = date
	account, late := marker["user_id"].Str(), left.CreatedAt >= marker["converted_at"].Str()
	var behind []refusal
	for _, r := range all {
		switch user, day, game := playedBy(r.Key); {
		case !game || day != date || err != nil:
			return nil, false
		case user == session || user == account:
			behind = append(behind, r)
		default: // an account that the session belonged to before
			var own []store.WriteItem
			own, err = s.move(user, &Game{Date: date}, false, []refusal{r}, read, &Conversion{})
			writes = append(writes, own...)
		}
	}
	moved, moveErr := s.move(account, &left, late, behind, read, &Conversion{})
	return append(writes, moved...), err == nil && moveErr == nil
}

// mergeGuesses returns game to with the guesses seen here merged in. If they belong to another game than to, the words in lost are left out, and the
// player is shown them (Dropped); or, if another node has moved the session's game (elsewhere), the words that this node moved (Wrote).
func (r *refusal) mergeGuesses(to *Game, lost []string, elsewhere bool) Game {
	seen, err := gameOf(r.View)
	wrote, wroteErr := gameOf(r.Wrote)
	switch {
	case err != nil || wroteErr != nil || len(seen.Guesses) == 0:
		return *to
	case len(to.Guesses) > 0 && seen.is(to):
		lost = nil
	case elsewhere:
		lost = wrote.Guesses
	}
	kept := seen.withoutWords(lost)
	out := Merge(&kept, to)
	if len(out.Guesses) > 0 {
		out.drop(lost)
	}
	return out
}

// applyLater applies a later write to the state seen here or, if there is none, to the cloud's. Guesses seen here that the write names neither in its
// values nor in its condition are kept: a merge leaves none out on purpose, so the write was made without knowing of them.
func (r *refusal) applyLater(w *store.WriteItem) {
	var row, values attr.Item
	switch {
	case w.Put != nil:
		row, values = w.Put.Item, w.Put.Values
	case w.Delete != nil:
		values = w.Delete.Values
	default:
		row, values = r.Remote, w.Update.Values
		if r.View != nil {
			row = r.View
		}
		b, err := expr.Bind(expr.Request{Update: w.Update.Update, Condition: w.Update.Condition, Params: w.Update.Params})
		if err == nil && row != nil && b.Update != nil {
			row, err = b.Update.Apply(row)
		}
		if err != nil {
			row = r.Remote
		}
	}
	var known []string
	for _, list := range values {
		for _, v := range list.List() {
			known = append(known, v.Str())
		}
	}
	seen, err := gameOf(r.View)
	written, rowErr := gameOf(row)
	r.View = row
	if kept := seen.withoutWords(known); err == nil && rowErr == nil && len(kept.Guesses) > 0 {
		if row != nil {
			kept = Merge(&kept, &written)
		}
		if both, err := attr.Marshal(&kept); err == nil {
			r.View = both
		}
	}
}

// withoutWords returns a copy of a game without some words.
func (g *Game) withoutWords(words []string) Game {
	out := *g
	out.Guesses, out.GuessTimes, out.GuessKeys, out.Won = nil, nil, nil, g.Won && !slices.Contains(words, g.solution())
	for _, t := range g.guessesSince(0) {
		if !slices.Contains(words, t.word) {
			out.add(t)
		}
	}
	return out
}

// Merge joins two diverged versions of a player's game for a day: ours is a node's, theirs the cloud's. Their common prefix stays. The other
// guesses are added in order of time, those without a time first and, of two with the same time, theirs first. Repeated words are skipped.
// The game ends when it is solved or has six guesses. The words that are left did not count, and the player is shown them (Dropped):
//
//	theirs  crane slate | moist 10:02, manna 10:09 (solved)
//	ours    crane slate | proud 10:05, brick 10:11
//	merged  crane slate   moist proud manna          dropped: brick
func Merge(ours, theirs *Game) Game {
	n := 0
	for n < min(len(ours.Guesses), len(theirs.Guesses)) && ours.Guesses[n] == theirs.Guesses[n] {
		n++
	}
	out := *theirs
	out.Guesses, out.GuessTimes, out.GuessKeys = theirs.Guesses[:n:n], theirs.GuessTimes[:n:n], theirs.GuessKeys[:n:n]
	out.CreatedAt, out.UpdatedAt = cmp.Or(theirs.CreatedAt, ours.CreatedAt), max(ours.UpdatedAt, theirs.UpdatedAt)
	solution := cmp.Or(theirs.solution(), ours.solution())
	out.Won = solution != "" && slices.Contains(out.Guesses, solution)
	apart := slices.Concat(theirs.guessesSince(n), ours.guessesSince(n))
	slices.SortStableFunc(apart, func(a, b turn) int { return strings.Compare(a.at, b.at) })
	for _, t := range apart {
		switch {
		case slices.Contains(out.Guesses, t.word) || slices.Contains(out.Dropped, t.word):
		case out.Over():
			out.drop([]string{t.word})
		default:
			out.add(t)
			out.Won = t.word == solution
		}
	}
	out.drop(ours.Dropped)
	return out
}

// drop adds words to those that did not count, unless the game contains them.
func (g *Game) drop(words []string) {
	for _, word := range words {
		if !slices.Contains(g.Guesses, word) && !slices.Contains(g.Dropped, word) {
			g.Dropped = append(slices.Clip(g.Dropped), word)
		}
	}
}

// guessesSince returns the guesses of a game after the first n.
func (g *Game) guessesSince(n int) (all []turn) {
	for i := n; i < len(g.Guesses); i++ {
		all = append(all, turn{g.Guesses[i], g.GuessTimes[i], g.GuessKeys[i]})
	}
	return all
}

// solution returns the word that solved a game. It is empty if the game is not won.
func (g *Game) solution() string {
	if !g.Won || len(g.Guesses) == 0 {
		return ""
	}
	return g.Guesses[len(g.Guesses)-1]
}

func (g *Game) equals(as *Game) bool {
	return slices.Equal(g.Guesses, as.Guesses) && slices.Equal(g.Dropped, as.Dropped)
}
