package scorekeeper

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Refused is a write that the cloud did not take: its item as it was seen here, with what stands behind it, and as the cloud has it;
// nil: no item. Wrote is the item of a put.
type Refused struct {
	Key, Wrote, View, Remote attr.Item
	Deletes                  bool
}

// Settle answers for the writes of a transaction that the cloud has refused; of everything else a person is asked. read reads another
// row, as the cloud has it as far as is known here. Where later is true writes of other rows stand behind it, which go with it.
//
//	a guess, and another node's came first     the guesses of both by time (Merge)
//	a guess of a session that has no game now  the game is the session's again, until Take sees whose it became
//	a conversion                               made again with what is there now, and with what was guessed since
//	a change of a team that is there already   nothing to do
//	the last admin of a team leaves            who stays, as everywhere
func (s *Service) Settle(all []Refused, later bool, read reader) (writes []store.WriteItem, ok bool) {
	for i := range all {
		r := &all[i]
		switch sk := r.Key["sk"].Str(); {
		case later:
			return nil, false
		case strings.HasPrefix(sk, prefixMember), sk == skTeam && r.Deletes:
			return nil, lastAdmin(all) || (r.Remote == nil) == (r.View == nil) && r.Remote["role"].Equal(r.View["role"])
		case sk == skConverted && r.View != nil:
			return s.convertAgain(all, r.View, read)
		}
	}
	r := &all[0]
	ours, err := gameOf(r.View)
	theirs, bad := gameOf(r.Remote)
	switch _, _, game := PlayedBy(r.Key); {
	case len(all) != 1 || !game || r.View == nil || err != nil || bad != nil:
		return nil, false
	case r.Remote == nil:
		w, err := s.put(&ours, nil)
		return []store.WriteItem{w}, err == nil && IsSession(ours.UserID)
	}
	if merged := Merge(&ours, &theirs); !merged.same(&theirs) {
		writes = []store.WriteItem{s.change(&merged, &theirs)}
	}
	return writes, true
}

// lastAdmin reports whether what was refused is that the one admin whom the cloud has in a team is none any more.
func lastAdmin(all []Refused) bool {
	one := func(r Refused) bool { return r.Remote["admins"].Equal(attr.Int(1)) && !r.Deletes }
	return all[0].Remote["role"].Equal(attr.S(string(RoleAdmin))) && slices.ContainsFunc(all, one)
}

// convertAgain converts what is left of the games that a refused transaction was to move. What was guessed in them since is the account's,
// also where another game of that day stays.
func (s *Service) convertAgain(all []Refused, marker attr.Item, read reader) (writes []store.WriteItem, ok bool) {
	var games []Game
	since := map[string]*Game{}
	for i := range all {
		r := &all[i]
		if g, err := gameOf(r.Remote); r.Deletes && r.Remote != nil && err == nil {
			games = append(games, g)
		}
		if _, date, game := PlayedBy(r.Key); game && r.Wrote != nil {
			if more := guessedSince(r.View, r.Wrote); len(more.Guesses) > 0 {
				since[date] = more
			}
		}
	}
	var err error
	if len(games) > 0 { // else another node has moved them
		writes, err = s.conversion(marker, games, since, read, &Conversion{})
	}
	for _, date := range slices.Sorted(maps.Keys(since)) {
		g, bad := gameIn(read, marker["user_id"].Str(), date)
		merged := Merge(since[date], &g)
		switch {
		case err != nil || bad != nil || len(g.Guesses) == 0: // it is gone
			return nil, false
		case !merged.same(&g):
			writes = append(writes, s.change(&merged, &g))
		}
	}
	return writes, err == nil
}

// guessedSince is a game of the guesses alone that stand behind those which were written.
func guessedSince(view, wrote attr.Item) *Game {
	out := &Game{}
	now, err := gameOf(view)
	before, bad := gameOf(wrote)
	if err == nil && bad == nil {
		for _, t := range now.since(len(before.Guesses)) {
			out.add(t)
		}
		out.Won = now.Won && !before.Won
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
	out.Dropped = slices.Clone(theirs.Dropped)
	out.UpdatedAt = max(ours.UpdatedAt, theirs.UpdatedAt)
	solution := cmp.Or(theirs.solution(), ours.solution())
	out.Won = solution != "" && slices.Contains(out.Guesses, solution)
	apart := slices.Concat(theirs.since(n), ours.since(n))
	slices.SortStableFunc(apart, func(a, b turn) int { return strings.Compare(a.at, b.at) })
	for _, t := range apart {
		switch {
		case slices.Contains(out.Guesses, t.word) || slices.Contains(out.Dropped, t.word):
		case out.Over():
			out.Dropped = append(out.Dropped, t.word)
		default:
			out.add(t)
			out.Won = t.word == solution
		}
	}
	return out
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
