package threefc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/expr"
)

// DerivedRule returns the rule of the rows that are counted for other readers of the table: a game's tallies, its state and its result. Its
// goals, their audit and the times of its thirds are the facts.
func (s *Service) DerivedRule() *derived.Rule {
	s.once.Do(func() {
		s.rule = &derived.Rule{Name: "tallies and results", Rows: s.Handle, Units: s.gamesOf, Sources: s.gameSources, Read: s.readDerived}
	})
	return s.rule
}

// gamesOf returns the games that records concern; for nil, all.
func (s *Service) gamesOf(tx *store.Tx, records []store.Record) (games []string, err error) {
	for i := range records {
		if game, ok := strings.CutPrefix(records[i].Key["pk"].Str(), pkGame); ok && !slices.Contains(games, game) {
			games = append(games, game)
		}
	}
	if records != nil {
		return games, nil
	}
	p := s.plan(tx)
	all := store.Scan{
		Table: s.Table, Prefix: pkGame, Filter: "sk = :meta", Params: expr.Params{Values: attr.Item{":meta": attr.S(skMeta)}},
	}
	for it := range p.Rows(tx.ScanAll(all)) {
		games = append(games, strings.TrimPrefix(it["pk"].Str(), pkGame))
	}
	return games, p.Err()
}

// gameSources returns what a game's rows are counted from: its own partition, and the names of its teams in that of the season.
func (s *Service) gameSources(tx *store.Tx, game string) ([]derived.Source, error) {
	p := s.plan(tx)
	g := readable[Game](p, gameKey(game))
	if g == nil {
		return nil, p.Err()
	}
	return []derived.Source{
		{Table: s.Table, Partition: attr.S(pkGame + game), What: "the goals of games"},
		{Table: s.Table, Partition: attr.S(pkSeason + g.SeasonID), What: "the teams of seasons"},
	}, nil
}

// Export writes a game's derived rows in a transaction.
func (s *Service) Export(tx *store.Tx, game string) error { return s.DerivedRule().SettleIn(tx, game) }

// readDerived compares a game's derived rows with its facts. They depend only on the facts, so two nodes with the same facts write the same
// rows. If any of the facts cannot be decoded, the rows stay as they are.
func (s *Service) readDerived(tx *store.Tx, game string) (u derived.Unit, err error) {
	p, unreadable := s.plan(tx), tx.Unreadable()
	g := readable[Game](p, gameKey(game))
	if g == nil {
		return u, p.Err()
	}
	b, audits := must(p, s.Board, game), list[Audit](p, pkGame+game, skAudit)
	if n := tx.Unreadable() - unreadable; n > 0 {
		u.Unread = []string{fmt.Sprintf("Counting waits for rows of the game %s that cannot be read: %d.", game, n)}
	}
	if p.Err() != nil || len(u.Unread) > 0 || !b.isStarted() && len(audits) == 0 && len(b.Goals) == 0 {
		return u, p.Err() // nothing has happened yet
	}
	at := newest(g.CreatedAt, b.Goals)
	for i := range audits {
		at = max(at, audits[i].CreatedAt)
	}
	for _, t := range b.Teams {
		t.UpdatedAt = max(t.UpdatedAt, at)
		row(p, &u, gameTeamKey(game, t.TeamID), t)
	}
	state := goalState{GameID: game, Revision: len(audits), Stamps: Stamps{CreatedAt: b.CreatedAt, UpdatedAt: at}}
	if n := len(b.Goals); n > 0 {
		state.LatestEventID, state.LatestGoalSK = &b.Goals[n-1].EventID, &b.Goals[n-1].sk
	}
	if len(audits) > 0 || len(b.Goals) > 0 {
		row(p, &u, stateKey(game), state)
	}
	if b.Result != nil {
		now := *g
		now.Result, now.UpdatedAt = b.Result, max(g.UpdatedAt, at)
		now.Result.ComputedAt = max(*g.FinishedAt, at)
		row(p, &u, gameKey(game), now)
	}
	return u, p.Err()
}

// counted is a record with values that are counted.
type counted interface{ countedPart() attr.Item }

func (t GameTeam) countedPart() attr.Item {
	return attr.Item{"scored": attr.Int(int64(t.Scored)), "conceded": attr.Int(int64(t.Conceded))}
}

func (s goalState) countedPart() attr.Item {
	text := func(v *string) attr.Value {
		if v == nil {
			return attr.Null()
		}
		return attr.S(*v)
	}
	return attr.Item{"revision": attr.Int(int64(s.Revision)), "latestEventId": text(s.LatestEventID), "latestGoalSk": text(s.LatestGoalSK)}
}

// countedPart leaves out the time of computation.
func (g Game) countedPart() attr.Item {
	if g.Result == nil {
		return attr.Item{"result": attr.Null()}
	}
	r := *g.Result
	r.ComputedAt = ""
	text, _ := compact(r) // a result can always be encoded
	return attr.Item{"result": attr.S(text)}
}

// sign returns the signature of a record that this program counts as it writes it.
func sign(k attr.Item, v counted) string { return derived.Signature(k, v.countedPart()).Str() }

// row adds the comparison of a record with what it should be. It leaves out a row that it cannot decode, or that another program has put
// there.
func row[T interface {
	counted
}, P stamped[T]](p *plan, u *derived.Unit, k attr.Item, now T) {
	was, there := readable[T, P](p, k), p.Get(k)
	if was == nil && there != nil {
		return
	}
	out := derived.Row{Key: k, Was: there, After: now.countedPart()}
	if was != nil {
		out.Before = (*was).countedPart()
		old := P(was).stamps()
		P(&now).stamps().raw = old.raw
	}
	it, err := encode[T, P](k, now)
	p.Fail(err)
	out.Set = attr.Item{"data": it["data"], "updatedAt": it["updatedAt"]}
	if there == nil {
		out.Set["entityType"], out.Set["createdAt"] = it["entityType"], it["createdAt"]
	}
	u.Rows = append(u.Rows, out)
}
