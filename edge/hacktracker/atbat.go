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
)

// atBats are those of a game, in order.
func (w *work) atBats(game string) []AtBat {
	out := collect(w, "", prefixGame+game, prefixAtBat, atBatOf)
	Sort(out)
	return out
}

// AtBats lists those of a game to a member of its team.
func (s *Service) AtBats(tx *store.Tx, user, game string) ([]AtBat, error) {
	w := s.on(tx)
	w.allowGame(user, game, anyMember)
	return w.atBats(game), w.end()
}

// AtBat returns one to a member of the team.
func (s *Service) AtBat(tx *store.Tx, user, game, id string) (AtBat, error) {
	w := s.on(tx)
	w.allowGame(user, game, anyMember)
	return w.atBat(game, id), w.end()
}

// atBat finds one by its id, which in rows of the original is not in the key.
func (w *work) atBat(game, id string) AtBat {
	if it := w.get(atBatKey(game, id)); it != nil {
		return atBatOf(it)
	}
	all := w.atBats(game)
	if i := slices.IndexFunc(all, func(a AtBat) bool { return a.ID == id }); i >= 0 {
		return all[i]
	}
	w.fail(notFound("At-bat"))
	return AtBat{}
}

// NewAtBat scores a plate appearance. once is its Idempotency-Key: a ULID, which becomes its id, so that one scored at two nodes is
// one; at is when it happened. It counts for as long as the game runs; if it was finished at another node meanwhile, for what
// happened before.
func (s *Service) NewAtBat(tx *store.Tx, user, game, once string, at time.Time, in Input) (AtBat, error) {
	w := s.on(tx)
	p := w.read(atBatFields(), in, "playerId", "result", "inning", "outs", "battingOrder")
	id := strings.ToUpper(once)
	if id == "" {
		id = ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
	}
	_, bad := ulid.ParseStrict(id)
	w.refuse(bad != nil, Invalid("The Idempotency-Key of an at-bat must be a ULID"))
	g, t := w.allowGame(user, game, manageAtBats)
	row := stampRow(tx, atBatKey(game, id), p)
	row["atBatId"], row["gameId"], row["teamId"], row["createdAt"] = attr.S(id), attr.S(game), attr.S(t.ID), attr.S(at.UTC().Format(patch.Stamp))
	player := p.Set["playerId"].Str()
	indexed(row, indexAtBats, prefixPlayer+player, prefixAtBat+id)
	if was := w.get(atBatKey(game, id)); was != nil {
		w.refuse(!SameAtBat(row, was), fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another at-bat"))
		return atBatOf(was), w.end()
	}
	w.refuse(g.Status != InProgress, Invalid("Game must be IN_PROGRESS to record at-bats"))
	w.refuse(t.Type != Personal && len(g.Lineup) == 0, Invalid("A lineup is required before at-bats can be recorded"))
	w.refuse(len(g.Lineup) > 0 && !g.bats(player), Invalid("Player is not in the lineup"))
	w.refuse(len(w.atBats(game)) >= MaxAtBats, Invalid("A game has at most %d at-bats", MaxAtBats))
	still := liveParams()
	still.Values[":at"] = row["createdAt"]
	w.commit(s.create(row), s.check(gameKey(game), exists+" AND (#status = :live OR finalAt >= :at)", still))
	return atBatOf(row), w.end()
}

// SameAtBat reports whether two images of an at-bat tell of one plate appearance.
func SameAtBat(a, b attr.Item) bool {
	if a == nil || b == nil {
		return false
	}
	for _, name := range []string{"playerId", "result", "inning", "outs", "battingOrder", "hitLocation", "hitType", "rbis"} {
		if !a[name].Equal(b[name]) {
			return false
		}
	}
	return true
}

// ChangeAtBat corrects a plate appearance, also of a game that is over.
func (s *Service) ChangeAtBat(tx *store.Tx, user, game, id string, in Input) (AtBat, error) {
	w := s.on(tx)
	p := w.change(atBatFields(), in, "playerId", "battingOrder")
	w.allowGame(user, game, manageAtBats)
	w.save(key(prefixGame+game, w.atBat(game, id).sk), p)
	return w.atBat(game, id), w.end()
}

// DeleteAtBat takes a plate appearance back.
func (s *Service) DeleteAtBat(tx *store.Tx, user, game, id string) error {
	w := s.on(tx)
	w.allowGame(user, game, manageAtBats)
	w.remove(key(prefixGame+game, w.atBat(game, id).sk))
	return w.end()
}
