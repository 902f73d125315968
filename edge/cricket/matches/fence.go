package matches

import (
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Owner is who writes a match: the node and the fence of its lease.
type Owner struct {
	Node  string
	Fence int64
}

// ownFence refuses the write of a node whose lease has passed to another.
const ownFence = "(attribute_not_exists(#f) OR #f <= :fence)"

// fenceName is the attribute with the fence under which a row was written.
const fenceName = "_f"

// fenceParams are those of ownFence.
func (by Owner) fenceParams() expr.Params {
	return expr.Params{Names: map[string]string{"#f": fenceName}, Values: attr.Item{":fence": attr.Int(by.Fence)}}
}

// FencedOffError says that a match carries the fence of a later holder: nothing of this tick was written.
type FencedOffError struct {
	MatchID string
	Fence   int64 // on the match
}

// Error implements error.
func (e *FencedOffError) Error() string {
	return fmt.Sprintf("match %s is written under fence %d by another holder", e.MatchID, e.Fence)
}

// Unwrap returns the fault.
func (e *FencedOffError) Unwrap() error {
	return fault.New(fault.Conflict, "deposed", "match %s has passed to another node", e.MatchID)
}

// fencedOff is the error of a write under ownFence: a *FencedOffError where the row has a later fence, in the attribute that the
// write compares.
func fencedOff(err error, matchID, attribute string) error {
	failed, ok := errors.AsType[*store.ConditionFailedError](err)
	if !ok {
		return err
	}
	fence, _ := failed.Old[attribute].Int()
	return &FencedOffError{matchID, fence}
}
