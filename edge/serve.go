package edge

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/secretfile"
)

// Serve runs a node until ctx ends.
func Serve(ctx context.Context, c Config, version string, log *slog.Logger, again Reload) error {
	p := node.Parts{
		Clock: clock.Real(), Jumps: clock.NewJumps(clock.RealTimes(), log), Speed: "real", Version: version, Log: log, Apps: c.running(), HTTP: c.HTTP, Auth: c.Auth.Maker(c.DataDir, log),
		IssuersOf: c.Auth.IssuersOf, Session: c.Auth.Session, Mail: c.Mail, Tokens: c.Auth.DevIssuer,
	}
	var dynamodb int
	p.Connections, dynamodb = c.connections(connlimit.Files(), log)
	var err error
	if p.Cloud, err = c.Cloud.Open(ctx, log); err != nil {
		return err
	}
	if p.TLS, err = c.HTTP.TLS.Open(ctx, c.DataDir, log); err != nil {
		return err
	}
	defer p.TLS.Close()
	ln, err := node.Listen(ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // normally the server has closed it
	p.TTLSweep = c.DynamoDB.TTLSweep
	if p.DynamoDB, err = node.NewEndpoint(ctx, c.DynamoDB, "--dynamodb-listen", log); err != nil {
		return err
	}
	defer p.DynamoDB.Close()
	p.DynamoDB.Limit(dynamodb)
	if c.DynamoDB.TLS {
		p.DynamoDB.Secure(p.TLS.Source)
	}
	n, err := node.Open(ctx, c.DataDir, p)
	if err != nil {
		return err
	}
	stopLogin, err := c.Auth.ServeLogin(ctx, c.DataDir, log)
	if err != nil {
		return errors.Join(err, n.Close())
	}
	defer stopLogin()
	if err := secretfile.Check(c.DataDir); err != nil {
		log.Warn("the data directory is open to other users: chmod 700", "dir", c.DataDir, "err", err.Error())
	}
	log.Info("serving", append(c.serving(ln.Addr().String(), version, &p), n.StartAttrs()...)...)
	r := &reloader{Reload: again, now: c, endpoint: p.DynamoDB, log: log, apply: func(next Config) error {
		http, _ := next.connections(connlimit.Files(), slog.New(slog.DiscardHandler)) // already logged at the start
		if err := n.Reconfigure(next.HTTP, next.Auth.APIKey, http); err != nil {
			return err
		}
		if p.TLS != nil {
			if err := p.TLS.Source.Reload(); err != nil {
				return err
			}
		}
		return again.Level.UnmarshalText([]byte(next.Log.Level))
	}}
	stop := r.start(ctx)
	err = n.Run(ctx, ln)
	stop()
	log.Info("stopped")
	return err
}

// home returns the node's base URL, given its listening address.
func (c Config) home(addr string) string {
	switch {
	case c.HTTP.PublicURL != "":
		return c.HTTP.PublicURL
	case c.HTTP.TLS.IsEnabled():
		return "https://" + reachable(addr)
	}
	return "http://" + reachable(addr)
}

// serving returns the node's log attributes for the line "serving".
func (c Config) serving(listen, version string, p *node.Parts) []any {
	home := c.home(listen)
	var documents []string
	for _, a := range p.Apps {
		documents = append(documents, home+strings.TrimSuffix(a.Settings.Path(), "/")+"/openapi.yaml")
	}
	return []any{
		"listen", listen, "data", c.DataDir, "version", version, "dynamodb", p.DynamoDB.Addr(), "cloud", p.Cloud != nil,
		"hub", home + "/_/hub", "openapi", strings.Join(documents, " "),
	}
}

// connections returns the limits of open connections of the node's own address and of the DynamoDB endpoint, given the process's limit
// of open files.
func (c Config) connections(files int, log *slog.Logger) (http, dynamodb int) {
	if c.DynamoDB.Listen != "" {
		dynamodb = dynamoapi.DefaultConnections
	}
	share := node.ShareFiles(files, log, c.HTTP.Connections(), dynamodb)
	return share[0], share[1]
}
