package pickem

import (
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// A node follows in the cloud the cards of events around today, and all predictions from picksFromLock before a lock until the event is scored.
const (
	cardsBefore   = 7 * 24 * time.Hour
	cardsAfter    = 30 * 24 * time.Hour
	picksFromLock = 2 * time.Hour
)

// Cards lists the partitions with the cards of events around today.
func (s *Service) Cards(tx *store.Tx, _ []string) ([]attr.Value, error) {
	all := []attr.Value{attr.S(pkEvents)}
	events, err := s.eventsAround(tx)
	for i := range events {
		all = append(all, attr.S(prefixEvent+events[i].ID))
	}
	return all, err
}

// Picks returns the whole table while a lock is near or a locked event is not scored, whether the clock or an admin has locked it, and
// otherwise nothing. Predictions are in the partitions
// of their users, some of whom may have been invited at another node, so no list of partitions would do.
func (s *Service) Picks(tx *store.Tx, _ []string) (all []attr.Value, err error) {
	events, err := s.eventsAround(tx)
	if slices.ContainsFunc(events, func(e Event) bool {
		return e.State == Broadcast || e.State != Scored && s.now(tx).After(e.LockAt.Add(-picksFromLock))
	}) {
		all = []attr.Value{{}}
	}
	return all, err
}

// eventsAround lists the events around today, and later ones that an admin has locked already.
func (s *Service) eventsAround(tx *store.Tx) ([]Event, error) {
	p, now := s.plan(tx), s.now(tx)
	return slices.DeleteFunc(p.events(), func(e Event) bool {
		return e.StartsAt.Before(now.Add(-cardsBefore)) || e.StartsAt.After(now.Add(cardsAfter)) && e.State != Broadcast
	}), p.Err()
}

// Needs lists the rows behind a user's request that another node may have written, with those for an event if one is given.
func Needs(user, event string) []attr.Item {
	if event == "" {
		return []attr.Item{userKey(user)}
	}
	return []attr.Item{userKey(user), eventKey(event), {"PK": attr.S(prefixEvent + event)}, predictionKey(user, event), lateKey(user, event)}
}

// OfUser returns the partition of a user, which must be known here before the user is deleted.
func (s *Service) OfUser(_ *store.Tx, user string) ([]attr.Item, error) {
	return []attr.Item{{"PK": attr.S(prefixUser + user)}}, nil
}

// OfEvent lists the keys of all possible predictions for an event, which must be known here before the event is deleted.
func (s *Service) OfEvent(tx *store.Tx, event string) (keys []attr.Item, err error) {
	p := s.plan(tx)
	for row := range p.Rows(tx.ScanAll(s.ScanWith(skUser, prefixUser))) {
		keys = append(keys, predictionKey(userOf(row), event))
	}
	return keys, p.Err()
}
