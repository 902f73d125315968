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

// TouchEvery is how old the stored tick time may become while nothing changes: half the silence after which
// another node takes a match over.
const TouchEvery = 15 * time.Second

// outlives is how long events, display and cards outlive their match.
const outlives = 7 * 24 * time.Hour

// keptUntil returns when rows written now expire. It counts from the scheduled end at the earliest: the first
// day of a Test must not expire before the last.
func keptUntil(s *cricket.Snapshot, now time.Time) int64 {
	end := s.StartsAt.AddDate(0, 0, max(1, cricket.ScheduledDays(s.Type)))
	if end.Before(now) {
		end = now
	}
	return end.Add(outlives).Unix()
}

// Tick applies a snapshot to its match in one transaction: state, confirmed events, display. The first tick registers the
// match, as idle before play and as live from then on. A match that has ended gets no more events, but its display, cards
// and fixture still follow the feed.
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

// Observe applies a snapshot only to this node's display and cards, while it may not write what other nodes
// read. prev is the result of the last Observe of the match, or at first its state as far as it is known here.
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

// step passes a snapshot to the rules.
func (s *Service) step(tx *store.Tx, prev *cricket.State, snap *cricket.Snapshot) (out cricket.Outcome, err error) {
	if prev.Seen == nil && prev.PreviousStatus != "" {
		if prev.Seen, err = recordedKeys(tx, snap.MatchID); err != nil {
			return out, err
		}
	}
	prev.MatchID = snap.MatchID
	return cricket.Step(*prev, snap, s.options, tx.Now()), nil
}

// writeOutcome writes the outcome of a tick. The state is written last: it goes to the cloud once everything
// before it is settled, so that no node gets a state whose events may still be refused or lost.
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

// Touch records that a match is being polled although nothing changes, so that no other node takes it over. It
// writes the whole row, as every state write does: of the queued writes of a row only the newest is sent. If a
// later holder has written, the error is a *FencedOffError; for a match without a row Touch does nothing.
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
