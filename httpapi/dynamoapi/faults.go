package dynamoapi

import (
	"errors"
	"maps"
	"slices"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// errDropped is the error of a request that gets no answer: the connection is closed.
var errDropped = errors.New("a fault injection rule closes the connection")

// parted is a request of several parts, each of which may conflict with another transaction.
type parted interface{ parts() int }

// meet applies injected faults that occur before the work or replace it.
func (c *call) meet(r request) error {
	f := &c.fault
	if f.Rules == nil {
		return nil
	}
	c.api.cfg.Logger.DebugContext(c, "fault on demand", "rules", f.Rules)
	if f.Wait > 0 {
		if err := clock.Sleep(c, clock.Real(), f.Wait); err != nil {
			return err
		}
	}
	switch {
	case f.DropRequest:
		return errDropped
	case f.Refusal != nil:
		return &Error{Status: f.Refusal.Status, Type: f.Refusal.Type, Message: f.Refusal.Message}
	case f.Conflict != nil:
		if p, ok := r.(parted); ok && p.parts() > 0 {
			return conflict(f.Conflict.ChooseOf(p.parts()))
		}
	}
	return nil
}

// conflict returns the refusal of a transaction whose chosen items conflict with another transaction.
func conflict(chosen []bool) error {
	canceled := &store.TransactionCanceledError{}
	for _, it := range chosen {
		reason := store.CancellationReason{Code: store.ReasonNone}
		if it {
			reason = store.CancellationReason{Code: inject.ConflictCode, Message: inject.ConflictMessage}
		}
		canceled.Reasons = append(canceled.Reasons, reason)
	}
	return canceled
}

// divide removes from a batch, by table, what fault injection leaves unprocessed, and returns it. Tables with nothing left are removed
// too.
func divide[T any](batch map[string][]T, choice *inject.Choice) (left map[string][]T) {
	left = map[string][]T{}
	if choice == nil {
		return left
	}
	total := 0
	for _, parts := range batch {
		total += len(parts)
	}
	chosen := choice.ChooseOf(total)
	for _, table := range slices.Sorted(maps.Keys(batch)) {
		var stay []T
		for _, part := range batch[table] {
			if chosen[0] {
				left[table] = append(left[table], part)
			} else {
				stay = append(stay, part)
			}
			chosen = chosen[1:]
		}
		if batch[table] = stay; len(stay) == 0 {
			delete(batch, table)
		}
	}
	return left
}
