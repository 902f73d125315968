package push

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Refresh sends the display of a match again, silently, to all active Live Activities, in the state it has when
// the push leaves. It returns the number of phones with an activity and does not wait for Apple. It may be
// called concurrently with Run. The error is fault.Conflict if there is no display yet.
func (c *Coordinator) Refresh(ctx context.Context, matchID string) (phones int, err error) {
	err = c.store.View(ctx, func(tx *store.Tx) error {
		display, err := tx.Get(tables.Display, cacheKey(tables.DisplayKey(matchID)))
		if err != nil {
			return err
		}
		if display == nil {
			return fault.New(fault.Conflict, "no_display", "there is no display of match %q yet", matchID)
		}
		active, err := tx.Get(tables.ActiveMatches, attr.Item{"matchId": attr.S(matchID)})
		if err != nil || active == nil || active["status"].Str() == cricket.ActiveEnded {
			return err
		}
		sessions, err := phone.Activities{}.OfMatch(tx, matchID)
		phones = 0
		for i := range sessions {
			if sessions[i].Status == phone.SessionActive {
				phones++
			}
		}
		return err
	})
	if err != nil || phones == 0 {
		return 0, err
	}
	c.mu.Lock()
	c.asked[matchID] = true
	c.mu.Unlock()
	c.changed.Set()
	return phones, nil
}

// refreshAsked forgets what the phones of the requested matches were sent, so that the next plan sends it again.
func (c *Coordinator) refreshAsked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.asked {
		m := c.matches[id]
		if m == nil {
			continue
		}
		m.dirty = true
		for _, s := range m.sessions {
			s.hash = 0
		}
		if m.channel != nil {
			m.channel.session.hash = 0
		}
	}
	clear(c.asked)
}
