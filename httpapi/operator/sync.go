package operator

import (
	"context"
	"math"
	"time"

	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
	"github.com/touchline/touchline/sync/replica/feed"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/identity"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Sync is what the routes need of the replicator. A node without a cloud has none.
type Sync interface {
	// Status reports how far they are.
	Status(ctx context.Context) (SyncStatus, error)
	// Conflicts lists records, the newest first.
	Conflicts(ctx context.Context, q conflict.Query) (found []conflict.View, next uint64, err error)
	// Conflict returns one in whole; an unknown one is fault.NotFound.
	Conflict(ctx context.Context, id uint64) (conflict.View, error)
	// Decide does with one what an operator wants: "retry" writes anew what it holds, "discard" notes that it is not
	// wanted. One that has been decided already is fault.Conflict. The record as it is afterwards.
	Decide(ctx context.Context, id uint64, verb string) (conflict.View, error)
	// Wait returns when the cloud has all that the transaction of a journal record has written; refused is the
	// conflict, if one of its writes became one. An end of ctx is its error.
	Wait(ctx context.Context, seq uint64) (refused uint64, err error)
}

// SyncStatus is how far this node and the cloud are one. Its JSON is the same over HTTP, on the admin socket and from
// the command line, and stays as it is: members may come, none goes.
type SyncStatus struct {
	At         time.Time `json:"at"`
	Configured bool      `json:"configured"` // there is a cloud to be one with
	// State is none (no cloud), in_step, behind (writes wait), offline (the cloud cannot be reached), or stopped (a person
	// has to look: a clone, credentials, a table).
	State     string    `json:"state"`
	Since     time.Time `json:"since,omitzero"` // of behind, offline and stopped; of behind it is unsyncedSince
	Cloud     string    `json:"cloud,omitempty"`
	Prefix    string    `json:"prefix,omitempty"`    // of every table's name in the cloud
	Reason    string    `json:"reason,omitempty"`    // of stopped, and what to do about it
	Reached   bool      `json:"reached,omitempty"`   // the cloud has answered since the process began: its clock is known
	Mode      string    `json:"mode,omitempty"`      // what goes on offline: strict or observe
	LastError string    `json:"lastError,omitempty"` // the latest, without secrets
	LastAt    time.Time `json:"lastErrorAt,omitzero"`

	Waiting    int       `json:"waiting"`                // writes that the cloud does not have yet
	LagSeconds float64   `json:"lagSeconds"`             // age of the oldest of them; 0: none waits, or unsyncedSince is absent
	Unsynced   time.Time `json:"unsyncedSince,omitzero"` // of it: what was written since would be lost with this machine; not told of what was written before the clock was set
	Unanswered int       `json:"unanswered"`             // sent, and not yet known whether they applied
	Doubtful   int       `json:"doubtful"`               // waiting, and not shown: their condition no longer holds here

	Tables    []replica.TableStatus `json:"tables"` // those with something to tell, by name
	Lanes     []replica.LaneStatus  `json:"lanes"`  // those with something to do
	Feed      []feed.Status         `json:"feed"`   // one for each rule
	Leases    []lease.Status        `json:"leases"` // that this node holds, by key
	Conflicts conflict.Status       `json:"conflicts"`
	Replay    outbox.LogSums        `json:"replayLog"`
	Budget    flow.BudgetState      `json:"budget"`
	Node      identity.Status       `json:"node"`
	Usage     remote.Usage          `json:"usage"`       // since the process began
	Skew      float64               `json:"skewSeconds"` // the cloud's clock minus ours
	Alarms    []string              `json:"alarms"`      // in plain words: a person has to act
}

// Ahead is how far this machine's clock is ahead of the cloud's, in tenths of a second, for people.
func (s *SyncStatus) Ahead() float64 { return math.Round(-10*s.Skew)/10 + 0 } // no minus before a zero

// Told are the tables that people are to see: something waits, or would.
func (s *SyncStatus) Told() (out []replica.TableStatus) {
	for _, t := range s.Tables {
		if t.Waiting > 0 || t.Hindered() != "" {
			out = append(out, t)
		}
	}
	return out
}

// Whole has lists where there is nothing, not null.
func (s SyncStatus) Whole() SyncStatus {
	if s.State == "" {
		s.State = "none"
	}
	s.Tables, s.Lanes, s.Feed, s.Leases = some(s.Tables), some(s.Lanes), some(s.Feed), some(s.Leases)
	s.Alarms = some(s.Alarms)
	for i := range s.Lanes {
		s.Lanes[i].Parked = some(s.Lanes[i].Parked)
	}
	return s
}

// some is a list that is written as [] where it is empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
