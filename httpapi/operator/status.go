package operator

import (
	"time"

	"github.com/touchline/touchline/edge/mail"
	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/internal/certs"
	"github.com/touchline/touchline/store"
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
	DynamoDB      *EndpointStatus    `json:"dynamodb,omitempty"` // nil: no endpoint
	MemoryBytes   int64              `json:"memoryBytes"`        // resident
	Goroutines    int                `json:"goroutines"`
	Streams       int                `json:"streams"` // SSE clients; filled in by httpapi
	Clock         ClockStatus        `json:"clock"`
	Certificate   *certs.State       `json:"certificate,omitempty"` // nil: plain HTTP
	Mail          *mail.Status       `json:"mail,omitempty"`        // nil: no mail
}

// CloudStatus is the state of the replication with the cloud.
type CloudStatus struct {
	State     string    `json:"state"`               // none, in_step, behind, offline, stopped
	Since     time.Time `json:"since,omitzero"`      // for behind, offline and stopped
	Waiting   int       `json:"waiting"`             // writes that the cloud does not have yet
	Conflicts int       `json:"conflicts,omitempty"` // conflicts that need a decision
	LastError string    `json:"lastError,omitempty"` // without secrets
	Alarms    []string  `json:"alarms,omitempty"`    // what needs an operator, in plain words
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
