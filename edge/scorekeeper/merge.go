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

// refusal is a row of a transaction that the cloud did not take, or of what stood behind it: as it was seen here in the end, and as the cloud has
// it; nil: no row. Wrote is the row as a conversion was to make it that was refused itself.
type refusal struct {
	Key, Wrote, View, Remote attr.Item
	Makes, Deletes           bool // it was made here, and it was deleted then
}

// Settle answers for the writes of a transaction that the cloud has refused, and for those behind it, which go with it; of everything else a
// person is asked. read reads another row, as the cloud has it as far as is known here.
//
//	a guess, and another node's came first     the guesses of both by time (Merge)
//	a guess of a session that has no game now  the game is the session's again, until Take sees whose it became, if it has not yet
//	the first guess, and what came first is    it is made again, for the cloud to show that
//	not known here
//	a conversion                               made again with what is there now, and with what was guessed since
//	a change of a team that is there already   nothing to do
//	the last admin of a team leaves            who stays, as everywhere
func (s *Service) Settle(refused, behind []table.Refused, read func(key attr.Item) (attr.Item, error)) (writes []store.WriteItem, ok bool) {
	var all []refusal
	for i, w := range slices.Concat(refused, behind) {
		at := slices.IndexFunc(all, func(r refusal) bool { return attr.EqualItems(r.Key, w.Key) })
		if at < 0 {
			there, err := read(w.Key)
			if err != nil {
				return nil, false
			}
			at, all = len(all), append(all, refusal{Key: w.Key, Remote: there})
		}
		r, op := &all[at], &w.Again[0]
		if i < len(refused) {
			r.View, r.Remote = w.View, w.Remote
		} else { // what has come behind the refusal has no images
			r.then(op)
		}
		r.Makes, r.Deletes = r.Makes || op.Put != nil, r.Deletes || op.Delete != nil
		if i < len(refused) && w.Txn != 0 && op.Put != nil {
			r.Wrote = op.Put.Item
		}
	}
	return s.settle(all, len(behind) > 0, read)
}

// settle is Settle by rows; later is true where something stood behind the refusal.
func (s *Service) settle(all []refusal, later bool, read reader) (writes []store.WriteItem, ok bool) {
	for i := range all {
		r := &all[i]
		_, _, game := playedBy(r.Key)
		switch sk := r.Key["sk"].Str(); {
		case game && r.Deletes:
			return s.moveAgain(all, read)
		case later && !game:
			return nil, false
		case strings.HasPrefix(sk, prefixMember), sk == skTeam && r.Deletes:
			return nil, lastAdmin(all) || (r.Remote == nil) == (r.View == nil) && r.Remote["role"].Equal(r.View["role"])
		}
	}
	r := &all[0]
	ours, err := gameOf(r.View)
	theirs, bad := gameOf(r.Remote)
	switch user, _, game := playedBy(r.Key); {
	case len(all) != 1 || !game || err != nil || bad != nil:
		return nil, false
	case r.View == nil: // it was moved from here since
		return nil, IsSession(user)
	case r.Remote == nil:
		w, err := s.write(&ours, &Game{})
		return []store.WriteItem{w}, err == nil && (r.Makes || IsSession(ours.UserID))
	}
	merged := Merge(&ours, &theirs)
	if merged.same(&theirs) {
		return nil, true
	}
	w, err := s.write(&merged, &theirs)
	return []store.WriteItem{w}, err == nil
}

// lastAdmin reports whether what was refused is that the one admin whom the cloud has in a team is none any more.
func lastAdmin(all []refusal) bool {
	one := func(r refusal) bool { return r.Remote["admins"].Equal(attr.Int(1)) && !r.Deletes }
	return all[0].Remote["role"].Equal(attr.S(string(RoleAdmin))) && slices.ContainsFunc(all, one)
}

// moveAgain moves what is left of a session's game. What was guessed since is the account's, also where another game of that day stays. Guesses
// of others are theirs.
func (s *Service) moveAgain(all []refusal, read reader) (writes []store.WriteItem, ok bool) {
	at := slices.IndexFunc(all, func(r refusal) bool { return r.Deletes })
	session, date, _ := playedBy(all[at].Key)
	marker, err := read(convertedKey(session))
	left, bad := gameOf(all[at].Remote)
	if err != nil || bad != nil || marker == nil {
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
		default: // whose the session was before it became another's
			var own []store.WriteItem
			own, err = s.move(user, &Game{Date: date}, false, []refusal{r}, read, &Conversion{})
			writes = append(writes, own...)
		}
	}
	moved, bad := s.move(account, &left, late, behind, read, &Conversion{})
	return append(writes, moved...), err == nil && bad == nil
}

// joined is a game with what was guessed here of that day, but, where that was another game, for what was lost with it: its player is told.
// That is, of one that another node has moved, what was moved here.
func (r *refusal) joined(to *Game, lost []string, elsewhere bool) Game {
	seen, err := gameOf(r.View)
	wrote, bad := gameOf(r.Wrote)
	switch {
	case err != nil || bad != nil || len(seen.Guesses) == 0:
		return *to
	case len(to.Guesses) > 0 && seen.is(to):
		lost = nil
	case elsewhere:
		lost = wrote.Guesses
	}
	more := seen.without(lost)
	out := Merge(&more, to)
	if len(out.Guesses) > 0 {
		out.drop(lost)
	}
	return out
}

// then has a write that came behind change what was seen, or what is there where it was not. Guesses that it does not know, neither in what it
// writes nor in its condition, are no less seen: what another merge has written of a game has left nothing out by itself.
func (r *refusal) then(w *store.WriteItem) {
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
	is, bad := gameOf(row)
	r.View = row
	if more := seen.without(known); err == nil && bad == nil && len(more.Guesses) > 0 {
		if row != nil {
			more = Merge(&more, &is)
		}
		if both, err := attr.Marshal(&more); err == nil {
			r.View = both
		}
	}
}

// without is a game without some words.
func (g *Game) without(words []string) Game {
	out := *g
	out.Guesses, out.GuessTimes, out.GuessKeys, out.Won = nil, nil, nil, g.Won && !slices.Contains(words, g.solution())
	for _, t := range g.since(0) {
		if !slices.Contains(words, t.word) {
			out.add(t)
		}
	}
	return out
}

// Merge joins two games of a player and a day that went apart: ours at a node, theirs in the cloud. What both begin with stays; the
// guesses behind it are taken in the order in which they were made, those without a time first and of two at one time theirs. A word
// that is there already is passed over. The game ends when it is solved or has six guesses; what is left was not to be guessed any
// more, and the player is told so (Dropped):
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
	apart := slices.Concat(theirs.since(n), ours.since(n))
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

// drop has a player be told that words did not count.
func (g *Game) drop(words []string) {
	for _, word := range words {
		if !slices.Contains(g.Guesses, word) && !slices.Contains(g.Dropped, word) {
			g.Dropped = append(slices.Clip(g.Dropped), word)
		}
	}
}

// since lists the guesses of a game behind its first n.
func (g *Game) since(n int) (all []turn) {
	for i := n; i < len(g.Guesses); i++ {
		all = append(all, turn{g.Guesses[i], g.GuessTimes[i], g.GuessKeys[i]})
	}
	return all
}

// solution is the word that has won a game.
func (g *Game) solution() string {
	if !g.Won || len(g.Guesses) == 0 {
		return ""
	}
	return g.Guesses[len(g.Guesses)-1]
}

func (g *Game) same(as *Game) bool {
	return slices.Equal(g.Guesses, as.Guesses) && slices.Equal(g.Dropped, as.Dropped)
}
