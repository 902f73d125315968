package scorekeeperapp

import (
	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
)

// commands are the application's: its demo.
func commands(sh *app.Shell) app.Commands {
	demo := node.Demo{
		App: New(), Short: "Play the word puzzle on a node of this machine",
		Long: "Play the word puzzle on a node of this machine, as a guest or as one of the demo's users. No cloud, no account.",
		Users: []devlogin.User{
			{Subject: "demo-asha", Name: "Asha"}, {Subject: "demo-ben", Name: "Ben"},
			{Subject: "demo-olga", Name: "Olga, an admin", Groups: []string{auth.DefaultAdminGroup}},
		},
	}
	return app.Commands{Demo: demo.Command(sh.Version)}
}
