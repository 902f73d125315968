package matches

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Register makes a match one that is about to start, in state idle. It creates its row, or takes up one that is idle or waits for
// another time: postponed, cancelled, or ended without a decision. Any other row is left unchanged, and registered is false.
func (s *Service) Register(ctx context.Context, matchID string, by Owner) (st cricket.State, registered bool, err error) {
	err = s.store.Update(ctx, func(tx *store.Tx) error {
		var row attr.Item
		if st, row, err = stateRow(tx, matchID); err != nil {
			return err
		}
		if registered = mayRegister(tx, &st, row); !registered {
			return nil
		}
		st.MatchID, st.InstanceID = matchID, by.Node
		if row != nil && st.Status != cricket.ActiveIdle {
			fx, err := Fixtures{}.Get(tx, matchID)
			if err != nil {
				return err
			}
			st.TakeUp(fx.StartTime, tx.Now())
		}
		item, err := attr.Marshal(&st)
		if err != nil {
			return err
		}
		keepUnknown(row, item)
		return putState(tx, item, by)
	})
	return st, registered && err == nil, err
}

// mayRegister reports whether a match may be registered. Without a row it sets st to that of a new match.
func mayRegister(tx *store.Tx, st *cricket.State, row attr.Item) bool {
	if row == nil {
		st.Status, st.LastTickAt, st.MatchPhase = cricket.ActiveIdle, tx.Now(), cricket.PhasePrematch
		return true
	}
	return st.Status == cricket.ActiveIdle || st.Status == cricket.ActivePostponed || st.IsUndecided()
}

// followsAtOnce is how many follows are deleted per transaction: ten DynamoDB batches.
const followsAtOnce = 10 * tables.BatchWriteMax

// CleanUp ends what a match leaves behind when it is over for good: its row in active-matches is ended if no tick has done
// so, its fixture is archived, and its follows are deleted, unless it has ended without a decision: then it may be played after all, and
// its follows expire by themselves. A match that ends without a word from the feed ends
// as one of which there is no more news. Live Activities are ended by the push coordinator. Repeating it changes nothing, so after a crash in the
// middle the next start completes it. If a later holder has written, the error is a *FencedOffError.
func (s *Service) CleanUp(ctx context.Context, matchID string, by Owner) error {
	if err := s.store.Update(ctx, func(tx *store.Tx) error { return endMatch(tx, matchID, by) }); err != nil {
		return err
	}
	st, _, err := s.State(ctx, matchID)
	for more := !st.IsUndecided(); more && err == nil; {
		err = s.store.Update(ctx, func(tx *store.Tx) (err error) {
			more, err = deleteFollows(tx, matchID)
			return err
		})
	}
	return err
}

func endMatch(tx *store.Tx, matchID string, by Owner) error {
	item, err := tx.Get(tables.ActiveMatches, tables.MatchKey(matchID))
	if err != nil {
		return err
	}
	fixture, err := tx.Get(tables.Fixtures, tables.MatchKey(matchID))
	if err != nil {
		return err
	}
	ended := item["status"].Str() == cricket.ActiveEnded
	if fence, _ := item[fenceName].Int(); !ended && fence > by.Fence {
		return &FencedOffError{matchID, fence}
	}
	if !ended && item["finishedAt"].IsZero() {
		if err := giveUp(tx, matchID, fixture); err != nil {
			return err
		}
	}
	if item != nil && !ended {
		item = maps.Clone(item)
		item["status"], item["ttl"] = attr.S(cricket.ActiveEnded), attr.Int(tx.Now().Add(cricket.KeepEnded).Unix())
		if !item[shownName].IsZero() {
			if err := attachShown(tx, matchID, item); err != nil {
				return err
			}
		}
		if err := putState(tx, item, by); err != nil {
			return err
		}
	}
	if fixture == nil || !fixture["archivedAt"].IsZero() && fixture["liveUpdatedAt"].IsZero() {
		return nil
	}
	return Fixtures{}.Archive(tx, matchID)
}

// statusNoNews is our status of a match that ends without a word from the feed.
const statusNoNews = "No more news"

// giveUp marks a match that is not over as one of which there is no more news, in its fixture and its display. What happened to it
// nobody has said.
func giveUp(tx *store.Tx, matchID string, fixture attr.Item) error {
	if fx := (Fixture{Phase: cricket.Phase(fixture["phase"].Str())}); fixture != nil && !fx.IsOver() {
		err := Fixtures{}.Patch(tx, matchID, attr.Item{
			"phase": attr.S(string(cricket.PhaseNoNews)), "status": attr.S(statusNoNews),
		})
		if err != nil {
			return err
		}
	}
	return patchDisplay(tx, matchID, func(d *cricket.Display) {
		d.Phase, d.Status, d.NoNews = cricket.PhaseNoNews, statusNoNews, true
	})
}

// patchDisplay changes the display of a match that is not over, of which there is no news. What has to be done to win is not known then.
func patchDisplay(tx *store.Tx, matchID string, change func(d *cricket.Display)) error {
	var d cricket.Display
	found, err := readCached(tx, tables.DisplayKey(matchID), &d)
	if fx := (Fixture{Phase: d.Phase}); err != nil || !found || fx.IsOver() {
		return err
	}
	change(&d)
	d.UpdatedAt = tx.Now()
	d.Equation, d.Required, d.RequiredRate = "", 0, ""
	return writeCached(tx, tables.DisplayKey(matchID), &d, tx.Now().Add(outlives).Unix())
}

// ShowNoNews says in a match's display since when the feed does not have the match. The next tick says otherwise. If a later holder has
// written, the error is a *FencedOffError.
func ShowNoNews(tx *store.Tx, matchID string, since time.Time, by Owner) error {
	row, err := tx.Get(tables.ActiveMatches, tables.MatchKey(matchID))
	if err != nil || row == nil {
		return err
	}
	if fence, _ := row[fenceName].Int(); fence > by.Fence {
		return &FencedOffError{matchID, fence}
	}
	err = patchDisplay(tx, matchID, func(d *cricket.Display) {
		d.NoNews, d.Note = true, "No news since "+since.UTC().Format("15:04")+" UTC"
	})
	if err != nil || row[shownName].IsZero() {
		return err
	}
	row = maps.Clone(row)
	if err := attachShown(tx, matchID, row); err != nil {
		return err
	}
	return putState(tx, row, by)
}

// deleteFollows deletes some of a match's follows, in batches; more reports that some are left.
func deleteFollows(tx *store.Tx, matchID string) (more bool, err error) {
	q := tables.OfMatch(tables.Follows, matchID)
	q.Projection, q.Limit = "matchId, userId", followsAtOnce
	page, err := tx.Query(q)
	if err != nil {
		return false, err
	}
	var deletes []store.WriteRequest
	for _, item := range page.Items {
		deletes = append(deletes, store.WriteRequest{Delete: item})
	}
	for some := range slices.Chunk(deletes, tables.BatchWriteMax) {
		if err := tx.BatchWrite(store.BatchWrite{tables.Follows: some}); err != nil {
			return false, err
		}
	}
	return page.LastKey != nil, nil
}

// activeRows returns a scan of active-matches by a condition on the status, in which #s and :ended may be used.
func activeRows(condition, projection string) store.Scan {
	return store.Scan{
		Table: tables.ActiveMatches, Filter: condition, Projection: projection,
		Params: expr.Params{Names: map[string]string{"#s": "status"}, Values: attr.Item{":ended": attr.S(cricket.ActiveEnded)}},
	}
}

// matchIDs returns the match ids of rows.
func matchIDs(rows iter.Seq2[attr.Item, error]) (ids []string, err error) {
	for item, err := range rows {
		if err != nil {
			return nil, err
		}
		ids = append(ids, item["matchId"].Str())
	}
	return ids, nil
}

// RegisteredIDs lists the matches with a row in active-matches.
func RegisteredIDs(tx *store.Tx) (ids []string, err error) {
	return matchIDs(tx.ScanAll(store.Scan{Table: tables.ActiveMatches, Projection: "matchId"}))
}

// DecidedIDs lists the matches that are over, will not be played again, and still have a row in active-matches.
func DecidedIDs(tx *store.Tx) (ids []string, err error) {
	scan := activeRows("#s = :ended AND NOT matchPhase IN (:p0, :p1, :p2)", "matchId")
	for i, phase := range cricket.UndecidedPhases() {
		scan.Params.Values[fmt.Sprintf(":p%d", i)] = attr.S(string(phase))
	}
	return matchIDs(tx.ScanAll(scan))
}

// EndedMatches lists the matches that are over and still have a row in active-matches.
func EndedMatches(tx *store.Tx) (ids []string, err error) {
	return matchIDs(tx.ScanAll(activeRows("#s = :ended", "matchId")))
}

// PolledIDs returns the ids that are registered, have not ended and are not postponed.
func PolledIDs(tx *store.Tx, ids ...string) (polled []string, err error) {
	items, err := tables.GetAll(tx, tables.ActiveMatches, tables.MatchKeys(ids))
	for _, item := range items {
		if status := item["status"].Str(); status != cricket.ActiveEnded && status != cricket.ActivePostponed {
			polled = append(polled, item["matchId"].Str())
		}
	}
	return polled, err
}
