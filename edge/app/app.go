// Package app is the contract between a node and the applications that run in it. An application is one value, an App; once
// its node is open it is one more, an Instance. There is no registry and no plug-in: package edge lists the applications, and
// nothing else in the tree knows one by its name.
//
// The node brings the store, time, the cloud, leases and the server. The application brings tables, rules, routes and pages.
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
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// App is an application as it is before a node is opened.
type App struct {
	Name  string // of its section in the configuration, and of its commands: "counter"
	Title string // for people: "Sightscreen"

	// Settings is the application's section with its defaults, changed by file, environment and flags before Open.
	Settings Settings
	// Default runs the application on a node whose configuration has no section of any application.
	Default bool

	// Schema returns what the application stores, Cloud what it shares with other nodes. Both are called after Settings have
	// been read, which may set names of tables.
	Schema func() migrations.Schema
	Cloud  func() Cloud

	// Commands returns the application's commands; nil: it has none.
	Commands func(sh *Shell) Commands
	// Flags are switches of `touchline serve`, each of which sets a key of the section to true.
	Flags []Flag

	// Open puts the application together over the node's open store. It starts nothing: that is for Instance.Loops.
	Open func(ctx context.Context, h *Host) (*Instance, error)
}

// Flag is a switch of `touchline serve`.
type Flag struct{ Name, Key, Usage string }

// Cloud is what an application shares with other nodes. All of it is known before the store is opened.
type Cloud struct {
	// Locks is the table of the application's leases; empty: LocksTable, which all other applications share.
	Locks string
	// Reads lists what the node reads of other nodes' and programs' writes.
	Reads []Read
	// Merge holds, by table, the function that decides about a refused write in place of a person.
	Merge map[string]conflict.MergeFunc
	// SendBy holds, by table, the deadline for the first send of a write. Writes that reach the cloud in time are decided
	// there; a write that this node could not send in time is a conflict here.
	SendBy map[string]replica.SendBy
	// Secret holds, by table, a function that reports whether an item's values are for its owner only at the moment: conflicts
	// then hide them, even from admins.
	Secret map[string]conflict.SecretFunc
	// Before returns what the node must have read from the cloud before it works under a lock that it has just taken.
	Before func(lock string) []Rows
}

// Rows names items by a key: one item, or a whole partition if the key has no sort attribute.
type Rows struct {
	Table string
	Key   attr.Item
}

// Pace is how often something is read from the cloud.
type Pace uint8

// The paces. An operator can set the times of Slow and Live.
const (
	Slow   Pace = iota // small tables, as a whole (cloud.poll.tables)
	Live               // what belongs to the locks that this node holds (cloud.poll.live)
	Seldom             // large tables of which little changes: every 15 minutes
	Minute             // a large table in the hours when all of it changes: every minute
)

// Read is a part of a table that the node reads from the cloud.
type Read struct {
	Table string
	Every Pace
	// Partitions returns the partitions to read, given the locks that this node holds. If it is nil, or returns an absent
	// value, the whole table is read.
	Partitions func(tx *store.Tx, held []string) ([]attr.Value, error)
}

// Instance is an application in an open node.
type Instance struct {
	// API is what the application serves over HTTP. The node fills in Name, Title and Mount.
	API httpapi.App
	// Loops run until their context ends. All of them join the clock before the first one starts.
	Loops []func(ctx context.Context) error
	// Consumers read the journal, each from its own position.
	Consumers []Consumer
	// Started are log attributes for the line "serving": what the application works with.
	Started []any
	// Commands are what the operator can ask of the application over the admin socket.
	Commands []admin.Command
	// Close releases what outlives the loops. It is called when they have ended, while the store is still open.
	Close func()
}

// Consumer is given the journal's records of some tables in order, those that came from the cloud too. After an error its
// position stays: the node logs the error and tries again, and nothing else waits for it.
type Consumer struct {
	Name   string // unique within the application; it stays what it is
	Tables []string
	// Take handles records. What it writes is committed together with the consumer's position, so it happens once. If it
	// writes nothing, it may be given the same records again after a restart.
	Take func(tx *store.Tx, records []store.Record) error
	// Anew handles the whole present state: at the very first start, and when the journal no longer has the records after the
	// consumer's position.
	Anew func(tx *store.Tx) error
}
