package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/httpapi/devlogin"
	"github.com/touchline/touchline/httpapi/page"
)

// Demo shows an application with invented data, alone or beside others. It runs on a local node without a cloud, whose store is empty
// at each start. Each of the demo's users signs in with a button. Timestamps are relative to the start of the demo.
type Demo struct {
	App         *App
	Short, Long string // help texts of its command
	Users       []devlogin.User
	// Fill writes the demo's data after the application is opened and before the node serves. It returns tiles that suggest where to
	// start. nil: the tables start empty.
	Fill func(ctx context.Context, h *Host) ([]page.Tile, error)
	// Live adds data while the node runs, and returns when it is done or ctx ends. nil: nothing is added.
	Live func(ctx context.Context, h *Host) error
	// Told returns the summary of a demo that ends when Live is done (--once). nil: the demo does not end.
	Told func(ctx context.Context, h *Host) (string, error)
	// Alone replaces `touchline demo NAME`, which otherwise runs the application on the common demo node. nil: it does not.
	Alone *cobra.Command
}

// demoNames are the invented people of all demos.
const demoNames = "Ada Bram Chidi Dora Emre Fern Goro Hana Ines Jodi Kofi Lena"

// DemoUsers returns the first n of twelve people, the same in each demo. The first is an admin.
func DemoUsers(n int) []devlogin.User {
	return devlogin.InventUsers(auth.DefaultAdminGroup, demoNames)[:n]
}
