package threefc

import (
	"cmp"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Partition is the key of all rows of something: a league, season, session, game or player.
func Partition(of Scope) attr.Item {
	prefix := map[string]string{"league": pkLeague, "season": pkSeason, "session": pkSession, "game": pkGame, "player": pkPlayer}[of.Kind]
	return attr.Item{"pk": attr.S(prefix + of.ID)}
}

// Open are the partitions of games that are played, and of their players and codes to join that are not here yet.
func (s *Service) Open(tx *store.Tx, _ []string) ([]attr.Value, error) {
	all, err := s.games(tx, func(g *Game) bool { return g.Status == Live && g.FinishedAt == nil })
	p := s.plan(tx)
	p.fail(err)
	for _, pk := range all { // of the games alone
		here, err := list[gamePlayer](tx, s, pk.Str(), pkPlayer, entGamePlayer)
		p.fail(err)
		for i := range here {
			if optional[Player](p, playerKey(here[i].PlayerID), entPlayer) == nil {
				all = append(all, attr.S(pkPlayer+here[i].PlayerID))
			}
		}
	}
	return all, p.err
}

// Rest are the partitions of the leagues that are here, of all that belongs to them, and of the games that Open leaves out; also where
// nothing of a season, session or game is here but its place in what it belongs to.
func (s *Service) Rest(tx *store.Tx, _ []string) ([]attr.Value, error) {
	all, err := s.games(tx, func(g *Game) bool { return g.Status != Live || g.FinishedAt != nil })
	if err != nil {
		return nil, err
	}
	rows := store.Scan{
		Table: s.Table, Filter: "sk = :meta AND (begins_with(pk, :league) OR begins_with(pk, :season) OR begins_with(pk, :session)) OR " +
			"begins_with(pk, :league) AND begins_with(sk, :season) OR begins_with(pk, :season) AND begins_with(sk, :session) OR " +
			"begins_with(pk, :session) AND begins_with(sk, :game)",
		Params: expr.Params{Values: attr.Item{":meta": attr.S(skMeta), ":league": attr.S(pkLeague), ":season": attr.S(pkSeason), ":session": attr.S(pkSession), ":game": attr.S(pkGame)}},
	}
	for it, err := range tx.ScanAll(rows) {
		if err != nil {
			return nil, err
		}
		pk := it["pk"]
		switch sk := it["sk"]; {
		case sk.Str() == skMeta:
		case it["entityType"].Str() == entSessionGame:
			at, err := decode[sessionGame](it)
			if err != nil {
				return nil, err
			}
			pk = attr.S(pkGame + at.GameID)
		default:
			pk = sk
		}
		if here, err := tx.Get(s.Table, attr.Item{"pk": pk, "sk": attr.S(skMeta)}); err != nil {
			return nil, err
		} else if here == nil || it["sk"].Str() == skMeta {
			all = append(all, pk)
		}
	}
	return all, nil
}

// games are the partitions of some games, and of the codes to join of those that go on, as far as those are not here yet.
func (s *Service) games(tx *store.Tx, which func(g *Game) bool) (all []attr.Value, err error) {
	games, err := scan[Game](tx, s, pkGame, skMeta)
	p := s.plan(tx)
	for i := range games {
		g := &games[i]
		if !which(g) {
			continue
		}
		all = append(all, attr.S(pkGame+g.GameID))
		if g.FinishedAt == nil && g.JoinCode != "" && optional[joinCode](p, JoinKey(g.JoinCode), entJoin) == nil {
			all = append(all, attr.S(pkJoin+g.JoinCode))
		}
	}
	return all, cmp.Or(err, p.err)
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
