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
	Version       string             `json:"version"`
	UptimeSeconds float64            `json:"uptimeSeconds"`
	Cloud         CloudStatus        `json:"cloud"`
	Journal       store.JournalStats `json:"journal"`
	Commits       store.CommitStats  `json:"commits"`
	Chores        store.ChoreStats   `json:"chores"`
	Disk          *store.DiskState   `json:"disk,omitempty"`     // nil: not known
	DynamoDB      *EndpointStatus    `json:"dynamodb,omitempty"` // nil: the node has no such endpoint
	MemoryBytes   int64              `json:"memoryBytes"`        // resident
	Goroutines    int                `json:"goroutines"`
	Streams       int                `json:"streams"` // SSE clients; filled in by httpapi
	Clock         ClockStatus        `json:"clock"`
	Certificate   *certs.State       `json:"certificate,omitempty"` // nil: plain HTTP
	Mail          *mail.Status       `json:"mail,omitempty"`        // nil: the node sends none
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
