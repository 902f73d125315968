package threefc

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Partition returns the partition key of a league, season, session, game or player.
func Partition(of Scope) attr.Item {
	prefix := map[string]string{"league": pkLeague, "season": pkSeason, "session": pkSession, "game": pkGame, "player": pkPlayer}[of.Kind]
	return attr.Item{"pk": attr.S(prefix + of.ID)}
}

// Open returns the partitions of live games, and those of their players and join codes that this node does not have yet.
func (s *Service) Open(tx *store.Tx, _ []string) ([]attr.Value, error) {
	return s.interest(tx, pkGame, true)
}

// Rest returns the partitions of the leagues on this node and of everything in them, except live games. It includes seasons, sessions,
// games and join codes of which this node has only the row that points to them.
func (s *Service) Rest(tx *store.Tx, _ []string) ([]attr.Value, error) {
	return s.interest(tx, "", false)
}

// interest returns the partitions whose keys have a prefix, and the missing partitions that their rows point to: those of live games
// if open is set, else all others. A game whose row cannot be decoded counts as not live.
func (s *Service) interest(tx *store.Tx, prefix string, open bool) (all []attr.Value, err error) {
	var g Game // game of the current rows: its METADATA row sorts before those of its players
	p := s.plan(tx)
	for it := range p.Rows(tx.ScanAll(store.Scan{Table: s.Table, Prefix: prefix})) {
		pk, sk := it["pk"].Str(), it["sk"].Str()
		if sk == skMeta && strings.HasPrefix(pk, pkGame) {
			g = p.decodedGame(it)
		}
		if played := pk == pkGame+g.GameID && g.Status == Live && g.FinishedAt == nil; played != open {
			continue
		}
		if sk == skMeta && slices.ContainsFunc([]string{pkLeague, pkSeason, pkSession, pkGame}, func(of string) bool { return strings.HasPrefix(pk, of) }) {
			all = append(all, it["pk"])
		}
		next := p.leadsTo(pk, it)
		wanted := next != "" && (open || !strings.HasPrefix(next, pkPlayer)) && (g.FinishedAt == nil || !strings.HasPrefix(next, pkJoin))
		if wanted && !p.hasMainRow(next) {
			all = append(all, attr.S(next))
		}
	}
	return all, p.Err()
}

// decodedGame decodes the row of a game; it is empty if that fails.
func (p *plan) decodedGame(it attr.Item) Game {
	g, err := decode[Game](it)
	if err != nil {
		p.Skip(it, err)
		return Game{}
	}
	return g
}

// leadsTo is leads for a row that may be unreadable, and then leads nowhere.
func (p *plan) leadsTo(of string, it attr.Item) (pk string) {
	pk, err := leads(of, it)
	if err != nil {
		p.Skip(it, err)
		return ""
	}
	return pk
}

// hasMainRow reports whether this node has the main row of a partition.
func (p *plan) hasMainRow(pk string) bool {
	sk := skMeta
	if strings.HasPrefix(pk, pkPlayer) {
		sk = skProfile
	}
	return p.Get(key(pk, sk)) != nil
}

// ParentsOf returns the known parent partitions of a record on this node: a game's season and league, a session's season and league.
func (s *Service) ParentsOf(tx *store.Tx, of Scope) (all []attr.Item, err error) {
	season, league, err := s.parentIDs(tx, of)
	if season != "" && of.Kind != "season" {
		all = append(all, Partition(Scope{"season", season}))
	}
	if league != "" {
		all = append(all, Partition(Scope{"league", league}))
	}
	return all, err
}

// once is the data of an Idempotency-Key's row.
type once struct {
	Scope       string `json:"scope"`
	Key         string `json:"key"`
	RequestHash string `json:"requestHash"`
}

// OnceMore returns the attributes that give an Idempotency-Key's row this table's envelope. It sets no stamps, because the row must be
// the same at every node.
func OnceMore(scope, key, hash string) (attr.Item, error) {
	data, err := compact(once{scope, key, hash})
	return attr.Item{"entityType": attr.S(entityOf(OnceKey(scope, key))), "data": attr.S(data)}, err
}
