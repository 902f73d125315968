package pickem

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// lockSettles is how long after its lock an event gets the state that says so: picks that were taken in time reach the cloud first.
const lockSettles = time.Minute

// Run locks events when they are due, and ends scorings that a crash has cut off.
func (s *Service) Run(ctx context.Context, c clock.Clock, failed func(error)) error {
	for {
		next, err := s.Maintain(ctx)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if err := c.Wait(ctx, c.Now().Add(next), s.Wake); err != nil {
			return nil //nolint:nilerr // its cause is that the node stops
		}
	}
}

// Take wakes Run when an event changes, also at another node: its lock may be another, or it is to be scored. The year of whatever has
// changed is counted again at the next look.
func (s *Service) Take(_ *store.Tx, records []store.Record) error {
	for i := range records {
		_, year := Concerns(records[i].Key)
		s.counted.Delete(year)
		if records[i].Key["PK"].Str() == pkEvents {
			s.Wake.Set()
		}
	}
	return nil
}

// Maintain does what is due, and returns when to look again: in a minute, or when the next event locks.
func (s *Service) Maintain(ctx context.Context) (next time.Duration, err error) {
	next = time.Minute
	var score []string
	err = s.Store.Update(ctx, func(tx *store.Tx) error {
		all, err := s.events(tx)
		if err != nil {
			return err
		}
		for i := range all {
			e := &all[i]
			due := e.LockAt.Add(lockSettles).Sub(s.now(tx))
			if e.State != Upcoming {
				continue
			}
			if due > 0 {
				next = min(next, due)
			} else if err := s.lock(tx, e); err != nil {
				return err
			}
		}
		score, err = s.due(tx)
		return err
	})
	for _, event := range score { // one that fails keeps no other from it
		_, failed := s.Score(ctx, event)
		err = errors.Join(err, failed)
	}
	return next, err
}

// setLock is how the lock of an event that is due begins: a person's does not. It holds for the start that it was due by.
const setLock = "SET startsAt = "

func (s *Service) lock(tx *store.Tx, e *Event) error {
	return s.since(tx, e.was, []string{"state", "startsAt"}, setLock+":at, #state = :to", attr.Item{
		":at": attr.S(e.StartsAt.UTC().Format(time.RFC3339)), ":to": attr.S(string(Broadcast)),
	})
}

// SetState locks an event, or opens it again while its lock is to come and no result is known.
func (s *Service) SetState(tx *store.Tx, id string, to State) (Card, error) {
	c, err := s.entry(tx, id, nobody)
	if err != nil || c.State == to {
		return c, err
	}
	opens := c.State == Broadcast && to == Upcoming && s.now(tx).Before(c.LockAt) && c.edition == 0
	switch {
	case to == Scored:
		return c, fault.New(fault.Conflict, "not_scored", "An event is scored by its results: its state cannot be set to scored.")
	case c.State != Upcoming && !opens:
		return c, fault.New(fault.Conflict, "state_backwards", "An event cannot go from %s to %s.", c.State, to)
	}
	c.State = to
	return c, s.since(tx, c.Event.was, scoredBy, "SET #state = :to", attr.Item{":to": attr.S(string(to))})
}
