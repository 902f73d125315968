package store

import (
	"github.com/touchline/touchline/store/internal/backup"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/check"
	"github.com/touchline/touchline/store/internal/count"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/txn"
)

// Options say how a store is opened. The zero value is good for a node.
type Options = file.Options

// DefaultSweep is Options.SweepEvery where nothing is said. DynamoDB deletes within days.
const DefaultSweep = file.DefaultSweep

// TableSpec and the types behind it are what tables are made of.
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

// The three types a key may have.
const (
	KeyString = catalogue.KeyString
	KeyNumber = catalogue.KeyNumber
	KeyBinary = catalogue.KeyBinary
)

// The projections of DynamoDB.
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

// Billing modes, the views of a stream, how long its records stay, and the states of an index.
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

// Op and the types behind it are of the journal.
type (
	Op           = format.Op
	Record       = format.Record
	Request      = format.Request
	JournalQuery = txn.JournalQuery
	JournalPage  = txn.JournalPage
)

// The operations of the journal, and the origins of records that are not of an application.
const (
	OpPut    = format.OpPut
	OpUpdate = format.OpUpdate
	OpDelete = format.OpDelete

	OriginCloud = txn.OriginCloud
	OriginTTL   = txn.OriginTTL
)

// Side is a space of keys and values beside the tables.
type Side = txn.Side

// Stats and the types behind it are what is told of a store, of its upkeep, and of its file.
type (
	Stats        = txn.Stats
	JournalStats = txn.JournalStats
	CommitStats  = txn.CommitStats
	ChoreStats   = txn.ChoreStats
	ScrubStats   = txn.ScrubStats
	LongTurn     = txn.LongTurn

	IndexProgress = txn.IndexProgress
	DropProgress  = txn.DropProgress
	Counts        = count.Counts
	IndexCounts   = count.IndexCounts

	Problem        = check.Problem
	BackupInfo     = backup.Info
	RestoreOptions = backup.RestoreOptions
	RestoreInfo    = backup.RestoreInfo
	CompactInfo    = file.CompactInfo
)

// NewKeySpec makes a key of its attributes. Of each part it takes the first four.
func NewKeySpec(partition, sort []KeyAttr) KeySpec { return catalogue.NewKeySpec(partition, sort) }
