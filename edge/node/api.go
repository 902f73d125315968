package node

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/session"
	"github.com/touchline/touchline/store/attr"
)

// apiConfig returns the configuration of the node's HTTP server.
func (n *Node) apiConfig(metrics *prometheus.Registry) (httpapi.Config, error) {
	p := &n.parts
	c := httpapi.Config{
		Store: n.store, Clock: p.Clock, Node: n.status, Ready: n.ready, Demo: p.Demo,
		Limits: p.HTTP.Limits(p.Connections), Metrics: metrics, Logger: p.Log, Version: p.Version, Development: p.Gallery, TLS: p.TLS, PublicURL: p.HTTP.PublicURL, Devices: true,
	}
	if len(n.derivers) > 0 {
		c.Derives = derivations{n.derivers}
	}
	if n.sync != nil {
		c.Sync = cloudRoutes{n, n.sync.Conflicts()}
		c.ReadCloud = func(ctx context.Context, table string, key attr.Item) error { return n.sync.ReadFresh(ctx, table, key) }
	}
	for i, a := range n.apps {
		api := a.API
		api.Name, api.Title, api.Mount = p.Apps[i].Name, p.Apps[i].Title, p.Apps[i].Settings.Path()
		api.Ready = n.readiness(api.Name, api.Ready)
		if p.IssuersOf != nil {
			api.SignIn.Issuers = p.IssuersOf(api.Name)
		}
		if api.CORS == nil {
			api.CORS = p.HTTP.CORS
		}
		c.Apps = append(c.Apps, api)
	}
	if p.Auth == nil {
		return c, nil
	}
	var err error
	if n.users, err = p.Auth(n.store); err != nil {
		return c, err
	}
	c.Auth = n.users
	c.Tokens = p.Tokens || p.Demo != nil
	if p.Session.Life > 0 {
		c.People = &httpapi.People{Issuers: n.users, Sessions: session.New(session.Config{
			Store: n.store, Clock: n.wall, Idle: p.Session.Idle, Life: p.Session.Life, Knows: n.users.Knows, Log: p.Log,
		})}
	}
	return c, nil
}
