// Package cricketapp builds the cricket application, Sightscreen. It combines rules, feed, pushes and routes
// into one app.App, and has the commands that play recorded matches through a whole node.
package cricketapp

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/touchline/touchline/edge/cricket/web"
	"github.com/touchline/touchline/httpapi/admin"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/cricket/matches"
	"github.com/touchline/touchline/edge/cricket/phone"
	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/edge/cricket/push/apns"
	"github.com/touchline/touchline/edge/cricket/push/sandbox"
	"github.com/touchline/touchline/edge/cricket/reference"
	"github.com/touchline/touchline/edge/cricket/sportmonks"
	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
)

// name is the application's name in the configuration.
const name = "cricket"

// SenderMaker creates the client of the push service, given the store that keeps its provider token.
type SenderMaker func(s *store.Store) (push.Sender, error)

// Outside is what the application talks to. A demo has its own feed and push service.
type Outside struct {
	Feed     poll.Feed   // nil: no polling
	Sender   SenderMaker // nil: no pushes
	Replays  *replaySet  // replays that serve as the feed; nil: the feed is real
	Phones   func() []sandbox.PhoneView
	Featured string   // the match that the page shows first
	Leagues  []string // to read, besides those of the settings
}

// New returns the application. Its settings are the defaults until the node's configuration is read into them.
func New() *app.App {
	s := DefaultSettings()
	return build(s, s.openOutside, nil)
}

// build returns the application; opened, if not nil, is called with it in each node.
func build(s *Settings, outside func(*app.Host) (Outside, error), opened func(*application)) *app.App {
	return &app.App{
		Commands: commands, Flags: []app.Flag{{Name: "replay", Key: "replay", Usage: "recorded matches instead of the feed, started by admins at /cricket/-/replay"}},
		Name: name, Title: "Sightscreen", Settings: s, Default: true, Schema: ownSchema, Cloud: sharedTables,
		Open: func(ctx context.Context, h *app.Host) (*app.Instance, error) {
			o, err := outside(h)
			if err != nil {
				return nil, err
			}
			a, err := open(ctx, s, o, h)
			if err != nil {
				return nil, err
			}
			if opened != nil {
				opened(a)
			}
			return a.instance(), nil
		},
	}
}

// played is a node that plays a recorded match.
type played struct {
	*node.Node
	*application
}

// openPlayed opens a node with only cricket and the given outside.
func openPlayed(ctx context.Context, dir string, p node.Parts, s *Settings, o Outside) (*played, error) {
	out := &played{}
	p.Apps = []*app.App{build(s, func(*app.Host) (Outside, error) { return o, nil }, func(a *application) { out.application = a })}
	var err error
	out.Node, err = node.Open(ctx, dir, p)
	return out, err
}

// commands returns the application's commands: a demo, tools for the push service, and the replay of recorded matches.
func commands(sh *app.Shell) app.Commands {
	return app.Commands{
		Own: []*cobra.Command{newReplay()}, Demo: newDemo(sh.Version), Root: []*cobra.Command{newAPNsSandbox(), newPush(sh)},
		Migrate: []*cobra.Command{newMigrateLAv2(sh)},
	}
}

// tableReplays is the node's own table: the recorded matches it plays instead of a feed.
const tableReplays = "touchline-replays"

// ownSchema returns cricket's schema.
func ownSchema() migrations.Schema {
	return migrations.Schema{
		Tables: append(tables.All(), migrations.Private(tableReplays, "deck", "played by this node alone")),
		Steps:  []migrations.Step{{Name: "owners-of-device-tokens", Run: phone.FillDeviceTokens}},
	}
}

// schema returns the schema of a node with only cricket.
func schema() migrations.Schema { return migrations.WithNode(ownSchema()) }

// openOutside returns the real feed, or a set of replays, and Apple's push service.
func (c *Settings) openOutside(h *app.Host) (o Outside, err error) {
	if c.Feed.Token != "" {
		o.Feed, err = sportmonks.New(sportmonks.Config{
			BaseURL: c.Feed.BaseURL, Token: c.Feed.Token, Clock: h.Clock, Logger: h.Log, CallsPerHour: c.Feed.CallsPerHour,
		})
		if err != nil {
			return o, err
		}
	}
	if c.Replay {
		if o.Replays, err = newReplaySet(h.Clock, h.Log); err != nil {
			return o, err
		}
		o.Feed = o.Replays.feed
		o.Leagues = []string{poll.AllLeagues} // an admin who starts a match wants to see it
	}
	if c.Push.Key != "" {
		o.Sender = c.Push.sender(h.Log, h.Sync != nil)
	}
	return o, nil
}

// sender returns the maker of a client for Apple. fleet reports that other nodes may push with the same key.
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
			Host: p.Host, DevelopmentHost: p.DevelopmentHost, BundleID: p.BundleID, TeamID: p.TeamID, KeyID: p.KeyID, Key: key,
			ManageHost: p.ManageHost, Tokens: push.Bearers(s), Fleet: fleet, RootCAs: roots, Logger: log,
		})
	}
}

// application is cricket in an open node.
type application struct {
	Outside

	host    *app.Host
	set     *Settings
	wall    clock.Clock
	began   time.Time
	cricket *matches.Service
	poller  *poll.Poller // nil without a feed
	read    *reference.Readings
	push    *push.Coordinator // nil without a sender
	notices *notifier         // nil without a sender
	api     httpapi.App
}

func open(ctx context.Context, s *Settings, o Outside, h *app.Host) (*application, error) {
	a := &application{Outside: o, host: h, set: s, wall: clock.Real(), cricket: matches.NewService(h.Store, s.Alerts.options(h.Sync != nil)), read: reference.NewReadings()}
	a.began = a.wall.Now()
	if a.Replays != nil {
		a.Replays.reads = a.readsReplays
		if err := a.Replays.open(ctx, h.Store); err != nil {
			return nil, err
		}
	}
	a.openPoller()
	a.countPolls()
	if err := a.openPush(); err != nil {
		return nil, err
	}
	var err error
	a.api, err = web.New(a.apiConfig())
	return a, err
}

func (a *application) instance() *app.Instance {
	return &app.Instance{
		API: a.api, Loops: a.loops(), Consumers: a.consumers(), Derives: a.read.Rules(), Close: a.notices.wait,
		Started:  []any{"feed", a.Feed != nil, "replay", a.Replays != nil, "push", a.Sender != nil},
		Commands: []admin.Command{{Path: pathMigrateLAv2, Do: a.migrateLAv2}, {Path: pathPushTest, Do: a.testPush}},
	}
}

func (a *application) openPoller() {
	if a.Feed == nil {
		return
	}
	h := a.host
	if c, ok := a.Feed.(feedClient); ok {
		h.Metrics.MustRegister(c.Collector())
	}
	lists, _ := a.Feed.(poll.Reference)
	budgets, _ := a.Feed.(poll.Budgets)
	c := poll.Config{
		Node: h.Node, Feed: a.Feed, Leases: newHeld(h.Leases), Ahead: newHeld(h.Leases), Match: a.cricket, Data: h.Store,
		Clock: h.Clock, Log: h.Log, Reference: lists, Readings: a.read, Budgets: budgets, Leagues: slices.Concat(a.set.Leagues, a.Leagues),
	}
	if h.Sync != nil {
		c.Cloud, c.Whole = h.Sync, func(sources []derived.Source) (bool, error) {
			missing, err := app.Missing(h.Sync, sources)
			return len(missing) == 0, err
		}
		if h.Observe {
			c.Observe = a.cricket
		}
	}
	a.poller = a.Replays.newPoller(c)
	h.Metrics.MustRegister(a.poller.Collector())
}

// countPolls registers the counters of polls of the live list, which exist even without a feed.
func (a *application) countPolls() {
	count := func(name, help string, of func(poll.Status) int64) {
		a.host.Metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "touchline_feed_" + name, Help: help}, func() float64 {
			if a.poller == nil {
				return 0
			}
			return float64(of(a.poller.Status()))
		}))
	}
	count("polls_total", "Polls of the live list.", func(s poll.Status) int64 { return s.Polls })
	count("unchanged_total", "Polls whose answer was the same as the one before.", func(s poll.Status) int64 { return s.Unchanged })
	count("failed_total", "Polls without a good answer.", func(s poll.Status) int64 { return s.Failed })
}

func (a *application) openPush() error {
	if a.Sender == nil {
		return nil
	}
	h := a.host
	sender, err := a.Sender(h.Store)
	if err != nil {
		return err
	}
	c := push.Config{Store: h.Store, Sender: sender, Clock: h.Clock, Logger: h.Log, Registerer: h.Metrics, Collapse: a.set.Push.Collapse, Environments: a.set.Push.DevelopmentHost != ""}
	if a.set.Push.Channels {
		c.Channels, _ = sender.(push.Channels)
	}
	if h.Sync != nil {
		c.Proofs, c.Rights = h.Sync, rights{h.Leases, h.Leases.User()}
	}
	if a.push, err = push.New(c); err != nil {
		return err
	}
	a.notices = &notifier{push: a.push, store: h.Store, work: h.Work, log: h.Log}
	return nil
}

func (a *application) loops() (all []func(context.Context) error) {
	if a.poller != nil {
		all = append(all, a.poller.Run)
	}
	if a.push != nil {
		all = append(all, a.push.Run)
	}
	return all
}

// apiConfig returns the configuration of routes and pages.
func (a *application) apiConfig() web.Config {
	c := web.Config{
		Service: a.cricket, Store: a.host.Store, Mount: a.set.Mount, MultiDevice: a.set.Devices.Multi, Version: a.host.Version,
		Info: web.AppInfo{MinVersion: a.set.App.MinVersion, StoreURL: a.set.App.StoreURL, Maintenance: a.set.App.Maintenance},
		Feed: a.feedState, Push: a.pushState, Phones: a.Phones, Audience: a.audienceOf, Channel: a.channelOf, Featured: func() string { return a.Featured },
	}
	if a.host.Sync != nil {
		c.Ensure = a.host.Sync.Ensure
	}
	if a.Replays != nil {
		c.Replay = a.Replays
	}
	if a.notices != nil {
		c.Notifier = a.notices
	}
	return c
}
