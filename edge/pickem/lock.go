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

// ConsumeRecords consumes journal records. It wakes Run if an event has changed, here or at another node: its lock may have moved, or a scoring be due.
func (s *Service) ConsumeRecords(_ *store.Tx, records []store.Record) error {
	for i := range records {
		if records[i].Key["PK"].Str() == pkEvents {
			s.Wake.Set()
		}
	}
	return nil
}

// lookAgain is how soon a scoring that waits is tried again.
const lookAgain = 5 * time.Second

// Maintain locks the events that are due, except those of another program, which has its own way to lock them, and completes scorings. next is the time until it must run again: a minute, or less if an event locks sooner.
func (s *Service) Maintain(ctx context.Context) (next time.Duration, err error) {
	next = time.Minute
	var score []string
	err = s.Store.Update(ctx, func(tx *store.Tx) error {
		p := s.plan(tx)
		all := p.events()
		for i := range all {
			e := &all[i]
			due := e.LockAt.Add(lockSettles).Sub(s.now(tx))
			if e.State != Upcoming || !e.ours {
				continue
			}
			if due > 0 {
				next = min(next, due)
			} else {
				p.lock(e)
			}
		}
		score = p.due()
		return p.Err()
	})
	for _, event := range score { // a failure does not keep the others from being scored
		waits, scoreErr := s.goOn(ctx, event)
		if waits { // the Status page says what for
			next = min(next, lookAgain)
			continue
		}
		err = errors.Join(err, scoreErr)
	}
	return next, err
}

// setLock begins the update that locks a due event, if it still has the start by which it was due. An admin's lock begins otherwise.
const setLock = "SET startsAt = "

func (p *plan) lock(e *Event) {
	p.updateUnchanged(e.was, []string{"state", "startsAt"}, setLock+":at, #state = :to", attr.Item{
		":at": attr.S(e.StartsAt.UTC().Format(time.RFC3339)), ":to": attr.S(string(Broadcast)),
	})
}

// SetState locks an event, or opens it again if the time of its lock has not come and no result was set.
func (s *Service) SetState(tx *store.Tx, id string, to State) (Card, error) {
	p := s.plan(tx)
	c := p.entry(id, nobody)
	if c.State == to {
		return c, p.Err()
	}
	opens := c.State == Broadcast && to == Upcoming && s.now(tx).Before(c.LockAt) && c.edition == 0
	p.Refuse(to == Scored, fault.New(fault.Conflict, "not_scored", "The state cannot be set to scored: enter the results, then score the event."))
	p.Refuse(c.State != Upcoming && !opens, fault.New(fault.Conflict, "state_backwards", "An event cannot go from %s to %s.", c.State, to))
	p.updateUnchanged(c.Event.was, scoredBy, "SET #state = :to", attr.Item{":to": attr.S(string(to))})
	if p.Err() == nil {
		c.State = to
	}
	return c, p.Err()
}
