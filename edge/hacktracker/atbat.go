package hacktracker

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/patch"
	"github.com/touchline/touchline/store/table"
)

// AtBats lists those of a game to a member of its team, in order.
func (b *Book) AtBats(game string) []AtBat {
	b.Game(game)
	out := collect(b, "", prefixGame+game, prefixAtBat, atBatOf)
	Sort(out)
	return out
}

// AtBat finds one by its id, or by what its key has instead in rows of the original, for a member of the team.
func (b *Book) AtBat(game, id string) AtBat {
	all := b.AtBats(game)
	if i := slices.IndexFunc(all, func(a AtBat) bool { return a.ID == id || a.sk == prefixAtBat+id }); i >= 0 {
		return all[i]
	}
	b.Fail(notFound("At-bat"))
	return AtBat{}
}

// newULID reads the key by which a request takes effect once, or makes one of a moment.
func (b *Book) newULID(once, what string, at time.Time) string {
	if once == "" {
		return ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
	}
	id := strings.ToUpper(once)
	_, bad := ulid.ParseStrict(id)
	b.refuse(bad != nil, Invalid("The Idempotency-Key of %s must be a ULID", what))
	return id
}

// NewAtBat scores a plate appearance. once is its Idempotency-Key: a ULID, which becomes its id, so that one scored at two nodes is
// one; at is when it happened, and late why that is too long ago: it may still be one that is there. It counts for as long as the game
// runs; if it was finished at another node meanwhile, for what happened before.
func (b *Book) NewAtBat(game, once string, at time.Time, late error, in Input) AtBat {
	p := b.read(atBatFields(), in, "playerId", "result", "inning", "outs", "battingOrder")
	id := b.newULID(once, "an at-bat", at)
	g, t := b.allowGame(game, manageGames)
	row := b.Stamp(atBatKey(game, id), p.Set)
	row["atBatId"], row["gameId"], row["teamId"], row["createdAt"] = attr.S(id), attr.S(game), attr.S(t.ID), attr.S(at.UTC().Format(patch.Stamp))
	row["updatedAt"] = row["createdAt"]
	player := p.Set["playerId"].Str()
	indexed(row, indexAtBats, prefixPlayer+player, prefixAtBat+id)
	if was := b.get(atBatKey(game, id)); was != nil {
		b.refuse(!SameAtBat(row, was), fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another at-bat"))
		return atBatOf(was)
	}
	b.refuse(b.get(undoneKey(game, id)) != nil, fault.New(fault.Conflict, "undone", "This at-bat was taken back"))
	b.Fail(late)
	b.refuse(g.Status != InProgress, Invalid("Game must be IN_PROGRESS to record at-bats"))
	b.refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before at-bats can be recorded"))
	b.refuse(len(g.Lineup) > 0 && !slices.ContainsFunc(g.Lineup, func(s Slot) bool { return s.PlayerID == player }), Invalid("Player is not in the lineup"))
	b.refuse(len(g.Lineup) == 0 && b.get(playerKey(t.ID, player)) == nil, Invalid("Player %s is not on the team", player))
	b.refuse(len(b.AtBats(game)) >= MaxAtBats, Invalid("A game has at most %d at-bats", MaxAtBats))
	b.commit(b.create(row), b.onAt(gameKey(game), row["createdAt"]))
	return atBatOf(row)
}

// onAt is the check that a game is on, or was at a moment.
func (s *Service) onAt(game attr.Item, at attr.Value) store.WriteItem {
	return s.check(game, exists+" AND (#status = :live OR finalAt >= :at)", attr.Item{":live": attr.S(InProgress), ":at": at})
}

// SameAtBat reports whether an at-bat tells of the plate appearance that one with its id was made of. What became of that by a correction
// says nothing.
func SameAtBat(a, there attr.Item) bool {
	told := []string{"playerId", "result", "inning", "outs", "battingOrder", "hitLocation", "hitType", "rbis"}
	return a != nil && there != nil && (there["updatedAt"].Str() > there["createdAt"].Str() ||
		!slices.ContainsFunc(told, func(name string) bool { return !a[name].Equal(there[name]) }))
}

// ChangeAtBat corrects a plate appearance, also of a game that is over.
func (b *Book) ChangeAtBat(game, id string, in Input) AtBat {
	p := b.change(atBatFields(), in, "playerId", "battingOrder")
	b.allowGame(game, manageGames)
	b.commit(b.update(key(prefixGame+game, b.AtBat(game, id).sk), p, exists, nil))
	return b.AtBat(game, id)
}

// DeleteAtBat takes a plate appearance back. What is left says so: the phone that has scored it may tell another node of it, or have told one.
func (b *Book) DeleteAtBat(game, id string) {
	b.allowGame(game, manageGames)
	sk := b.AtBat(game, id).sk
	undone := b.Stamp(undoneKey(game, strings.TrimPrefix(sk, prefixAtBat)), nil)
	b.commit(table.Put(b.Table, undone, table.If{})) // by itself, at half the price: with it, whoever has the at-bat removes it
	b.commit(b.drop(key(prefixGame+game, sk)))
}
