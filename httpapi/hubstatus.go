package httpapi

import "time"

// HubHealth is what the node knows of its feed and its pushes beyond the store.
type HubHealth struct {
	Feed  FeedHealth       `json:"feed"`
	Push  PushHealth       `json:"push"`
	Match map[string]Owner `json:"-"` // by match id
}

// Owner is the lease under which this node works on a match.
type Owner struct {
	Fence    int64     `json:"fence"` // 0: another node does
	Deadline time.Time `json:"deadline,omitzero"`
}

// FeedHealth is how the polling goes.
type FeedHealth struct {
	Configured bool         `json:"configured"`
	Polls      int64        `json:"polls"`
	Unchanged  int64        `json:"unchanged"`
	Failed     int64        `json:"failed"`
	LastAt     time.Time    `json:"lastAt,omitzero"` // of the last good answer
	LastError  string       `json:"lastError,omitempty"`
	Breaker    string       `json:"breaker,omitempty"` // closed, half-open, open
	Budget     []FeedBudget `json:"budget"`
}

// FeedBudget is what is left of an endpoint's calls this hour.
type FeedBudget struct {
	Endpoint string    `json:"endpoint"`
	Used     int       `json:"used"`
	Limit    int       `json:"limit"`
	ResetAt  time.Time `json:"resetAt,omitzero"`
}

// PushHealth counts the pushes of the matches that are on.
type PushHealth struct {
	Configured bool             `json:"configured"`
	Sent       int64            `json:"sent"`
	Accepted   int64            `json:"accepted"`
	Refused    int64            `json:"refused"`
	Alerts     int64            `json:"alerts"`
	Reasons    map[string]int64 `json:"reasons,omitempty"` // refusals by Apple's reason
	Held       string           `json:"held,omitempty"`    // why nothing is sent now
}

// AppInfo is what an app asks about itself when it starts.
type AppInfo struct {
	MinVersion  string
	StoreURL    string
	Maintenance bool
}
