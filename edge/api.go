package edge

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/httpapi"
)

// feedClient is what a feed over HTTP tells of itself. sportmonks.Client does.
type feedClient interface {
	// Health tells how every endpoint stands.
	Health() map[sportmonks.Endpoint]sportmonks.Health
	// Budgets tells what is left of the hour.
	Budgets() map[sportmonks.Endpoint]sportmonks.Budget
	// Collector gives its metrics.
	Collector() prometheus.Collector
}

// apiConfig is the node's own address: what it serves, to whom, and how much.
func (n *Node) apiConfig(metrics *prometheus.Registry) (httpapi.Config, error) {
	p := &n.parts
	c := httpapi.Config{
		Cricket: n.cricket, Journal: n.store, Store: n.store, Clock: p.Clock,
		Mount: p.Cricket.Mount, MultiDevice: p.Cricket.Devices.Multi,
		Node: n.status, Hub: n.hubHealth, Phones: p.Phones, Ready: n.ready, Demo: p.Demo,
		Featured: func() string { return p.Featured },
		Metrics:  metrics, Logger: p.Log, Version: p.Version, Development: p.Gallery,
	}
	p.HTTP.apply(&c)
	if p.Deck != nil {
		c.Replay = deckRoutes{p.Deck}
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

// hubHealth is what an operator sees of feed, pushes and leases.
func (n *Node) hubHealth() httpapi.HubHealth {
	var out httpapi.HubHealth
	n.feedHealth(&out)
	if n.push != nil {
		out.Push.Configured = true
		for _, c := range n.pushCounts() {
			out.Push.Sent += int64(c.Sent)
			out.Push.Accepted += int64(c.Accepted)
			out.Push.Refused += int64(c.Refused)
		}
	}
	return out
}

func (n *Node) feedHealth(out *httpapi.HubHealth) {
	if n.poller == nil {
		return
	}
	p := n.poller.Status()
	out.Feed = httpapi.FeedHealth{
		Configured: true, Polls: p.Polls, Unchanged: p.Unchanged, Failed: p.Failed, LastAt: p.LastAt, LastError: p.LastError,
	}
	out.Leases = map[string]httpapi.HubLease{}
	for _, m := range p.Matches {
		if m.Fence != 0 {
			out.Leases[m.MatchID] = httpapi.HubLease{Fence: m.Fence, Deadline: m.Deadline}
		}
	}
	client, ok := n.parts.Feed.(feedClient)
	if !ok {
		return
	}
	budgets := client.Budgets()
	for name, h := range client.Health() {
		b := budgets[name]
		out.Feed.Endpoints = append(out.Feed.Endpoints, httpapi.EndpointHealth{
			Endpoint: string(name), State: string(h.State), Until: h.Until, Alarm: h.Alarm, Calls: h.Calls, Failed: h.Failed,
			LastGood: h.GoodAt, LastError: h.LastFail, Used: b.Used, Limit: b.Limit, Reserve: b.Reserve, ResetAt: b.Reset,
		})
	}
	slices.SortFunc(out.Feed.Endpoints, func(a, b httpapi.EndpointHealth) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
}
