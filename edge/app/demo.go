package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
)

// Demo shows an application with invented data, alone or beside others: on a node of this machine, without a cloud and with an
// empty store at each start, at which the demo's users sign in with a button each. Its data are of the time at which it is started.
type Demo struct {
	App         *App
	Short, Long string // of its command
	Users       []devlogin.User
	// Fill has data there before the node serves, when the application is open, and says where to begin; nil: the tables are empty.
	Fill func(ctx context.Context, h *Host) ([]page.Tile, error)
	// Live is what goes on while the node runs, until it is over or ctx ends; nil: nothing.
	Live func(ctx context.Context, h *Host) error
	// Told sums up what has gone on, when Live is over, for a demo that ends then (--once); nil: this one goes on.
	Told func(ctx context.Context, h *Host) (string, error)
	// Alone is its command by itself, where that is another than the node's; nil: the node's.
	Alone *cobra.Command
}

// demoNames are the people of all demos; nobody real is meant.
const demoNames = "Ada Bram Chidi Dora Emre Fern Goro Hana Ines Jodi Kofi Lena"

// DemoUsers are the first n of twelve people, who are the same in each demo. The first is an admin.
func DemoUsers(n int) []devlogin.User {
	return devlogin.Invented(auth.DefaultAdminGroup, demoNames)[:n]
}
