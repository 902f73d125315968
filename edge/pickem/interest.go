package pickem

import (
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// What a node follows of the cloud: cards of events around today, and everybody's predictions from before a lock until the event is scored.
const (
	cardsBefore   = 7 * 24 * time.Hour
	cardsAfter    = 30 * 24 * time.Hour
	picksFromLock = 2 * time.Hour
)

// Interest are the partitions that a node reads often.
func (s *Service) Interest(tx *store.Tx, _ []string) (all []attr.Value, err error) {
	all = []attr.Value{attr.S(pkEvents)}
	events, err := s.events(tx)
	if err != nil {
		return nil, err
	}
	now, users := s.now(tx), false
	for i := range events {
		e := &events[i]
		if e.StartsAt.Before(now.Add(-cardsBefore)) || e.StartsAt.After(now.Add(cardsAfter)) {
			continue
		}
		all = append(all, attr.S(prefixEvent+e.ID))
		users = users || e.State != Scored && now.After(e.LockAt.Add(-picksFromLock))
	}
	if !users {
		return all, nil
	}
	invited, err := s.Users(tx)
	for i := range invited {
		all = append(all, attr.S(prefixUser+invited[i].ID))
	}
	return all, err
}

// Needs are the rows of a user that another node may have written, with those of an event if one is named.
func Needs(user, event string) []attr.Item {
	if event == "" {
		return []attr.Item{userKey(user)}
	}
	return []attr.Item{userKey(user), eventKey(event), predictionKey(user, event)}
}
