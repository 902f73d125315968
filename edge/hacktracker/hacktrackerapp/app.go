// Package hacktrackerapp builds the softball scorebook for a node: it combines rules and routes into one app.App.
package hacktrackerapp

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/hacktracker"
	"github.com/touchline/touchline/edge/hacktracker/web"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/table"
	"github.com/touchline/touchline/sync/replica/conflict"
)

const name = "hacktracker"

// Settings is the hacktracker section of the configuration.
type Settings struct{ app.Place }

// New returns the application with its default settings.
func New() *app.App {
	s := &Settings{Place: app.Place{Mount: "/hacktracker", Table: "hacktracker-prod"}}
	return &app.App{
		Name: name, Title: "HackTracker", Settings: s, Commands: commands,
		Schema: func() migrations.Schema { return app.OneTable(hacktracker.Table(s.Table)) },
		Cloud: func() app.Cloud {
			rules := &hacktracker.Service{Handle: hacktracker.Rows(s.Table)}
			return app.Cloud{
				Reads: []app.Read{
					{Table: s.Table, Every: app.Live, Partitions: rules.WatchedPartitions},
					{Table: s.Table, Every: app.Seldom},
				},
				Merge: map[string]conflict.MergeFunc{s.Table: app.Merge(rules.Merge)},
			}
		},
		Open: func(_ context.Context, h *app.Host) (*app.Instance, error) {
			service := &hacktracker.Service{Handle: hacktracker.Rows(s.Table)}
			scorers := presence.NewBoard(h.Clock)
			c := web.Config{Service: service, Mount: s.Mount, Node: h.Store.Node(), Scorers: scorers}
			if h.Sync != nil {
				c.Ensure = h.Sync.Ensure
			}
			api, err := web.New(c)
			return &app.Instance{
				API: api, Started: []any{"table", s.Table},
				Loops: []func(context.Context) error{
					func(ctx context.Context) error { return sweep(ctx, service, h) },
					func(ctx context.Context) error { return follow(ctx, scorers, service, h.Store) },
				},
				Consumers: []app.Consumer{{Name: "deleted", Tables: []string{s.Table}, Take: service.EmptyDeleted, Anew: service.EmptyAll}},
			}, err
		},
	}
}

// follow tells the board of scorers of games that end, and of at-bats that come later.
func follow(ctx context.Context, scorers *presence.Board, service *hacktracker.Service, s *store.Store) error {
	return scorers.Follow(ctx, s, func(r *store.Record) presence.Change {
		c := service.ScoringOf(r)
		return presence.Change{Game: c.Game, Entry: c.AtBat, Ended: c.Ended, On: c.On}
	})
}

// sweep removes what is left of deleted games and at-bats, once a day.
func sweep(ctx context.Context, service *hacktracker.Service, h *app.Host) error {
	for {
		if err := emptyAll(ctx, service, h.Store); err != nil && ctx.Err() == nil {
			h.Log.Error("removing deleted games failed", "err", err)
		}
		if h.Clock.Wait(ctx, h.Clock.Now().Add(24*time.Hour), nil) != nil {
			return nil //nolint:nilerr // the node stops
		}
	}
}

// emptyAll removes them, a slice in each transaction.
func emptyAll(ctx context.Context, service *hacktracker.Service, st *store.Store) error {
	for more := true; more; {
		if err := st.Update(ctx, func(tx *store.Tx) error {
			before := tx.Seq()
			err := service.EmptyAll(tx)
			more = errors.Is(err, table.ErrMore) && tx.Seq() > before
			if more {
				return nil
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
