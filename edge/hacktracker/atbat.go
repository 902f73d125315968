package hacktracker

import (
	"cmp"
	"crypto/rand"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/patch"
)

// atBats are those of a game, in order.
func (s *Service) atBats(tx *store.Tx, game string) (out []AtBat, err error) {
	out, err = collect(s, tx, "", prefixGame+game, prefixAtBat, atBatOf)
	Sort(out)
	return out, err
}

// AtBats lists those of a game to a member of its team.
func (s *Service) AtBats(tx *store.Tx, user, game string) ([]AtBat, error) {
	if _, err := s.Game(tx, user, game); err != nil {
		return nil, err
	}
	return s.atBats(tx, game)
}

// AtBat returns one to a member of the team.
func (s *Service) AtBat(tx *store.Tx, user, game, id string) (AtBat, error) {
	if _, err := s.Game(tx, user, game); err != nil {
		return AtBat{}, err
	}
	return s.atBat(tx, game, id)
}

// atBat finds one by its id, which in rows of the original is not in the key.
func (s *Service) atBat(tx *store.Tx, game, id string) (AtBat, error) {
	it, err := tx.Get(s.Table, atBatKey(game, id))
	if err != nil {
		return AtBat{}, err
	}
	if it != nil {
		return atBatOf(it), nil
	}
	all, err := s.atBats(tx, game)
	for i := range all {
		if all[i].ID == id {
			return all[i], nil
		}
	}
	return AtBat{}, cmp.Or(err, notFound("At-bat"))
}

// NewAtBat scores a plate appearance. once is its Idempotency-Key: a ULID, which becomes its id, so that one scored at two nodes is
// one; at is when it happened. It counts for as long as the game runs; if it was finished at another node meanwhile, for what
// happened before.
func (s *Service) NewAtBat(tx *store.Tx, user, game, once string, at time.Time, in Input) (AtBat, error) {
	p, err := patch.Read(atBatFields(), in, "playerId", "result", "inning", "outs", "battingOrder")
	if err != nil {
		return AtBat{}, err
	}
	id := strings.ToUpper(once)
	if id == "" {
		id = ulid.MustNew(ulid.Timestamp(at), rand.Reader).String()
	} else if _, err := ulid.ParseStrict(id); err != nil {
		return AtBat{}, Invalid("The Idempotency-Key of an at-bat must be a ULID")
	}
	g, t, err := s.allowGame(tx, user, game, manageAtBats)
	if err != nil {
		return AtBat{}, err
	}
	row := stampRow(tx, atBatKey(game, id), p)
	row["atBatId"], row["gameId"], row["teamId"], row["createdAt"] = attr.S(id), attr.S(game), attr.S(t.ID), attr.S(at.UTC().Format(patch.Stamp))
	player := p.Set["playerId"].Str()
	indexed(row, indexAtBats, prefixPlayer+player, prefixAtBat+id)
	if was, err := tx.Get(s.Table, atBatKey(game, id)); err != nil || was != nil {
		if err == nil && !SameAtBat(row, was) {
			err = fault.New(fault.Conflict, "idempotency_conflict", "This Idempotency-Key was used for another at-bat")
		}
		return atBatOf(was), err
	}
	switch {
	case g.Status != InProgress:
		return AtBat{}, Invalid("Game must be IN_PROGRESS to record at-bats")
	case t.Type != Personal && len(g.Lineup) == 0:
		return AtBat{}, Invalid("A lineup is required before at-bats can be recorded")
	case len(g.Lineup) > 0 && !g.bats(player):
		return AtBat{}, Invalid("Player is not in the lineup")
	}
	if all, err := s.atBats(tx, game); err != nil || len(all) >= MaxAtBats {
		return AtBat{}, cmp.Or(err, Invalid("A game has at most %d at-bats", MaxAtBats))
	}
	check := &store.ConditionCheck{
		Table: s.Table, Key: gameKey(game), Condition: "attribute_exists(PK) AND (#status = :live OR finalAt >= :at)", Params: liveParams(),
	}
	check.Values[":at"] = row["createdAt"]
	return atBatOf(row), s.transact(tx, s.create(row), store.WriteItem{Check: check})
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
	fields := atBatFields()
	delete(fields, "playerId")
	delete(fields, "battingOrder")
	p, err := patch.ReadSome(fields, in)
	if err != nil {
		return AtBat{}, err
	}
	if _, _, err := s.allowGame(tx, user, game, manageAtBats); err != nil {
		return AtBat{}, err
	}
	was, err := s.atBat(tx, game, id)
	if err != nil {
		return was, err
	}
	touch(tx, &p)
	if _, err := tx.Update(*p.Update(s.Table, key(prefixGame+game, was.sk), "attribute_exists(PK)", expr.Params{})); err != nil {
		return was, err
	}
	return s.atBat(tx, game, id)
}

// DeleteAtBat takes a plate appearance back.
func (s *Service) DeleteAtBat(tx *store.Tx, user, game, id string) error {
	if _, _, err := s.allowGame(tx, user, game, manageAtBats); err != nil {
		return err
	}
	was, err := s.atBat(tx, game, id)
	if err != nil {
		return err
	}
	_, err = tx.Delete(store.DeleteItem{Table: s.Table, Key: key(prefixGame+game, was.sk), Condition: "attribute_exists(PK)"})
	return err
}
