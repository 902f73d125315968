package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/push"
)

func (a *application) pushCounts() map[string]push.Counts {
	out := map[string]push.Counts{}
	if a.push == nil {
		return out
	}
	ids := []string{}
	if a.Featured != "" {
		ids = append(ids, a.Featured)
	}
	if a.poller != nil {
		for _, m := range a.poller.Status().Matches {
			ids = append(ids, m.MatchID)
		}
	}
	for _, id := range ids {
		v, err := a.push.View(context.WithoutCancel(a.host.Work), id) // counts stand after the work has ended
		if err != nil {
			continue // the store says so itself
		}
		out[id] = v.Pushes
	}
	return out
}
