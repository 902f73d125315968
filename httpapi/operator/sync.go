package operator

import (
	"context"
	"math"
	"time"

	"github.com/touchline/touchline/sync/lease"
	"github.com/touchline/touchline/sync/replica"
	"github.com/touchline/touchline/sync/replica/conflict"
)

// Sync is what the routes need from the replicator. It is nil without a cloud.
type Sync interface {
	// Status returns the state of the replication.
	Status(ctx context.Context) (SyncStatus, error)
	// Conflicts returns a page of conflicts, newest first; next is the cursor of the following page, 0 on the last.
	Conflicts(ctx context.Context, q conflict.Query) (found []conflict.View, next uint64, err error)
	// Conflict returns one conflict in full, or fault.NotFound.
	Conflict(ctx context.Context, id uint64) (conflict.View, error)
	// Decide applies an operator's decision: "retry" applies the conflict's writes again, "discard" gives them up. It returns the
	// conflict afterwards, or fault.Conflict if it was decided before.
	Decide(ctx context.Context, id uint64, verb string) (conflict.View, error)
	// Wait waits until the cloud has all writes of a journal record's transaction. refused is the conflict if one of them was refused.
	// If ctx ends it returns ctx's error.
	Wait(ctx context.Context, seq uint64) (refused uint64, err error)
}

// SyncStatus is the state and configuration of the replication with the cloud. Its JSON is the same over HTTP, on the admin socket and
// in the command line. It is stable: members may be added, none removed.
type SyncStatus struct {
	Configured bool `json:"configured"` // whether there is a cloud; without one State is none
	replica.Status
	Cloud  string         `json:"cloud,omitempty"`
	Prefix string         `json:"prefix,omitempty"` // prefix of all table names in the cloud
	Mode   string         `json:"mode,omitempty"`   // behaviour while offline: strict or observe
	Leases []lease.Status `json:"leases"`           // held by this node, sorted by key
}

// Ahead returns how far this machine's clock is ahead of the cloud's, in seconds rounded to tenths.
func (s *SyncStatus) Ahead() float64 { return math.Round(-10*s.Skew)/10 + 0 } // + 0 turns -0 into 0

// NotableTables returns the tables worth showing: those with waiting writes or a problem.
func (s *SyncStatus) NotableTables() (out []replica.TableStatus) {
	for _, t := range s.Tables {
		if t.Waiting > 0 || t.HeldUpBy() != "" {
			out = append(out, t)
		}
	}
	return out
}

// NoCloud returns the status of a node without a cloud.
func NoCloud(now time.Time) SyncStatus {
	return SyncStatus{Status: replica.Status{At: now, State: "none"}}.Whole()
}

// Whole replaces nil lists, which JSON would write as null, by empty ones.
func (s SyncStatus) Whole() SyncStatus {
	s.Tables, s.Workers, s.Feed, s.Leases = nonNil(s.Tables), nonNil(s.Workers), nonNil(s.Feed), nonNil(s.Leases)
	s.Alarms = nonNil(s.Alarms)
	for i := range s.Workers {
		s.Workers[i].Parked = nonNil(s.Workers[i].Parked)
	}
	return s
}

// nonNil returns a non-nil list.
func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
