package edge

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi"
	cricketapi "github.com/touchline/touchline/httpapi/cricket"
)

// feedClient is what a feed over HTTP tells of itself. sportmonks.Client does.
type feedClient interface {
	// Oddities counts what the feed sent that it should not have.
	Oddities() map[string]int64
	// Collector returns its metrics.
	Collector() prometheus.Collector
}

// apiConfig is the node's own address: what it serves, to whom, and how much.
func (n *Node) apiConfig(metrics *prometheus.Registry) (httpapi.Config, error) {
	p := &n.parts
	c := httpapi.Config{
		Journal: n.store, Store: n.store, Clock: p.Clock, Node: n.status, Ready: n.ready, Demo: p.Demo,
		Metrics: metrics, Logger: p.Log, Version: p.Version, Development: p.Gallery,
	}
	p.HTTP.apply(&c, p.Connections)
	if n.sync != nil {
		c.Sync = cloudRoutes{n}
	}
	app, err := cricketapi.New(n.cricketConfig(metrics))
	if err != nil {
		return c, err
	}
	c.Apps = []httpapi.App{app}
	if p.Auth == nil {
		return c, nil
	}
	if n.users, err = p.Auth(n.store); err != nil {
		return c, err
	}
	c.Auth = n.users
	return c, nil
}

// cricketConfig is what cricket's routes and pages work with.
func (n *Node) cricketConfig(metrics *prometheus.Registry) cricketapi.Config {
	p := &n.parts
	c := cricketapi.Config{
		Service: n.cricket, Store: n.store, Mount: p.Cricket.Mount, CORS: p.HTTP.CORS, MultiDevice: p.Cricket.Devices.Multi, Version: p.Version,
		Info: cricketapi.AppInfo{MinVersion: p.Cricket.App.MinVersion, StoreURL: p.Cricket.App.StoreURL, Maintenance: p.Cricket.App.Maintenance},
		Feed: n.feedState, Push: func() *cricketapi.Pushes { return n.pushState(metrics) },
		Phones: p.Phones, Audience: n.audienceOf, Featured: func() string { return p.Featured },
	}
	if n.sync != nil {
		c.Ensure = n.sync.Ensure
	}
	if p.Deck != nil {
		c.Replay = n.replays()
	}
	if n.push != nil {
		n.notices = &notifier{push: n.push, store: n.store, work: n.work, log: p.Log}
		c.Notifier = n.notices
	}
	return c
}
