package threefc

import (
	"reflect"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

// Take keeps derived data up to date. For each game in the records it writes tallies, state and result where they differ; it empties
// deleted partitions, including rows that arrive later.
func (s *Service) Take(tx *store.Tx, records []store.Record) error {
	var done []string
	for i := range records {
		r := &records[i]
		pk, sk := r.Key["pk"].Str(), r.Key["sk"].Str()
		switch { // pointers to a game, which may come from a node that did not know of the game's deletion
		case strings.HasPrefix(pk, pkSession) && strings.HasPrefix(sk, pkGame):
			pk = pkGame + sk[strings.LastIndex(sk, "#")+1:]
		case strings.HasPrefix(pk, pkJoin) && r.New != nil:
			code, _ := decode[joinCode](r.New) // an unreadable row points nowhere
			pk = pkGame + code.GameID
		}
		concerned := sk == skDeleted || sk == skMeta && r.New == nil || strings.HasPrefix(pk, pkGame)
		if !concerned || slices.Contains(done, pk) {
			continue
		}
		if err := s.settle(tx, pk); err != nil {
			return err
		}
		done = append(done, pk)
	}
	return nil
}

// settle exports a game or empties a deleted partition. The tombstone alone decides, so the rows of a deletion may arrive from the
// cloud in any order.
func (s *Service) settle(tx *store.Tx, pk string) error {
	p := s.plan(tx)
	meta, deleted := p.Get(key(pk, skMeta)), optional[tombstone](p, deletedKey(pk))
	switch game, ok := strings.CutPrefix(pk, pkGame); {
	case ok && meta != nil:
		return s.Export(tx, game)
	case meta == nil && deleted != nil && p.Err() == nil:
		return s.empty(tx, pk, deleted)
	}
	return p.Err()
}

// Anew does the work of Take for the whole table.
func (s *Service) Anew(tx *store.Tx) error {
	rows := store.Scan{
		Table: s.Table, Filter: "sk = :deleted OR sk = :meta AND begins_with(pk, :game)",
		Params: expr.Params{Values: attr.Item{":meta": attr.S(skMeta), ":deleted": attr.S(skDeleted), ":game": attr.S(pkGame)}},
	}
	p := s.plan(tx)
	var all []string
	for it := range p.Rows(tx.ScanAll(rows)) {
		all = append(all, it["pk"].Str())
	}
	for i := 0; i < len(all) && p.Err() == nil; i++ {
		p.Fail(s.settle(tx, all[i]))
	}
	return p.Err()
}

// Export writes a game's derived rows for other readers of the table, where they differ. They depend only on the facts, so two nodes
// with the same facts write the same rows.
func (s *Service) Export(tx *store.Tx, game string) error {
	p := s.plan(tx)
	g := optional[Game](p, gameKey(game))
	if g == nil {
		return p.Err()
	}
	b, audits := must(p, s.Board, game), list[Audit](p, pkGame+game, skAudit)
	if p.Err() != nil || !b.started() && len(audits) == 0 && len(b.Goals) == 0 {
		return p.Err() // nothing has happened yet
	}
	at := newest(g.CreatedAt, b.Goals)
	for i := range audits {
		at = max(at, audits[i].CreatedAt)
	}
	for _, t := range b.Teams {
		t.UpdatedAt = max(t.UpdatedAt, at)
		derive(p, gameTeamKey(game, t.TeamID), t)
	}
	state := goalState{GameID: game, Revision: len(audits), Stamps: Stamps{CreatedAt: b.CreatedAt, UpdatedAt: at}}
	if n := len(b.Goals); n > 0 {
		state.LatestEventID, state.LatestGoalSK = &b.Goals[n-1].EventID, &b.Goals[n-1].sk
	}
	if len(audits) > 0 || len(b.Goals) > 0 {
		derive(p, stateKey(game), state)
	}
	if b.Result != nil && (g.Result == nil || !sameResult(g.Result, b.Result)) {
		g.Result, g.UpdatedAt = b.Result, max(g.UpdatedAt, at)
		g.Result.ComputedAt = max(*g.FinishedAt, at)
		derive(p, gameKey(game), *g)
	}
	return p.Err()
}

// derive replaces a derived record in a write of its own, unless its data is unchanged.
func derive[T any, P stamped[T]](p *plan, k attr.Item, now T) {
	was := optional[T, P](p, k)
	p.Writes = nil
	if replace[T, P](p, k, was, now); p.Err() != nil || was != nil && P(was).stamps().raw == p.Writes[0].Put.Item["data"].Str() {
		return
	}
	_, err := p.Tx.Put(*p.Writes[0].Put)
	p.Fail(err)
}

// sameResult reports whether two results are equal, apart from the time of computation.
func sameResult(a, b *Result) bool {
	x := *a
	x.ComputedAt = b.ComputedAt
	return reflect.DeepEqual(&x, b)
}

// emptied is the number of rows of a deleted partition removed in one transaction.
const emptied = 48

// empty removes the remaining rows of a deleted partition and the pointers to it. Each transaction checks that the partition's main row
// is absent, so that nothing is removed from a partition that was created again.
func (s *Service) empty(tx *store.Tx, pk string, of *tombstone) error {
	p := s.plan(tx)
	keys := slices.DeleteFunc(table.Read(&p.Plan, tx.QueryAll(s.Under(pk, "")), s.KeyOf), func(k attr.Item) bool {
		return k["sk"].Str() == skDeleted || k["sk"].Str() == skMeta
	})
	if league, ok := strings.CutPrefix(pk, pkLeague); ok { // invites are in partitions of their own
		all := scan[Invite](p, pkInvite, skMeta)
		for i := range all {
			if all[i].LeagueID == league {
				keys = append(keys, InviteKey(all[i].InviteCode))
			}
		}
	}
	if game, ok := strings.CutPrefix(pk, pkGame); ok && of.JoinCode != "" {
		keys = append(keys, JoinKey(of.JoinCode), sessionGameKey(of.SessionID, of.GameStartTs, game))
	}
	for some := range slices.Chunk(keys, emptied) {
		p.Write(p.Check(key(pk, skMeta), table.When(absent, nil)))
		for _, k := range some {
			p.Write(p.Drop(k))
		}
		p.Commit()
	}
	p.endSession(of, 0)
	p.Commit()
	return p.Err()
}
