package operator

import (
	"context"
	"math"
	"time"

	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
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

// SyncStatus is how far this node and the cloud are one, with what is configured of it. Its JSON is the same over HTTP, on the
// admin socket and from the command line, and stays as it is: members may come, none goes.
type SyncStatus struct {
	Configured bool `json:"configured"` // there is a cloud to be one with; without, State is none
	replica.Status
	Cloud  string         `json:"cloud,omitempty"`
	Prefix string         `json:"prefix,omitempty"` // of every table's name in the cloud
	Mode   string         `json:"mode,omitempty"`   // what goes on offline: strict or observe
	Leases []lease.Status `json:"leases"`           // that this node holds, by key
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

// NoCloud is the status of a node that has none.
func NoCloud(now time.Time) SyncStatus {
	return SyncStatus{Status: replica.Status{At: now, State: "none"}}.Whole()
}

// Whole has lists where there is nothing, not null.
func (s SyncStatus) Whole() SyncStatus {
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
