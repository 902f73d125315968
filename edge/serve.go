package edge

import (
	"context"
	"log/slog"
	"strings"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/connlimit"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/store"
)

// Serve runs a node until ctx ends.
func Serve(ctx context.Context, c Config, version string, log *slog.Logger, again Reload) error {
	p := Parts{
		Clock: clock.Real(), Speed: "real", Version: version, Log: log,
		Cricket: c.Cricket, HTTP: c.HTTP, Auth: c.identity(log),
	}
	if c.Cricket.Feed.Token != "" {
		feed, err := sportmonks.New(sportmonks.Config{
			BaseURL: c.Cricket.Feed.BaseURL, Token: c.Cricket.Feed.Token, Clock: p.Clock, Logger: log, CallsPerHour: c.Cricket.Feed.CallsPerHour,
		})
		if err != nil {
			return err
		}
		p.Feed = feed
	}
	if c.Cricket.Replay {
		d, err := newDeck(p.Clock, log)
		if err != nil {
			return err
		}
		p.Feed, p.Deck = d.feed, d
		p.Cricket.Leagues = []string{poll.AllLeagues} // whoever starts a match wants to see it
	}
	if c.Cricket.Push.Key != "" {
		p.Sender = c.Cricket.Push.sender(log, c.Cloud.configured())
	}
	var dynamodb int
	p.Connections, dynamodb = c.connections(connlimit.Files(), log)
	var err error
	if p.Cloud, err = c.Cloud.open(ctx, log); err != nil {
		return err
	}
	ln, err := listen(ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer ln.Close() //nolint:errcheck // the server has closed it in the good case
	p.TTLSweep = c.DynamoDB.TTLSweep
	if p.DynamoDB, err = NewEndpoint(ctx, c.DynamoDB, "--dynamodb-listen", log); err != nil {
		return err
	}
	defer p.DynamoDB.Close()
	p.DynamoDB.limit(dynamodb)
	n, err := Open(ctx, c.DataDir, p)
	if err != nil {
		return err
	}
	if err := secretfile.Check(c.DataDir); err != nil {
		log.Warn("the data directory is open to other users: chmod 700", "dir", c.DataDir, "err", err.Error())
	}
	log.Info("serving", "listen", ln.Addr().String(), "data", c.DataDir, "version", version,
		"feed", p.Feed != nil, "replay", p.Deck != nil, "push", p.Sender != nil, "dynamodb", p.DynamoDB.Addr(), "cloud", p.Cloud != nil,
		"hub", "http://"+reachable(ln.Addr().String())+"/_/hub",
		"openapi", "http://"+reachable(ln.Addr().String())+strings.TrimSuffix(c.Cricket.Mount, "/")+"/openapi.yaml")
	r := &reloader{Reload: again, now: c, endpoint: p.DynamoDB, log: log, apply: func(next Config) error {
		http, _ := next.connections(connlimit.Files(), slog.New(slog.DiscardHandler)) // the log has it since the start
		return n.reconfigure(next, http, again.Level)
	}}
	stop := r.start(ctx)
	err = n.Run(ctx, ln)
	stop()
	log.Info("stopped")
	return err
}

// sender makes the way to Apple. fleet tells that other nodes may push with the same key.
func (p PushConfig) sender(log *slog.Logger, fleet bool) SenderMaker {
	return func(s *store.Store) (push.Sender, error) {
		key, err := apns.ParseKey([]byte(p.Key))
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "bad_key", "cricket.push.key is not the text of a .p8 key file")
		}
		roots, err := authorities(p.CAFile)
		if err != nil {
			return nil, err
		}
		return apns.New(apns.Config{
			Host: p.Host, BundleID: p.BundleID, TeamID: p.TeamID, KeyID: p.KeyID, Key: key,
			ManageHost: p.ManageHost, Tokens: push.Bearers(s), Fleet: fleet, RootCAs: roots, Logger: log,
		})
	}
}
