package threefc

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Partition is the key of all rows of something: a league, season, session, game or player.
func Partition(of Scope) attr.Item {
	prefix := map[string]string{"league": pkLeague, "season": pkSeason, "session": pkSession, "game": pkGame, "player": pkPlayer}[of.Kind]
	return attr.Item{"pk": attr.S(prefix + of.ID)}
}

// Open are the partitions of games that are played, and of their players and codes to join that are not here yet.
func (s *Service) Open(tx *store.Tx, _ []string) ([]attr.Value, error) {
	return s.interest(tx, pkGame, true)
}

// Rest are the partitions of the leagues that are here, of all that belongs to them, and of the games that Open leaves out; also where
// nothing of a season, session, game or code is here but what leads to it.
func (s *Service) Rest(tx *store.Tx, _ []string) ([]attr.Value, error) {
	return s.interest(tx, "", false)
}

// interest are the partitions of rows with keys of a prefix, and those which they lead to and of which nothing is here: of open games, or
// of all else.
func (s *Service) interest(tx *store.Tx, prefix string, open bool) (all []attr.Value, err error) {
	var g Game // that the rows are of: its own comes before those of its players
	p := s.plan(tx)
	for it, err := range tx.ScanAll(store.Scan{Table: s.Table, Prefix: prefix}) {
		p.fail(err)
		pk, sk := it["pk"].Str(), it["sk"].Str()
		if sk == skMeta && strings.HasPrefix(pk, pkGame) {
			g, err = decode[Game](it)
			p.fail(err)
		}
		if played := pk == pkGame+g.GameID && g.Status == Live && g.FinishedAt == nil; played != open {
			continue
		}
		if sk == skMeta && slices.ContainsFunc([]string{pkLeague, pkSeason, pkSession, pkGame}, func(of string) bool { return strings.HasPrefix(pk, of) }) {
			all = append(all, it["pk"])
		}
		next, err := leads(pk, it)
		p.fail(err)
		wanted := next != "" && (open || !strings.HasPrefix(next, pkPlayer)) && (g.FinishedAt == nil || !strings.HasPrefix(next, pkJoin))
		if wanted && !p.here(next) {
			all = append(all, attr.S(next))
		}
	}
	return all, p.err
}

// here reports whether what a partition is of is here.
func (p *plan) here(pk string) bool {
	sk := skMeta
	if strings.HasPrefix(pk, pkPlayer) {
		sk = skProfile
	}
	it, err := p.tx.Get(p.s.Table, key(pk, sk))
	p.fail(err)
	return it != nil
}

// Above are the partitions that something which is here lies in, as far as they are known: a game's league and season, a session's
// season and its league.
func (s *Service) Above(tx *store.Tx, of Scope) (all []attr.Item, err error) {
	season, league, err := s.above(tx, of)
	if season != "" && of.Kind != "season" {
		all = append(all, Partition(Scope{"season", season}))
	}
	if league != "" {
		all = append(all, Partition(Scope{"league", league}))
	}
	return all, err
}

// once is what the row of an Idempotency-Key says besides.
type once struct {
	Scope       string `json:"scope"`
	Key         string `json:"key"`
	RequestHash string `json:"requestHash"`
}

// OnceMore are the members that make the row of an Idempotency-Key one of this table. It has no stamps: it is the same at each node.
func OnceMore(scope, key, hash string) (attr.Item, error) {
	data, err := compact(once{scope, key, hash})
	return attr.Item{"entityType": attr.S(EntityOnce), "data": attr.S(data)}, err
}
