// Package threefcapp builds the 3FC application for a node: it combines rules and routes into one app.App.
package threefcapp

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/edge/threefc"
	"github.com/touchline/touchline/edge/threefc/web"
	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/presence"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/sync/replica/conflict"
)

const name = "threefc"

// Settings is the threefc section of the configuration.
type Settings struct {
	app.Place
	Origins []string `yaml:"origins"` // web origins that may call with the session cookie
}

// Problems implements app.Settings.
func (s *Settings) Problems() []app.Problem {
	out := s.Place.Problems()
	if i := slices.IndexFunc(s.Origins, func(o string) bool { return o == "*" || !httpapi.ValidOrigin(o) }); i >= 0 {
		out = append(out, app.Problem{Key: "origins", Text: fmt.Sprintf("must be origins such as https://app.example, not %q", s.Origins[i])})
	}
	return out
}

// New returns the application with its default settings.
func New() *app.App {
	s := &Settings{Place: app.Place{Mount: "/3fc", Table: "3fc-prod-app"}}
	return &app.App{
		Name: name, Title: "3FC", Settings: s, Commands: commands,
		Schema: func() migrations.Schema { return app.OneTable(threefc.Table(s.Table)) },
		Cloud: func() app.Cloud {
			rules := &threefc.Service{Handle: threefc.Rows(s.Table)}
			return app.Cloud{
				Reads: []app.Read{
					{Table: s.Table, Every: app.Live, Partitions: rules.Open},
					{Table: s.Table, Every: app.Slow, Partitions: rules.Rest},
					{Table: s.Table, Every: app.Seldom}, // leagues not requested on this node
				},
				Merge:  map[string]conflict.MergeFunc{s.Table: app.Merge(rules.Merge)},
				Secret: map[string]conflict.SecretFunc{s.Table: rules.Secret},
			}
		},
		Open: func(_ context.Context, h *app.Host) (*app.Instance, error) { return open(s, h) },
	}
}

func open(s *Settings, h *app.Host) (*app.Instance, error) {
	service := &threefc.Service{Handle: threefc.Rows(s.Table)}
	scorers := presence.NewBoard(h.Clock)
	c := web.Config{
		Service: service, Mount: s.Mount, Version: h.Version, PublicURL: h.PublicURL, Origins: s.Origins, Node: h.Store.Node(), Read: h.Store.ViewShared,
		Scorers: scorers,
	}
	if h.Sync != nil {
		c.Ensure = h.Sync.Ensure
	}
	if h.Mail != nil {
		c.Queue = func(tx *store.Tx, m threefc.Mail) error {
			cause := mail.ByUser
			if m.SignIn {
				cause = mail.SignIn
			}
			return h.Mail.Queue(tx, mail.Message{
				To: m.To, Subject: m.Subject, Text: m.Text, Until: m.Until, Cause: cause, Client: m.Client, Group: m.League,
			})
		}
	}
	api, err := web.New(c)
	return &app.Instance{
		API: api, Started: []any{"table", s.Table}, Commands: adminCommands(service, h.Store),
		Loops:     []func(context.Context) error{func(ctx context.Context) error { return follow(ctx, scorers, service, h.Store) }},
		Derives:   []*derived.Rule{service.DerivedRule()},
		Consumers: []app.Consumer{{Name: "export", Tables: []string{s.Table}, Take: service.ConsumeRecords, Anew: service.ConsumeTable}},
	}, err
}

// follow tells the board of scorers of games that end, and of goals that come later.
func follow(ctx context.Context, scorers *presence.Board, service *threefc.Service, s *store.Store) error {
	return scorers.Follow(ctx, s, func(r *store.Record) presence.Change {
		c := service.ScoringOf(r)
		return presence.Change{Game: c.Game, Entry: c.Goal, Ended: c.Ended, On: c.On}
	})
}
