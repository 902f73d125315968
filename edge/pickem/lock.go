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

// lockSettles is the time from an event's lock to its state Broadcast. In it, picks accepted in time reach the cloud.
const lockSettles = time.Minute

// Run locks events when they are due, and completes scorings that a crash interrupted.
func (s *Service) Run(ctx context.Context, c clock.Clock, failed func(error)) error {
	for {
		next, err := s.Maintain(ctx)
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
		if err := c.Wait(ctx, c.Now().Add(next), s.Wake); err != nil {
			return nil //nolint:nilerr // the node is stopping
		}
	}
}

// Take consumes journal records. It wakes Run if an event has changed, here or at another node: its lock may have moved, or a scoring be due.
// It also has the next Maintain recount the years concerned.
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

// Maintain locks and scores the events that are due. next is the time until it must run again: a minute, or less if an event locks sooner.
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
	for _, event := range score { // a failure does not keep the others from being scored
		_, scoreErr := s.Score(ctx, event)
		err = errors.Join(err, scoreErr)
	}
	return next, err
}

// setLock begins the update that locks a due event, if it still has the start by which it was due. An admin's lock begins otherwise.
const setLock = "SET startsAt = "

func (s *Service) lock(tx *store.Tx, e *Event) error {
	return s.since(tx, e.was, []string{"state", "startsAt"}, setLock+":at, #state = :to", attr.Item{
		":at": attr.S(e.StartsAt.UTC().Format(time.RFC3339)), ":to": attr.S(string(Broadcast)),
	})
}

// SetState locks an event, or opens it again if the time of its lock has not come and no result was set.
func (s *Service) SetState(tx *store.Tx, id string, to State) (Card, error) {
	c, err := s.entry(tx, id, nobody)
	if err != nil || c.State == to {
		return c, err
	}
	opens := c.State == Broadcast && to == Upcoming && s.now(tx).Before(c.LockAt) && c.edition == 0
	switch {
	case to == Scored:
		return c, fault.New(fault.Conflict, "not_scored", "The state cannot be set to scored: enter the results, then score the event.")
	case c.State != Upcoming && !opens:
		return c, fault.New(fault.Conflict, "state_backwards", "An event cannot go from %s to %s.", c.State, to)
	}
	c.State = to
	return c, s.since(tx, c.Event.was, scoredBy, "SET #state = :to", attr.Item{":to": attr.S(string(to))})
}
