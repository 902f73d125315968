package pickemapp

import (
	"context"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/edge/pickem"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/store"
)

// demoOpens is how long the demo's event can be picked.
const demoOpens = 70 * time.Minute

// commands are the application's: its demo.
func commands(sh *app.Shell) app.Commands {
	a := New()
	set := a.Settings.(*Settings)
	users := []devlogin.User{
		{Subject: "demo-asha", Name: "Asha"}, {Subject: "demo-ben", Name: "Ben"},
		{Subject: "demo-olga", Name: "Olga, an admin", Groups: []string{auth.DefaultAdminGroup}},
	}
	demo := node.Demo{
		App: a, Short: "Predict the winners of a card on a node of this machine",
		Long:  "Predict the winners of a card on a node of this machine, and lock, score and rank them as an admin. No cloud, no account.",
		Users: users,
		Fill: func(ctx context.Context, h *app.Host) error {
			return h.Store.Update(ctx, func(tx *store.Tx) error {
				return fillDemo(tx, &pickem.Service{Table: set.Table, Index: set.Index}, users)
			})
		},
	}
	return app.Commands{Demo: demo.Command(sh.Version)}
}

// fillDemo invites the users, and makes an event that starts soon.
func fillDemo(tx *store.Tx, s *pickem.Service, users []devlogin.User) error {
	for _, u := range users {
		if _, err := s.Invite(tx, u.Subject, u.Name); err != nil {
			return err
		}
	}
	at := tx.Now().UTC().Add(demoOpens).Truncate(time.Minute)
	card, err := s.CreateEvent(tx, pickem.NewEvent{Date: at.Format(pickem.Day), Name: "Demo Night", StartsAt: at})
	if err != nil {
		return err
	}
	for _, m := range []pickem.Match{
		{Name: "Tag teams", Points: 1, Preshow: true, Teams: []pickem.Team{{Name: "The Red Corner", Members: []string{"Ash", "Rowan"}}, {Name: "The Blue Corner", Members: []string{"Kit", "Sasha"}}}},
		{Name: "Main event", Points: 3, Teams: []pickem.Team{{Members: []string{"Robin"}, Champion: true}, {Members: []string{"Charlie"}}, {Members: []string{"Alex"}}}},
	} {
		if _, err := s.AddMatch(tx, card.ID, m); err != nil {
			return err
		}
	}
	return nil
}
