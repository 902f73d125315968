package matches

import (
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Owner identifies the writer of a match: the node and the fence of its lease.
type Owner struct {
	Node  string
	Fence int64
}

// ownFence is the condition that refuses a write from a node whose lease has passed to another.
const ownFence = "(attribute_not_exists(#f) OR #f <= :fence)"

// fenceName is the attribute with the fence a row was written under.
const fenceName = "_f"

// fenceParams returns the parameters of ownFence.
func (by Owner) fenceParams() expr.Params {
	return expr.Params{Names: map[string]string{"#f": fenceName}, Values: attr.Item{":fence": attr.Int(by.Fence)}}
}

// FencedOffError reports that a match carries the fence of a later holder: nothing of this tick was written.
type FencedOffError struct {
	MatchID string
	Fence   int64 // on the match
}

// Error implements error.
func (e *FencedOffError) Error() string {
	return fmt.Sprintf("match %s is written under fence %d by another holder", e.MatchID, e.Fence)
}

// Unwrap returns the fault that clients see.
func (e *FencedOffError) Unwrap() error {
	return fault.New(fault.Conflict, "deposed", "match %s has passed to another node", e.MatchID)
}

// fencedOff converts the error of a write under ownFence: to a *FencedOffError if the condition failed, with the
// fence from the compared attribute.
func fencedOff(err error, matchID, attribute string) error {
	failed, ok := errors.AsType[*store.ConditionFailedError](err)
	if !ok {
		return err
	}
	fence, _ := failed.Old[attribute].Int()
	return &FencedOffError{matchID, fence}
}
