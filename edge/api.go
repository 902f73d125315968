package edge

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/httpapi"
)

// feedClient is what a feed over HTTP tells of itself. sportmonks.Client does.
type feedClient interface {
	// Health reports how every endpoint stands.
	Health() map[sportmonks.Endpoint]sportmonks.Health
	// Budgets returns what is left of the hour.
	Budgets() map[sportmonks.Endpoint]sportmonks.Budget
	// Alarms are the endpoints that a person has to look after, with what is wrong.
	Alarms() map[sportmonks.Endpoint]string
	// Oddities counts what the feed sent that it should not have.
	Oddities() map[string]int64
	// Collector returns its metrics.
	Collector() prometheus.Collector
}

// apiConfig is the node's own address: what it serves, to whom, and how much.
func (n *Node) apiConfig(metrics *prometheus.Registry) (httpapi.Config, error) {
	p := &n.parts
	c := httpapi.Config{
		Cricket: n.cricket, Journal: n.store, Store: n.store, Clock: p.Clock,
		Mount: p.Cricket.Mount, MultiDevice: p.Cricket.Devices.Multi,
		Node: n.status, Hub: func() httpapi.HubHealth { return n.hubHealth(metrics) }, Phones: p.Phones, Audience: n.audienceOf, Ready: n.ready, Demo: p.Demo,
		App:      httpapi.AppInfo(p.Cricket.App),
		Featured: func() string { return p.Featured },
		Metrics:  metrics, Logger: p.Log, Version: p.Version, Development: p.Gallery,
	}
	p.HTTP.apply(&c, p.Connections)
	if n.sync != nil {
		c.Sync, c.Ensure = cloudRoutes{n}, n.sync.Ensure
	}
	if p.Deck != nil {
		c.Replay = n.replays()
	}
	if n.push != nil {
		n.notices = &notifier{push: n.push, store: n.store, work: n.work, log: p.Log}
		c.Notifier = n.notices
	}
	if p.Auth == nil {
		return c, nil
	}
	var err error
	if n.users, err = p.Auth(n.store); err != nil {
		return c, err
	}
	c.Auth = n.users
	return c, nil
}
