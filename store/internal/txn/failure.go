package txn

import (
	"github.com/touchline/touchline/internal/fault"
)

// failure is the reason why the store is latched.
type failure struct{ err error }

// latch stops all further writes. After a failed commit the content of the file is unknown, and another attempt could lose an
// acknowledged write. The first error is kept.
func (s *DB) latch(cause error) error {
	err := fault.Wrap(cause, fault.Unavailable, "store_failed", "the store has failed and accepts no writes")
	if s.failure.CompareAndSwap(nil, &failure{err: err}) {
		close(s.Failed)
	}
	return s.Err()
}
