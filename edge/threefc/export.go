package threefc

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/table"
)

// ConsumeRecords empties deleted partitions, and removes goals that were taken back before they arrived, including rows that arrive later.
func (s *Service) ConsumeRecords(tx *store.Tx, records []store.Record) error {
	var done []string
	for i := range records {
		pk, err := s.partitionDeleted(tx, &records[i])
		if err != nil {
			return err
		}
		if pk == "" || slices.Contains(done, pk) {
			continue
		}
		if err := s.emptyIfDeleted(tx, pk); err != nil {
			return err
		}
		if game, is := strings.CutPrefix(pk, pkGame); is {
			if err := s.takeBack(tx, game); err != nil {
				return err
			}
		}
		done = append(done, pk)
	}
	return nil
}

// partitionDeleted returns the partition that a record may show to be deleted, or ""; for a pointer to a game, that of the game: it may come from a
// node that did not know of the game's deletion.
func (s *Service) partitionDeleted(tx *store.Tx, r *store.Record) (pk string, err error) {
	pk, sk := r.Key["pk"].Str(), r.Key["sk"].Str()
	switch {
	case strings.HasPrefix(pk, pkSession) && strings.HasPrefix(sk, pkGame):
		return pkGame + gameOfEntry(sk), nil
	case strings.HasPrefix(pk, pkJoin) && r.New != nil:
		p := s.plan(tx)
		code := readable[joinCode](p, r.Key)
		if code == nil { // gone since, or it cannot be decoded
			return "", p.Err()
		}
		return pkGame + code.GameID, nil
	case sk == skDeleted, sk == skMeta && r.New == nil, strings.HasPrefix(pk, pkGame), strings.HasPrefix(pk, pkSeason) && strings.HasPrefix(sk, pkSession):
		return pk, nil
	}
	return "", nil
}

// emptyIfDeleted empties a partition if it is deleted. The tombstone alone decides, so the rows of a deletion may arrive from the
// cloud in any order.
func (s *Service) emptyIfDeleted(tx *store.Tx, pk string) error {
	p := s.plan(tx)
	meta, deleted := p.Get(key(pk, skMeta)), readable[tombstone](p, deletedKey(pk))
	if meta == nil && deleted != nil && p.Err() == nil {
		return s.empty(tx, pk, deleted)
	}
	return p.Err()
}

// ConsumeTable does the work of ConsumeRecords for the whole table.
func (s *Service) ConsumeTable(tx *store.Tx) error {
	rows := store.Scan{
		Table: s.Table, Filter: "sk = :deleted OR begins_with(sk, :gone)",
		Params: expr.Params{Values: attr.Item{":deleted": attr.S(skDeleted), ":gone": attr.S(skGone)}},
	}
	p := s.plan(tx)
	var all []attr.Item
	for it := range p.Rows(tx.ScanAll(rows)) {
		all = append(all, p.KeyOf(it))
	}
	for i := 0; i < len(all) && p.Err() == nil; i++ {
		if pk := all[i]["pk"].Str(); all[i]["sk"].Str() == skDeleted {
			p.Fail(s.emptyIfDeleted(tx, pk))
		} else {
			p.Fail(s.takeBack(tx, strings.TrimPrefix(pk, pkGame)))
		}
	}
	return p.Err()
}

// emptied is the number of rows of a deleted partition removed in one transaction.
const emptied = 48

// empty removes the remaining rows of a deleted partition and the pointers to it, a slice in each call: table.ErrMore says that there are
// others. The transaction checks that the partition's main row is absent, so that nothing is removed from a partition that was created again.
func (s *Service) empty(tx *store.Tx, pk string, of *tombstone) error {
	p := s.plan(tx)
	keys := p.remains(pk, of)
	if len(keys) > 0 && p.Err() == nil {
		p.Write(p.Check(key(pk, skMeta), table.IfTrue(absent, nil)))
		for _, k := range keys[:min(len(keys), emptied)] {
			p.Write(p.Drop(k))
		}
		p.Commit()
	}
	switch {
	case p.Err() != nil:
		return p.Err()
	case len(keys) > emptied:
		return table.ErrMore
	case of.SessionID != "":
		return s.emptySeasonOf(tx, of.SessionID)
	}
	return nil
}

// remains lists the rows of a deleted partition, and the pointers to it, that are left. What belongs together is adjacent, and the number of rows
// before it is even, so that one transaction removes it.
func (p *plan) remains(pk string, of *tombstone) (keys []attr.Item) {
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pk, ""))) {
		sk := it["sk"].Str()
		session, ofSession := strings.CutPrefix(sk, pkSession)
		switch {
		case sk == skDeleted, sk == skMeta:
		case !ofSession:
			keys = append(keys, p.KeyOf(it))
		case !p.isPlayed(session): // else it stays, with its games, until they are deleted too
			keys = slices.Insert(keys, 0, p.KeyOf(it), sessionMirror(session))
		}
	}
	if league, ok := strings.CutPrefix(pk, pkLeague); ok { // invites are in partitions of their own
		for in := range scan[Invite](p, pkInvite, skMeta) {
			if in.LeagueID == league {
				keys = append(keys, InviteKey(in.InviteCode))
			}
		}
	}
	if game, ok := strings.CutPrefix(pk, pkGame); ok && of.JoinCode != "" { // the cloud may have pointers that this node does not know of
		keys = append(keys, JoinKey(of.JoinCode), sessionGameKey(of.SessionID, of.GameStartTs, game))
	}
	return keys
}

// emptySeasonOf goes on with the emptying of a deleted season once a game of one of its sessions is gone.
func (s *Service) emptySeasonOf(tx *store.Tx, session string) error {
	p := s.plan(tx)
	se := readable[Session](p, sessionMirror(session))
	if se == nil {
		return p.Err()
	}
	deleted := readable[tombstone](p, deletedKey(pkSeason+se.SeasonID))
	if deleted == nil || p.Get(seasonMirror(se.SeasonID)) != nil || p.Err() != nil {
		return p.Err()
	}
	return s.empty(tx, pkSeason+se.SeasonID, deleted)
}
