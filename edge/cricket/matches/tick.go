package matches

import (
	"context"
	"maps"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// TouchEvery is how old the time of the last tick may become in the store while nothing changes: half of the silence
// after which another node takes a match over.
const TouchEvery = 15 * time.Second

// outlives is how long the events, the display and the cards of a match outlive it.
const outlives = 7 * 24 * time.Hour

// keptUntil is when what is written now of a match goes. It counts from the scheduled end at the earliest: the first day
// of a Test must not go before its last.
func keptUntil(s *cricket.Snapshot, now time.Time) int64 {
	end := s.StartsAt.AddDate(0, 0, max(1, cricket.ScheduledDays(s.Type)))
	if end.Before(now) {
		end = now
	}
	return end.Add(outlives).Unix()
}

// Tick takes a snapshot into its match, in one transaction: the state, the events that became sure, the display. The
// match is registered by its first tick, as idle before play and as live from then on. A match that has ended is
// left alone.
func (s *Service) Tick(ctx context.Context, snap *cricket.Snapshot, by Owner) (cricket.State, error) {
	var after cricket.State
	err := s.store.Update(ctx, func(tx *store.Tx) error {
		prev, row, err := stateRow(tx, snap.MatchID)
		if err != nil {
			return err
		}
		if fence, _ := row[fenceName].Int(); fence > by.Fence {
			return &FencedOffError{snap.MatchID, fence}
		}
		out, err := s.step(tx, &prev, snap)
		if err != nil {
			return err
		}
		out.State.InstanceID = by.Node
		after = out.State
		return s.writeOutcome(tx, snap, row, &prev, &out, by)
	})
	return after, err
}

// Observe takes a snapshot in for the readers of this node alone, while it may not write what others read: display and
// cards. prev is what the last Observe of the match gave, before the first one its state as far as it is known here.
func (s *Service) Observe(ctx context.Context, prev cricket.State, snap *cricket.Snapshot) (cricket.State, error) {
	var after cricket.State
	err := s.store.Update(ctx, func(tx *store.Tx) (err error) {
		prev := prev
		out, err := s.step(tx, &prev, snap)
		after = out.State
		if err != nil || out.Kept {
			return err
		}
		return writeDisplay(tx, &out, keptUntil(snap, tx.Now()))
	})
	return after, err
}

// step has the rules judge a snapshot.
func (s *Service) step(tx *store.Tx, prev *cricket.State, snap *cricket.Snapshot) (out cricket.Outcome, err error) {
	if prev.Seen == nil && prev.PreviousStatus != "" {
		if prev.Seen, err = recordedKeys(tx, snap.MatchID); err != nil {
			return out, err
		}
	}
	prev.MatchID = snap.MatchID
	return cricket.Step(*prev, snap, s.options, tx.Now()), nil
}

// writeOutcome writes what a tick comes to. The state is last: to the cloud it goes when all before it have been settled,
// so that nobody has a state whose events may still be refused or lost.
func (s *Service) writeOutcome(
	tx *store.Tx, snap *cricket.Snapshot, row attr.Item, prev *cricket.State, out *cricket.Outcome, by Owner,
) error {
	now := tx.Now()
	for _, key := range out.Cleared {
		if err := clearEvent(tx, snap.MatchID, key, by); err != nil {
			return err
		}
	}
	until := keptUntil(snap, now)
	for i := range out.Revised {
		if err := reviseEvent(tx, snap.MatchID, &out.Revised[i], by); err != nil {
			return err
		}
	}
	for i := range out.Events {
		if err := writeEvent(tx, snap.MatchID, &out.Events[i], prev.LastAlert, by, until); err != nil {
			return err
		}
	}
	if !out.Kept {
		if err := writeDisplay(tx, out, until); err != nil {
			return err
		}
		if err := writeFixture(tx, fixtureOf(out.Shown, &out.State, now), by); err != nil {
			return err
		}
	}
	return s.writeState(tx, row, prev.LastTickAt, &out.State, by)
}

// Touch notes that the match is being watched although nothing changes, so that no other node takes it over. The row is
// written whole, as every state is: of what waits to be sent only the newest is. A *FencedOffError if a later holder has
// written; a match without a row has nothing to note.
func (s *Service) Touch(ctx context.Context, matchID string, by Owner) error {
	return s.store.Update(ctx, func(tx *store.Tx) error {
		row, err := tx.Get(tables.ActiveMatches, tables.MatchKey(matchID))
		if err != nil || row == nil {
			return err
		}
		row = maps.Clone(row)
		row["lastTickAt"], row["instanceId"] = attr.Time(tx.Now()), attr.S(by.Node)
		return putState(tx, row, by)
	})
}
