package operator

import (
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/store"
)

// NodeStatus is how the node is doing: its own part of the answer of /statusz, and of the operator's strip of pages.
type NodeStatus struct {
	Version       string           `json:"version"`
	UptimeSeconds float64          `json:"uptimeSeconds"`
	Cloud         CloudStatus      `json:"cloud"`
	Journal       JournalStatus    `json:"journal"`
	Commits       CommitStatus     `json:"commits"`
	Chores        ChoreStatus      `json:"chores"`
	Disk          *store.DiskState `json:"disk,omitempty"`     // nil: not known
	DynamoDB      *EndpointStatus  `json:"dynamodb,omitempty"` // nil: the node has no such endpoint
	MemoryBytes   int64            `json:"memoryBytes"`        // resident
	Goroutines    int              `json:"goroutines"`
	Streams       int              `json:"streams"` // SSE clients; filled in by httpapi
	Clock         ClockStatus      `json:"clock"`
	Certificate   *certs.State     `json:"certificate,omitempty"` // nil: plain HTTP
	Mail          *mail.Status     `json:"mail,omitempty"`        // nil: the node sends none
}

// CloudStatus is how far the node is in step with the cloud.
type CloudStatus struct {
	State     string    `json:"state"`               // none, in_step, behind, offline, stopped
	Since     time.Time `json:"since,omitzero"`      // of behind, offline and stopped
	Waiting   int       `json:"waiting"`             // writes that the cloud does not have yet
	Conflicts int       `json:"conflicts,omitempty"` // records that somebody should look at
	LastError string    `json:"lastError,omitempty"` // without secrets
	Alarms    []string  `json:"alarms,omitempty"`    // in plain words: a person has to act
}

// JournalStatus is the range of sequence numbers in the journal.
type JournalStatus struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// CommitStatus is how the store's commits go.
type CommitStatus struct {
	LastMillis float64 `json:"lastMillis"`
	Members    float64 `json:"members"` // writes that share one commit, on average
	Refused    uint64  `json:"refused"` // for lack of room, since the start

	Warning string `json:"warning,omitempty"` // what a person should look at: there is no room
}

// ChoreStatus is what the store does that nobody waits for.
type ChoreStatus struct {
	Swept    uint64                `json:"swept"`              // items deleted because their time was over, since the start
	Filling  []store.IndexProgress `json:"filling,omitempty"`  // indexes that cannot be read yet
	Dropping []store.DropProgress  `json:"dropping,omitempty"` // what is left of dropped tables and indexes

	Verify VerifyStatus `json:"verify"`
}

// VerifyStatus is what the daily pass over all items has found.
type VerifyStatus struct {
	Running bool      `json:"running"`
	Ended   time.Time `json:"ended,omitzero"`    // of the last whole pass since the start
	Items   uint64    `json:"items"`             // in that pass
	Damaged uint64    `json:"damaged"`           // items, index entries and journal records that are not what was written
	Where   []string  `json:"where,omitempty"`   // of these: table, table/index or journal
	Refused uint64    `json:"refused,omitempty"` // requests that met a damaged item, since the start
}

// EndpointStatus is what the DynamoDB endpoint has answered since the start.
type EndpointStatus struct {
	Listen   string                   `json:"listen"`
	Requests []dynamoapi.RequestCount `json:"requests"`         // by operation and outcome, sorted
	Faults   []inject.Status          `json:"faults,omitempty"` // on demand, by rule
}

// ClockStatus is the node's notion of time.
type ClockStatus struct {
	Speed string    `json:"speed"` // real, max, or a factor: 30x
	Now   time.Time `json:"now"`
}
