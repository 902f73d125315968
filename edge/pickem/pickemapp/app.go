// Package pickemapp builds the prediction league for a node: it joins rules, routes and pages in one app.App.
package pickemapp

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/edge/pickem/web"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/intent"
)

const name = "pickem"

// Settings is the section pickem of the configuration.
type Settings struct {
	app.Place
	Index string `yaml:"index"` // name of the table's index
}

// Problems implements app.Settings.
func (s *Settings) Problems() []app.Problem {
	return app.NameProblems(map[string]string{"index": s.Index, "table": s.Table})
}

// New returns the application with its default settings.
func New() *app.App {
	s := &Settings{Place: app.Place{Mount: "/pickem", Table: "pickem-prod"}, Index: "GSI"}
	// The rules need the running service: events lock by the cloud's clock, which it knows.
	running := sync.OnceValue(func() *pickem.Service {
		return &pickem.Service{Handle: pickem.Rows(s.Table), Index: s.Index, Wake: clock.NewSignal()}
	})
	return &app.App{
		Name: name, Title: "Pick'Em", Settings: s, Commands: commands,
		Schema: func() migrations.Schema { return app.OneTable(pickem.Table(s.Table, s.Index)) },
		Cloud: func() app.Cloud {
			service := running()
			return app.Cloud{
				Reads: []app.Read{
					{Table: s.Table, Every: app.Slow, Partitions: service.Cards},
					{Table: s.Table, Every: app.Minute, Partitions: service.Picks},
					{Table: s.Table, Every: app.Seldom},
				},
				Merge:  map[string]conflict.MergeFunc{s.Table: app.Merge(service.Merge)},
				Secret: map[string]conflict.SecretFunc{s.Table: service.Secret},
				SendBy: map[string]replica.SendBy{s.Table: func(tx *store.Tx, w *intent.Write) (time.Time, error) {
					return service.SendBy(tx, w.Key, w.Item, w.Update)
				}},
			}
		},
		Open: func(_ context.Context, h *app.Host) (*app.Instance, error) { return open(s, running(), h) },
	}
}

func open(s *Settings, service *pickem.Service, h *app.Host) (*app.Instance, error) {
	service.Store = h.Store
	c := web.Config{Service: service, Mount: s.Mount}
	if h.Sync != nil {
		c.Ensure, service.Confirmed = h.Sync.Ensure, h.Sync.ConfirmedItem
		service.Latest, service.Await = h.Sync.LatestPass, h.AwaitWhole
	}
	failed := func(err error) { h.Log.Error("locking or scoring events failed", "app", name, "err", err) }
	api, err := web.New(c)
	return &app.Instance{
		API: api, Started: []any{"table", s.Table},
		Consumers: []app.Consumer{{
			Name: "events", Tables: []string{s.Table}, Take: service.ConsumeRecords, Anew: func(*store.Tx) error { return nil }, // Run checks when it starts
		}},
		Derives: service.DerivedRules(),
		Loops: []func(ctx context.Context) error{
			func(ctx context.Context) error { return service.Run(ctx, h.Clock, failed) },
		},
	}, err
}
