package operator

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/lease"
)

// NodeStatus is the node's own part of /statusz.
type NodeStatus struct {
	Version       string             `json:"version"`
	UptimeSeconds float64            `json:"uptimeSeconds"`
	Cloud         CloudStatus        `json:"cloud"`
	Journal       store.JournalStats `json:"journal"`
	Commits       store.CommitStats  `json:"commits"`
	Chores        store.ChoreStats   `json:"chores"`
	Disk          *store.DiskState   `json:"disk,omitempty"`     // nil: unknown
	Damages       []store.Damage     `json:"damages,omitempty"`  // of the database's first pages, of which nobody has read yet
	DynamoDB      *EndpointStatus    `json:"dynamodb,omitempty"` // nil: no endpoint
	MemoryBytes   int64              `json:"memoryBytes"`        // resident
	Goroutines    int                `json:"goroutines"`
	Streams       int                `json:"streams"` // SSE clients; filled in by httpapi
	Clock         ClockStatus        `json:"clock"`
	Certificate   *certs.State       `json:"certificate,omitempty"` // nil: plain HTTP
	Mail          *MailStatus        `json:"mail,omitempty"`        // nil: no mail
	FallenLocks   []FallenLocks      `json:"fallenLocks,omitempty"` // locks tables that went back
	LeftOut       LeftOut            `json:"leftOut"`
}

// MailStatus is the state of a node's outgoing mail.
type MailStatus struct {
	Waiting int       `json:"waiting"`
	GivenUp int       `json:"givenUp"`                  // in the last 24 hours
	LastAt  time.Time `json:"lastGivenUpAt,omitzero"`   // when the last one was given up; zero: never
	LastWhy string    `json:"lastGivenUpWhy,omitempty"` // without addresses
	UsedUp  []string  `json:"usedUp,omitempty"`         // causes that have sent all messages of the hour
}

// FallenLocks is a table of which records went back to an earlier state within the last day.
type FallenLocks struct {
	Table string         `json:"table"`
	Locks []lease.Fallen `json:"locks"` // sorted by key; not empty
}

// Words says what happened, and what to do.
func (f *FallenLocks) Words(now time.Time) string {
	first, which := f.Locks[0].At, f.Locks[0].Key
	for _, l := range f.Locks {
		if l.At.Before(first) {
			first = l.At
		}
	}
	if more := len(f.Locks) - 1; more > 0 {
		which += " and " + Count(more, "other lock")
	}
	return fmt.Sprintf("The locks table %s went back to an earlier state: %s, first seen at %s. Nothing is lost: the next holder of a lock ranks above "+
		"all earlier ones, and late writes of former holders are refused. If somebody restored the table, no action is needed. Otherwise find out what "+
		"else writes to it.", f.Table, which, Clock(first, now))
}

// CloudStatus is the state of the replication with the cloud.
type CloudStatus struct {
	State     string    `json:"state"`               // none, in_step, behind, offline, stopped
	Since     time.Time `json:"since,omitzero"`      // for behind, offline and stopped
	Waiting   int       `json:"waiting"`             // writes that the cloud does not have yet
	Conflicts int       `json:"conflicts,omitempty"` // conflicts that need a decision
	LastError string    `json:"lastError,omitempty"` // without secrets
	Alarms    []string  `json:"alarms,omitempty"`    // what needs an operator, in plain words
	SendsOnly []string  `json:"sendsOnly,omitempty"` // tables that are sent to the cloud but not read from it
}

// EndpointStatus is the state of the DynamoDB endpoint.
type EndpointStatus struct {
	Listen string          `json:"listen"`
	Faults []inject.Status `json:"faults,omitempty"` // injected faults, by rule
}

// ClockStatus is the state of the node's clock.
type ClockStatus struct {
	Speed string    `json:"speed"` // real, max, or a factor: 30x
	Now   time.Time `json:"now"`
}
