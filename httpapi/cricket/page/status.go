package page

import (
	"time"

	"github.com/touchline/touchline/edge/cricket/poll"
	"github.com/touchline/touchline/edge/cricket/push"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/sync/lease"
)

// NodeStatus is how the node is doing, and what it does for this application: the operator's strip of the pages.
type NodeStatus struct {
	operator.NodeStatus
	Status
}

// Status is this application's part of /statusz.
type Status struct {
	Role   string       `json:"role"`  // leader or observer; empty while nothing is on
	Lease  lease.Status `json:"lease"` // under which the node works
	Feed   FeedStatus   `json:"feed"`
	Pushes PushStatus   `json:"pushes"`
}

// FeedStatus is how the polling of the live feed goes.
type FeedStatus struct {
	Configured bool `json:"configured"` // there is a feed to ask
	poll.Status
	LastAnswer string     `json:"lastAnswer"`       // "200", "304", or why it failed
	LastAt     time.Time  `json:"lastAt,omitzero"`  // of the last good answer about a match in play
	AgeSeconds float64    `json:"ageSeconds"`       // since then, by the node's clock
	Torn       int        `json:"torn"`             // matches whose score and balls disagree in the last readings
	Alarms     []string   `json:"alarms,omitempty"` // endpoints that refuse us, with what is wrong
	FailedJobs []string   `json:"failedJobs,omitempty"`
	Reads      []FeedRead `json:"reads,omitempty"` // what is asked about the matches that this node reads
}

// FeedRead is which endpoint of the feed is asked about a match.
type FeedRead struct {
	MatchID  string    `json:"matchId"`
	Endpoint string    `json:"endpoint"`        // livescores, or fixtures/{id} for a match by itself
	NextAt   time.Time `json:"nextAt,omitzero"` // absent: with news
}

// PushStatus counts what was sent to APNs and how it answered.
type PushStatus struct {
	Configured bool `json:"configured"` // there is a key to push with
	push.Counts
	PerMinute float64   `json:"perMinute"`
	Paused    time.Time `json:"pausedUntil,omitzero"` // nothing is sent before
	Circuit   string    `json:"circuit,omitempty"`    // of the way to Apple: closed, half-open or open
	Alarms    []string  `json:"alarms,omitempty"`     // Apple's answers that a person has to look at
}
