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
	// Default runs the application on a node whose configuration says nothing of any.
	Default bool

	// Schema is what it stores, Cloud what it shares. They are asked when Settings have been read: names of tables may be there.
	Schema func() migrations.Schema
	Cloud  func() Cloud

	// Commands are the application's; nil: it has none.
	Commands func(sh *Shell) Commands
	// Flags of `touchline serve` set a key of the section to true.
	Flags []Flag

	// Open puts the application together over the node's open store. It starts nothing: that is for Instance.Loops.
	Open func(ctx context.Context, h *Host) (*Instance, error)
}

// Flag is a switch of `touchline serve`.
type Flag struct{ Name, Key, Usage string }

// Cloud is what an application shares with other nodes. All of it is known before the store is opened.
type Cloud struct {
	// Locks is the table of its leases; empty: the node's own, LocksTable, which all other applications share.
	Locks string
	// Reads is what the node reads of what others write.
	Reads []Read
	// Merge answers in the place of a person what becomes of a refused write, by table.
	Merge map[string]conflict.MergeFunc
	// SendBy is until when a write may be sent for the first time, by table: what reaches the cloud in time is decided
	// there, and what this node could not send in time is decided here.
	SendBy map[string]replica.SendBy
	// Secret reports of an item, by table, whether its values are its owner's alone for now: then conflicts hide them even from admins.
	Secret map[string]conflict.SecretFunc
	// Before is what the node has to have read before it works under a lock that it has just taken.
	Before func(lock string) []Rows
}

// Rows are the items under a key: one, or a whole partition where the key has no sort part.
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
	// Partitions are those to read, given the locks that this node holds; nil, or an absent value: the whole table is.
	Partitions func(tx *store.Tx, held []string) ([]attr.Value, error)
}

// Instance is an application in an open node.
type Instance struct {
	// API is the application's face to HTTP. Name, title and mount are the App's.
	API httpapi.App
	// Loops run until their context ends. All of them join the clock before the first one runs.
	Loops []func(ctx context.Context) error
	// Consumers take the journal, each from where it was left.
	Consumers []Consumer
	// Started are log attributes that say what the application works with, for the line that says that the node serves.
	Started []any
	// Commands are what the operator can ask of the application over the admin socket.
	Commands []admin.Command
	// Close lets go of what works beyond the loops. They have ended; the store is still open.
	Close func()
}

// Consumer takes what the journal says of some tables, in order, also what came from the cloud. An error keeps it where it is:
// the node logs it and tries again, and nothing else waits for it.
type Consumer struct {
	Name   string // unique within the application; it stays what it is
	Tables []string
	// Take deals with records. What it writes is committed together with how far it has come: it happens once. Where it writes
	// nothing it may be given the same records after a restart.
	Take func(tx *store.Tx, records []store.Record) error
	// Anew deals with everything as it is now: at the very first start, and where the journal no longer has what comes next.
	Anew func(tx *store.Tx) error
}
