package hacktracker

import (
	"cmp"
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

// AtBats lists the at-bats of a game in order, for a member of its team.
func (b *Book) AtBats(game string) []AtBat {
	b.Game(game)
	out := collect(b, "", prefixGame+game, prefixAtBat, atBatOf)
	Sort(out)
	return out
}

// AtBat returns an at-bat by its id or, in rows of the original, by what its key has instead, for a member of the team.
func (b *Book) AtBat(game, id string) AtBat {
	all := b.AtBats(game)
	if i := slices.IndexFunc(all, func(a AtBat) bool { return a.ID == id || a.sk == prefixAtBat+id }); i >= 0 {
		return all[i]
	}
	b.LookFor(atBatKey(game, id)) // the row that is missing: it may be in the cloud
	b.Fail(notFound("At-bat"))
	return AtBat{}
}

// newULID parses a request's Idempotency-Key as a ULID, or generates one for at if the request has none.
func (b *Book) newULID(once, what string, at time.Time) string {
	if once == "" {
		return ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
	}
	id := strings.ToUpper(once)
	_, bad := ulid.ParseStrict(id)
	b.Refuse(bad != nil, Invalid("The Idempotency-Key of %s must be a ULID", what))
	return id
}

// NewAtBat scores a plate appearance. once is its Idempotency-Key, a ULID that becomes its id, so that the same one sent to two nodes
// counts once. at is when it happened; late is the error if that is too long ago, ignored for an at-bat that exists. It counts while the
// game is in progress; if another node finished the game meanwhile, it counts if it happened before that.
func (b *Book) NewAtBat(game, once string, at time.Time, late error, in Input) AtBat {
	p := b.read(atBatFields(), in, "playerId", "result", "inning", "outs", "battingOrder")
	id := b.newULID(once, "an at-bat", at)
	g, t := b.allowGame(game, manageGames)
	row := b.Stamp(atBatKey(game, id), p.Set)
	row["atBatId"], row["gameId"], row["teamId"], row["createdAt"] = attr.S(id), attr.S(game), attr.S(t.ID), attr.S(at.UTC().Format(patch.Stamp))
	row["updatedAt"] = row["createdAt"]
	if b.madeBy != "" {
		row["madeBy"], row["handedInBy"] = attr.S(b.madeBy), attr.S(b.user)
	}
	player := p.Set["playerId"].Str()
	addIndexKey(row, indexAtBats, prefixPlayer+player, prefixAtBat+id)
	if was := b.Get(atBatKey(game, id)); was != nil {
		b.Refuse(!SameAtBat(row, was), fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another at-bat"))
		return atBatOf(was)
	}
	b.Refuse(b.Get(undoneKey(game, id)) != nil, fault.New(fault.Conflict, "undone", "This at-bat has been undone"))
	b.Fail(late)
	b.Refuse(g.Status != InProgress, Invalid("Game must be IN_PROGRESS to record at-bats"))
	b.Refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before at-bats can be recorded"))
	b.Refuse(len(g.Lineup) > 0 && !slices.ContainsFunc(g.Lineup, func(s Slot) bool { return s.PlayerID == player }), Invalid("Player is not in the lineup"))
	b.Refuse(len(g.Lineup) == 0 && b.Get(playerKey(t.ID, player)) == nil, notOnTeam(player))
	b.Refuse(len(b.AtBats(game)) >= MaxAtBats, Invalid("A game has at most %d at-bats", MaxAtBats))
	b.Commit(b.Create(row), b.onAt(gameKey(game), row["createdAt"]))
	return atBatOf(row)
}

// onAt checks that a game is in progress, or was at a moment.
func (s *Service) onAt(game attr.Item, at attr.Value) store.WriteItem {
	return s.Check(game, table.IfTrue(exists+" AND (#status = :live OR finalAt >= :at)", attr.Item{":live": attr.S(InProgress), ":at": at}))
}

// SameAtBat reports whether an at-bat is the same plate appearance as the stored one with its id. Once the stored one was corrected, its
// data no longer tells, and it counts as the same.
func SameAtBat(a, there attr.Item) bool {
	told := []string{"playerId", "result", "inning", "outs", "battingOrder", "hitLocation", "hitType", "rbis"}
	return a != nil && there != nil && (there["updatedAt"].Str() > there["createdAt"].Str() ||
		!slices.ContainsFunc(told, func(name string) bool { return !a[name].Equal(there[name]) }))
}

// ChangeAtBat corrects a plate appearance, even after the game.
func (b *Book) ChangeAtBat(game, id string, in Input) AtBat {
	p := b.change(atBatFields(), in, "playerId", "battingOrder")
	b.allowGame(game, manageGames)
	b.Commit(b.update(key(prefixGame+game, b.AtBat(game, id).sk), p, exists, nil))
	return b.AtBat(game, id)
}

// DeleteAtBat takes a plate appearance back. It leaves a marker, because the phone may send the same at-bat to another node, or have done so.
func (b *Book) DeleteAtBat(game, id string) {
	b.allowGame(game, manageGames)
	was := b.AtBat(game, id)
	sk := was.sk
	undone := b.Stamp(undoneKey(game, strings.TrimPrefix(sk, prefixAtBat)), attr.Item{
		"playerId": attr.S(was.PlayerID), "result": attr.S(was.Result), "inning": attr.Int(int64(was.Inning)), "correctedAt": attr.S(was.UpdatedAt),
	})
	b.Commit(b.Put(undone, table.If{})) // alone, at half the price: any node that has the at-bat removes it because of this row
	b.Commit(b.Drop(key(prefixGame+game, sk)))
}

// asCorrected has the marker of an at-bat that was taken back show the at-bat, unless it already shows a later correction of it.
func (s *Service) asCorrected(last AtBat) store.WriteItem {
	said := attr.Item{":at": attr.S(last.UpdatedAt), ":player": attr.S(last.PlayerID), ":result": attr.S(last.Result), ":inning": attr.Int(int64(last.Inning))}
	update := "SET createdAt = if_not_exists(createdAt, :at), updatedAt = :at, correctedAt = :at, playerId = :player, #result = :result, inning = :inning"
	return s.Update(undoneKey(last.GameID, strings.TrimPrefix(last.sk, prefixAtBat)), update, table.IfTrue("attribute_not_exists(correctedAt) OR correctedAt < :at", said))
}

// shownUndone is how many plays that were taken back a page lists.
const shownUndone = 5

// UndonePlays lists the plays of a game that were taken back last, for a member of the team: somebody may have corrected one at another node meanwhile.
func (b *Book) UndonePlays(game string) []AtBat {
	b.Game(game)
	out := slices.DeleteFunc(collect(b, "", prefixGame+game, prefixUndone, atBatOf), func(a AtBat) bool { return a.Result == "" })
	slices.SortStableFunc(out, func(a, b AtBat) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	return out[max(0, len(out)-shownUndone):]
}
