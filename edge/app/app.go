// Package app is the contract between a node and the applications that run in it. An application is one value, an App; opened in a node
// it is an Instance. There is no registry and no plug-in mechanism: package edge lists the applications, and nothing else in the tree
// knows one by name.
//
// The node provides the store, time, the cloud, leases and the server. The application provides tables, rules, routes and pages.
// Neither sees the inside of the other:
//
//	edge -> the application's builder -> { edge/app, httpapi/<application>, edge/<application> } -> { httpapi, store }
package app

import (
	"context"

	"github.com/touchline/touchline/httpapi"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/migrations"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// App describes an application before a node opens it.
type App struct {
	Name  string // of its configuration section and its commands: "counter"
	Title string // shown to people: "Sightscreen"

	// Settings is the application's configuration section. It holds the defaults until file, environment and flags change it, before
	// Open.
	Settings Settings
	// Default runs the application even if the configuration has no section for it.
	Default bool

	// Schema returns what the application stores, Cloud what it shares with other nodes. Both are called after Settings has been read,
	// because settings may rename tables, and before Open. They compute a value and change nothing.
	Schema func() migrations.Schema
	Cloud  func() Cloud

	// Commands returns the application's commands. nil: it has none.
	Commands func(sh *Shell) Commands
	// Flags are boolean flags of `touchline serve`. Each sets a key of the section to true.
	Flags []Flag

	// Open builds the application on the node's open store. It starts nothing; Instance.Loops does that.
	Open func(ctx context.Context, h *Host) (*Instance, error)
}

// OneTable returns the schema of an application that stores everything in one table.
func OneTable(t store.TableSpec) migrations.Schema {
	return migrations.Schema{Tables: []store.TableSpec{t}}
}

// Flag is a boolean flag of `touchline serve`.
type Flag struct{ Name, Key, Usage string }

// Cloud describes what an application shares with other nodes. All of it is fixed before the store is opened.
type Cloud struct {
	// Locks is the application's lease table. Empty: LocksTable, which the other applications share.
	Locks string
	// Reads lists the tables and partitions in which the node looks for writes of other nodes and programs.
	Reads []Read
	// Merge holds, by table, the function that resolves a refused write, so that nobody has to decide it by hand.
	Merge map[string]conflict.MergeFunc
	// SendBy holds, by table, the deadline for the first send of a write. The cloud decides about writes that reach it in time. A write
	// that this node could not send in time becomes a conflict here.
	SendBy map[string]replica.SendBy
	// Secret holds, by table, a function that reports whether an item's values are currently for its owner only. Conflicts then hide
	// them, even from admins.
	Secret map[string]conflict.SecretFunc
	// Before returns the rows that the node must have read from the cloud before it acts under a lock that it has just acquired.
	Before func(lock string) []replica.Rows
}

// Pace is how often the node polls a table or partition.
type Pace uint8

// The polling paces. Operators configure the intervals of Slow and Live.
const (
	Slow   Pace = iota // small tables, read whole (cloud.poll.tables)
	Live               // data under locks that this node holds (cloud.poll.live)
	Seldom             // large tables that change little: every 15 minutes
	Minute             // a large table while all of it changes: every minute
)

// Read is a table, or a part of one, that the node polls.
type Read struct {
	Table string
	Every Pace
	// Partitions returns the partitions to read, given the locks that this node holds. The whole table is read if Partitions is nil or
	// returns an absent value.
	Partitions func(tx *store.Tx, held []string) ([]attr.Value, error)
}

// Instance is an application opened in a node.
type Instance struct {
	// API is what the application serves over HTTP. The node fills in Name, Title and Mount.
	API httpapi.App
	// Loops run until their context ends. All of them have joined the clock before the first one starts.
	Loops []func(ctx context.Context) error
	// Consumers read the journal, each at its own position.
	Consumers []Consumer
	// Derives are the rows that the application computes from facts, for other readers of its tables. The node derives them whenever
	// their facts change, and only once their sources were read whole.
	Derives []*derived.Rule
	// Started holds log attributes for the line "serving", such as the application's data source.
	Started []any
	// Commands are the application's commands on the admin socket.
	Commands []admin.Command
	// Close releases what outlives the loops. It is called after they have ended, while the store is still open.
	Close func()
}

// Consumer receives the journal records of some tables in order, including those that came from the cloud. If it fails, its position
// stays: the node logs the error and retries, and nothing else waits for it. A record at which it fails again and again is left out, named
// on the Status page, and tried again later.
type Consumer struct {
	Name   string // unique within the application; must never change
	Tables []string
	// Take handles records. Its writes commit together with the consumer's position, so they happen exactly once. If it writes nothing,
	// it may receive the same records again after a restart. Work that grows with the data is done in slices of at most table.Slice writes:
	// table.ErrMore commits one, and Take is called again with the same records.
	Take func(tx *store.Tx, records []store.Record) error
	// Anew processes the whole current state: at the very first start, and when the journal has been trimmed past the consumer's
	// position. It too may return table.ErrMore.
	Anew func(tx *store.Tx) error
}
