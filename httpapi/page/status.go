package page

import (
	"encoding/json"
	"time"
)

// NodeStatus is how the node is doing: the answer of /statusz and the operator's strip of the match page.
type NodeStatus struct {
	Version       string          `json:"version"`
	UptimeSeconds float64         `json:"uptimeSeconds"`
	Role          string          `json:"role"` // leader or observer; empty while nothing is on
	Lease         LeaseStatus     `json:"lease"`
	Cloud         CloudStatus     `json:"cloud"`
	Feed          FeedStatus      `json:"feed"`
	Pushes        PushStatus      `json:"pushes"`
	Journal       JournalStatus   `json:"journal"`
	Commits       CommitStatus    `json:"commits"`
	Chores        ChoreStatus     `json:"chores"`
	DynamoDB      *EndpointStatus `json:"dynamodb,omitempty"` // nil: the node has no such endpoint
	MemoryBytes   int64           `json:"memoryBytes"`        // resident
	Goroutines    int             `json:"goroutines"`
	Streams       int             `json:"streams"` // SSE clients; filled in by httpapi
	Clock         ClockStatus     `json:"clock"`
}

// LeaseStatus is the lease under which the node works. The zero value means it holds none.
type LeaseStatus struct {
	Key      string    `json:"key,omitempty"`
	Fence    int64     `json:"fence,omitempty"`
	Deadline time.Time `json:"deadline,omitzero"` // real time
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

// FeedStatus is how the polling of the live feed goes.
type FeedStatus struct {
	Polls      int64     `json:"polls"`
	Unchanged  int64     `json:"unchanged"`
	Failed     int64     `json:"failed"`
	LastAnswer string    `json:"lastAnswer"` // "200", "304", or why it failed
	LastAt     time.Time `json:"lastAt,omitzero"`
	AgeSeconds float64   `json:"ageSeconds"` // since the last good answer, by the node's clock

	Configured bool     `json:"configured"`       // there is a feed to ask
	Leading    bool     `json:"leading"`          // this node reads the live list
	Seat       int      `json:"seat"`             // of this node among those that read the feed, from 1; 0: none
	Nodes      []string `json:"nodes,omitempty"`  // that read it, this one among them
	Observing  bool     `json:"observing"`        // the locks cannot be reached: it is read for this node's readers alone
	Torn       int      `json:"torn"`             // matches whose score and balls disagree in the last readings
	Takeovers  int64    `json:"takeovers"`        // matches taken from nodes that had fallen silent
	FinalReads int64    `json:"finalReads"`       // readings for the end of a match
	Alarms     []string `json:"alarms,omitempty"` // endpoints that refuse us, with what is wrong
	FailedJobs []string `json:"failedJobs,omitempty"`

	Reads []FeedRead `json:"reads,omitempty"` // what is asked about the matches that this node reads
}

// FeedRead is which endpoint of the feed is asked about a match.
type FeedRead struct {
	MatchID  string    `json:"matchId"`
	Endpoint string    `json:"endpoint"`        // livescores, or fixtures/{id} for a match by itself
	NextAt   time.Time `json:"nextAt,omitzero"` // absent: with news
}

// PushStatus counts what was sent to APNs and how it answered.
type PushStatus struct {
	Sent      int64   `json:"sent"`
	Accepted  int64   `json:"accepted"`
	Refused   int64   `json:"refused"`
	PerMinute float64 `json:"perMinute"`

	Configured bool `json:"configured"` // there is a key to push with

	Paused  time.Time `json:"pausedUntil,omitzero"` // nothing is sent before
	Circuit string    `json:"circuit,omitempty"`    // of the way to Apple: closed, half-open or open
	Alarms  []string  `json:"alarms,omitempty"`     // Apple's answers that a person has to look at
}

// JournalStatus gives the sequence numbers that the journal holds.
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
	Swept    uint64  `json:"swept"`              // items deleted because their time was over, since the start
	Filling  []Chore `json:"filling,omitempty"`  // indexes that cannot be read yet
	Dropping []Chore `json:"dropping,omitempty"` // what is left of dropped tables and indexes

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
	Listen   string         `json:"listen"`
	Requests []RequestCount `json:"requests"`         // by operation and outcome, sorted
	Faults   []FaultCount   `json:"faults,omitempty"` // on demand, by rule
}

// RequestCount counts requests. The outcome is ok or the name of the exception.
type RequestCount struct {
	Operation string `json:"operation"`
	Outcome   string `json:"outcome"`
	Count     uint64 `json:"count"`
}

// FaultCount is how a rule of faults on demand fares.
type FaultCount struct {
	Rule     string `json:"rule"`
	Kind     string `json:"kind"`
	Seen     uint64 `json:"seen"`     // requests that it is about
	Injected uint64 `json:"injected"` // those that met the fault
}

// Chore is one piece of work and how many items or entries of it are done.
type Chore struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"`
	Done  uint64 `json:"done"`
}

// ClockStatus is the node's notion of time.
type ClockStatus struct {
	Speed string    `json:"speed"` // real, max, or a factor: 30x
	Now   time.Time `json:"now"`
}

// PhoneView is what one phone shows.
type PhoneView struct {
	ID         string          `json:"id"`
	MatchID    string          `json:"matchId,omitempty"` // the match it follows; empty: whichever is on
	Name       string          `json:"name"`              // "Asha's phone"
	Model      string          `json:"model"`
	Appearance string          `json:"appearance"`      // light or dark
	State      json.RawMessage `json:"state,omitempty"` // the content state it holds; absent before the first
	Compact    CompactView     `json:"compact"`
	Alerts     []PhoneAlert    `json:"alerts"` // newest last
	P10Used    int             `json:"p10Used"`
	P10Budget  int             `json:"p10Budget"`
	Stale      bool            `json:"stale"`
	Ended      bool            `json:"ended"`
	Pushes     PhonePushes     `json:"pushes"`
}

// CompactView is what stands left and right of the camera.
type CompactView struct {
	Leading  string `json:"leading"`
	Trailing string `json:"trailing"`
}

// PhoneAlert is an alert that lit up the phone's screen.
type PhoneAlert struct {
	Key   string    `json:"key,omitempty"` // of the event; lets the timeline say who was told
	Title string    `json:"title"`
	Body  string    `json:"body"`
	At    time.Time `json:"at"`
}

// PhonePushes counts the pushes of a phone.
type PhonePushes struct {
	Received int `json:"received"`
	Applied  int `json:"applied"`
	Dropped  int `json:"dropped"`
}

// contentState is what the pages read of a content state, cricket.ContentState as it went over the wire. What is
// missing is not drawn, and an unknown field does no harm: a page shows what a phone holds, whoever sent it.
type contentState struct {
	Status   string        `json:"status"`
	Teams    []contentTeam `json:"teams"`
	Batters  []contentRow  `json:"batters"`
	Bowler   *contentRow   `json:"bowler"`
	Equation string        `json:"equation"`
	Note     string        `json:"note"`
	Result   string        `json:"result"`
	Balls    []string      `json:"lastBalls"`
}

type contentTeam struct {
	Code    string `json:"code"`
	Runs    int    `json:"runs"`
	Wickets int    `json:"wickets"`
	Overs   string `json:"overs"`
	Batting bool   `json:"batting"`
	Batted  bool   `json:"batted"`
}

type contentRow struct {
	Name     string `json:"name"`
	Runs     int    `json:"runs"`
	Balls    int    `json:"balls"`
	Wickets  int    `json:"wickets"`
	Overs    string `json:"overs"`
	OnStrike bool   `json:"onStrike"`
}
