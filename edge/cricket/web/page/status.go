package page

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/lease"
)

// NodeStatus is the node's status, and what it does for this application: the operator's strip of the pages.
type NodeStatus struct {
	operator.NodeStatus
	Status
}

// Status is this application's part of /statusz.
type Status struct {
	Role   string       `json:"role"`  // leader or observer; empty if no match is on
	Lease  lease.Status `json:"lease"` // this node's lease
	Feed   FeedStatus   `json:"feed"`
	Pushes PushStatus   `json:"pushes"`
}

// FeedStatus is the state of polling the live feed.
type FeedStatus struct {
	Configured bool `json:"configured"` // there is a feed
	poll.Status
	LastAnswer string     `json:"lastAnswer"`       // "200", "304", or the reason of a failure
	LastAt     time.Time  `json:"lastAt,omitzero"`  // of the last good answer about a match in play
	AgeSeconds float64    `json:"ageSeconds"`       // since then, by the node's clock
	Torn       int        `json:"torn"`             // matches whose score and balls disagree in the last snapshots
	Alarms     []string   `json:"alarms,omitempty"` // endpoints that refuse the token, with the reason
	FailedJobs []string   `json:"failedJobs,omitempty"`
	Reads      []FeedRead `json:"reads,omitempty"` // how this node reads its matches
}

// FeedRead is the endpoint from which a match is read.
type FeedRead struct {
	MatchID  string    `json:"matchId"`
	Endpoint string    `json:"endpoint"`        // livescores, or fixtures/{id} for a single match
	NextAt   time.Time `json:"nextAt,omitzero"` // absent: on news
}

// PushStatus counts pushes and their answers.
type PushStatus struct {
	Configured bool `json:"configured"` // there is a push key
	push.Counts
	PerMinute float64   `json:"perMinute"`
	Paused    time.Time `json:"pausedUntil,omitzero"` // no pushes before then
	Circuit   string    `json:"circuit,omitempty"`    // of the connection to Apple: closed, half-open or open
	Alarms    []string  `json:"alarms,omitempty"`     // answers of Apple's that need an operator
}
