package edge

import (
	"context"
	"errors"

	"github.com/touchline/touchline/edge/node"
	"github.com/touchline/touchline/httpapi/admin"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/fault"
)

// What the commands that ask a running node about its cloud tell.
type (
	// SyncStatus is how far the node and the cloud are one.
	SyncStatus = operator.SyncStatus
	// Conflict is the record of a decision about writes that the cloud did not take as they were meant.
	Conflict = operator.Conflict
	// ConflictWrite is one of its writes.
	ConflictWrite = operator.ConflictWrite
	// ConflictAsk says which records are wanted.
	ConflictAsk = operator.ConflictAsk
	// ConflictList is a page of them.
	ConflictList = admin.ConflictList
)

// AskSync asks the node with its data in dir how it stands with its cloud.
func AskSync(ctx context.Context, dir string) (SyncStatus, error) {
	return asked(dir, func(c *admin.Client) (SyncStatus, error) { return c.Sync(ctx) })
}

// ConflictStates are what a list of conflicts can be asked for.
func ConflictStates() []string { return operator.ConflictStates() }

// AskConflicts asks it for conflicts, the newest first.
func AskConflicts(ctx context.Context, dir string, ask ConflictAsk) (ConflictList, error) {
	return asked(dir, func(c *admin.Client) (ConflictList, error) { return c.Conflicts(ctx, ask) })
}

// AskConflict asks it for one in whole.
func AskConflict(ctx context.Context, dir string, id uint64) (Conflict, error) {
	return asked(dir, func(c *admin.Client) (Conflict, error) { return c.Conflict(ctx, id) })
}

// DecideConflict has it retry or discard one.
func DecideConflict(ctx context.Context, dir string, id uint64, verb string) (Conflict, error) {
	return asked(dir, func(c *admin.Client) (Conflict, error) { return c.Decide(ctx, id, verb) })
}

// asked asks the node with its data in dir, which must run.
func asked[T any](dir string, ask func(*admin.Client) (T, error)) (out T, err error) {
	if _, err := node.Database(dir); err != nil {
		return out, err
	}
	client, err := node.Ask(dir)
	if err != nil {
		return out, err
	}
	out, err = ask(client)
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Code == "no_admin" {
		err = fault.Wrap(err, fault.Unavailable, "no_node", "no node is running with the data in %s (touchline serve starts one)", dir)
	}
	return out, err
}
