package txn

import (
	"github.com/touchline/touchline/internal/fault"
)

// failure is why the store is latched.
type failure struct{ err error }

// latch stops the store from writing, for ever: after a failed commit nobody knows what is in the file, and a second
// try could make an acknowledged lie of it. The first error is the one that stays.
func (s *DB) latch(cause error) error {
	err := fault.Wrap(cause, fault.Unavailable, "store_failed", "the store has failed and accepts no writes")
	if s.failure.CompareAndSwap(nil, &failure{err: err}) {
		close(s.Failed)
	}
	return s.Err()
}
