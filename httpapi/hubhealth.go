package httpapi

import "time"

// HubHealth is what the node knows of its feed, its pushes and its leases, beyond the store.
type HubHealth struct {
	Feed   FeedHealth
	Push   PushHealth
	Leases map[string]HubLease   // by match id
	Watch  map[string]HubWatched // by match id, of the matches under this node's eyes
}

// HubLease is the lease under which this node works on a match.
type HubLease struct {
	Fence    int64     `json:"fence"`
	Deadline time.Time `json:"deadline"`
}

// HubWatched is how closely this node looks at a match.
type HubWatched struct {
	Listed  bool `json:"listed"`  // the feed's live list has it
	Closely bool `json:"closely"` // its balls are asked for

	From string    `json:"from,omitempty"`  // the endpoint that is asked; empty: another node asks
	Next time.Time `json:"nextAt,omitzero"` // when it is asked next

	StandIn bool `json:"standIn"` // it is read by itself, while the live list is left alone
}

// FeedHealth is how the polling goes.
type FeedHealth struct {
	Configured bool      `json:"configured"`
	Leading    bool      `json:"leading"` // this node reads the live list
	Seat       int       `json:"seat"`    // among the nodes that read the feed, from 1; 0: none
	Nodes      []string  `json:"nodes,omitempty"`
	Observing  bool      `json:"observing"` // the locks cannot be reached: the feed is read for this node's readers alone
	Torn       int       `json:"torn"`      // matches whose score and balls disagree in the last readings
	Polls      int64     `json:"polls"`     // of the live list
	Unchanged  int64     `json:"unchanged"`
	Failed     int64     `json:"failed"`
	LastAt     time.Time `json:"lastAt,omitzero"`     // of the last good answer
	LastError  string    `json:"lastError,omitempty"` // of the last reading; empty: it was good
	Takeovers  int64     `json:"takeovers"`           // matches taken from nodes that had fallen silent
	FinalReads int64     `json:"finalReads"`          // readings for the end of a match
	Cached     int64     `json:"cached"`              // replies written to the fixture cache
	TooBig     int64     `json:"tooBig"`              // replies that had no room there
	Marquee    int64     `json:"marqueeLeague,omitempty"`

	Endpoints []EndpointHealth `json:"endpoints"`
	Jobs      []JobHealth      `json:"jobs"`
	Oddities  map[string]int64 `json:"oddities"` // what the feed sent that it should not have, or that is not known, by kind
}

// EndpointHealth is how one endpoint of the feed stands: its circuit breaker, and its calls of this hour.
type EndpointHealth struct {
	Endpoint  string    `json:"endpoint"`
	State     string    `json:"state"`           // closed, open, half-open, refused, resting, broke
	Until     time.Time `json:"until,omitzero"`  // nothing is asked before
	Alarm     string    `json:"alarm,omitempty"` // a person has to act
	AlarmAt   time.Time `json:"alarmSince,omitzero"`
	Calls     int64     `json:"calls"`
	Failed    int64     `json:"failed"`
	LastGood  time.Time `json:"lastGoodAt,omitzero"`
	LastError string    `json:"lastError,omitempty"` // of the last failure; it stays
	Used      int       `json:"used"`                // calls of this hour
	Limit     int       `json:"limit"`
	Reserve   int       `json:"reserve"` // kept for final reads
	ResetAt   time.Time `json:"resetAt,omitzero"`
}

// JobHealth is how one of the jobs around the feed goes.
type JobHealth struct {
	Name      string    `json:"name"`
	Runs      int64     `json:"runs"`
	Failed    int64     `json:"failed"`
	LastRun   time.Time `json:"lastRunAt,omitzero"`
	LastError string    `json:"lastError,omitempty"` // empty: the last run was good
	NextRun   time.Time `json:"nextRunAt,omitzero"`  // absent: it has nothing to do for now
}

// PushHealth is how the pushing goes.
type PushHealth struct {
	Configured bool             `json:"configured"`
	Sent       int64            `json:"sent"` // of the matches that are on
	Accepted   int64            `json:"accepted"`
	Refused    int64            `json:"refused"`
	Reasons    map[string]int64 `json:"reasons"`              // refusals since the start, by Apple's reason
	Paused     time.Time        `json:"pausedUntil,omitzero"` // nothing is sent before
	Circuit    string           `json:"circuit,omitempty"`    // of the way to Apple: closed, half-open or open
	Alarms     []PushAlarm      `json:"alarms"`
}

// PushAlarm is an answer of Apple's that a person has to look at. It stands until the process ends.
type PushAlarm struct {
	Reason string    `json:"reason"`
	Count  int       `json:"count"`
	Since  time.Time `json:"since"`
	Last   time.Time `json:"last"`
	Advice string    `json:"advice"` // what is wrong and what to do, in plain words
}

// whole has lists where there is nothing, not null.
func (h HubHealth) whole() HubHealth {
	if h.Feed.Endpoints == nil {
		h.Feed.Endpoints = []EndpointHealth{}
	}
	if h.Feed.Jobs == nil {
		h.Feed.Jobs = []JobHealth{}
	}
	if h.Feed.Oddities == nil {
		h.Feed.Oddities = map[string]int64{}
	}
	if h.Push.Reasons == nil {
		h.Push.Reasons = map[string]int64{}
	}
	if h.Push.Alarms == nil {
		h.Push.Alarms = []PushAlarm{}
	}
	return h
}
