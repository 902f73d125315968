package cricketapp

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	cricketpage "github.com/touchline/touchline/httpapi/cricket/page"
)

// phoneViews shows the sandbox's phones as the page wants them.
func phoneViews(s *sandbox.Sandbox) []cricketpage.PhoneView {
	phones := s.Phones()
	out := make([]cricketpage.PhoneView, 0, len(phones))
	for i := range phones {
		p := &phones[i]
		v := cricketpage.PhoneView{
			ID: p.DeviceID, Name: p.Name, Model: p.Model, Appearance: []string{"light", "dark"}[i%2],
			Alerts: []cricketpage.PhoneAlert{}, P10Used: p.UrgentLastHour, P10Budget: p.UrgentLimit,
			Pushes: cricketpage.PhonePushes{Received: p.Received, Applied: p.Received - p.Ignored, Dropped: p.Ignored},
		}
		for _, a := range p.Alerts {
			v.Alerts = append(v.Alerts, cricketpage.PhoneAlert{Title: a.Title, Body: a.Body, At: a.At})
		}
		if len(p.Activities) > 0 {
			a := &p.Activities[0]
			v.MatchID, v.State, v.Stale, v.Ended = a.MatchID, a.State, a.Stale, a.Ended
			v.Compact = cricketpage.CompactView{Leading: a.Compact.Leading, Trailing: a.Compact.Trailing}
		}
		out = append(out, v)
	}
	return out
}

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
