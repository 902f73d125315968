package store

import (
	"github.com/touchline/touchline/store/internal/backup"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/check"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Options configures how a store is opened. The zero value is good for a node.
type Options = file.Options

// Damage is what Open found wrong with the file's first pages.
type Damage = file.Damage

// DefaultSweep is the default of Options.SweepEvery. DynamoDB deletes expired items within days.
const DefaultSweep = file.DefaultSweep

// TableSpec and the types around it declare tables.
type (
	TableSpec  = catalogue.TableSpec
	KeySpec    = catalogue.KeySpec
	KeyAttr    = catalogue.KeyAttr
	KeyType    = catalogue.KeyType
	IndexSpec  = catalogue.IndexSpec
	Projection = catalogue.Projection
	Policy     = catalogue.Policy

	TableSettings = catalogue.TableSettings
	Throughput    = catalogue.Throughput
	StreamView    = catalogue.StreamView
	Stream        = catalogue.Stream
	TableStream   = catalogue.TableStream
	TableChange   = catalogue.TableChange

	TableDescription = catalogue.TableDescription
	IndexDescription = catalogue.IndexDescription
	IndexStatus      = catalogue.IndexStatus
)

// The three types of a key attribute.
const (
	KeyString = catalogue.KeyString
	KeyNumber = catalogue.KeyNumber
	KeyBinary = catalogue.KeyBinary
)

// DynamoDB's projection types.
const (
	ProjectAll      = catalogue.ProjectAll
	ProjectKeysOnly = catalogue.ProjectKeysOnly
	ProjectInclude  = catalogue.ProjectInclude
)

// The replication policies.
const (
	PolicyIntent = catalogue.PolicyIntent
	PolicyNewest = catalogue.PolicyNewest
	PolicyState  = catalogue.PolicyState
	PolicyLocal  = catalogue.PolicyLocal
	PolicyLock   = catalogue.PolicyLock
)

// Billing modes, stream views, the retention of stream records, and index states.
const (
	BillingProvisioned = catalogue.BillingProvisioned
	BillingOnDemand    = catalogue.BillingOnDemand

	ViewKeys = catalogue.ViewKeys
	ViewNew  = catalogue.ViewNew
	ViewOld  = catalogue.ViewOld
	ViewBoth = catalogue.ViewBoth

	StreamAge = catalogue.StreamAge

	IndexActive   = catalogue.IndexActive
	IndexCreating = catalogue.IndexCreating
)

// Op and the types around it describe the journal.
type (
	Op           = format.Op
	Record       = format.Record
	Request      = format.Request
	JournalQuery = txn.JournalQuery
	JournalPage  = txn.JournalPage
)

// The operations in journal records, and the origins of records that no application wrote.
const (
	OpPut    = format.OpPut
	OpUpdate = format.OpUpdate
	OpDelete = format.OpDelete

	OriginCloud = txn.OriginCloud
	OriginTTL   = txn.OriginTTL
)

// Side is a key-value space beside the tables.
type Side = txn.Side

// Stats and the types around it describe a store, its maintenance and its file.
type (
	Stats        = txn.Stats
	JournalStats = txn.JournalStats
	CommitStats  = txn.CommitStats
	ChoreStats   = txn.ChoreStats
	ScrubStats   = txn.ScrubStats
	LongTurn     = txn.LongTurn

	IndexProgress = txn.IndexProgress
	Dropped       = txn.Dropped

	Problem        = check.Problem
	BackupInfo     = backup.Info
	RestoreOptions = backup.RestoreOptions
	RestoreInfo    = backup.RestoreInfo
	CompactInfo    = file.CompactInfo
)

// NewKeySpec returns a key made of the given attributes. It takes the first four of each part.
func NewKeySpec(partition, sort []KeyAttr) KeySpec { return catalogue.NewKeySpec(partition, sort) }
