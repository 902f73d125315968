package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
)

// Demo shows an application with invented data, alone or beside others: on a node on this machine, without a cloud and with an
// empty store at each start, at which the demo's users sign in with a button each. Its data are of the time at which it is started.
type Demo struct {
	App         *App
	Short, Long string // of its command
	Users       []devlogin.User
	// Fill writes the demo's data after the application is opened and before the node serves. It returns tiles that say where
	// to begin; nil: the tables start empty.
	Fill func(ctx context.Context, h *Host) ([]page.Tile, error)
	// Live adds data while the node runs, until it is done or ctx ends; nil: nothing is added.
	Live func(ctx context.Context, h *Host) error
	// Told returns a summary for a demo that ends when Live is done (--once); nil: the demo does not end.
	Told func(ctx context.Context, h *Host) (string, error)
	// Alone is the command `touchline demo NAME`, if it differs from the one that runs the application on the common demo
	// node; nil: it does not.
	Alone *cobra.Command
}

// demoNames are the people of all demos; nobody real is meant.
const demoNames = "Ada Bram Chidi Dora Emre Fern Goro Hana Ines Jodi Kofi Lena"

// DemoUsers are the first n of twelve people, who are the same in each demo. The first is an admin.
func DemoUsers(n int) []devlogin.User {
	return devlogin.Invented(auth.DefaultAdminGroup, demoNames)[:n]
}
