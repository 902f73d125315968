package dynamoapi

import (
	"net/http"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

type noRoomError struct{ error }

func (noRoomError) RetryAfter() time.Duration { return time.Second }

func (e noRoomError) Unwrap() error { return e.error }

// What the node cannot do now is told as that, so that clients come again, and not as its failure.
func TestRefusedForNow(t *testing.T) {
	away := fault.New(fault.Unavailable, "budget_entries", "too much waits for the cloud")
	for _, tt := range []struct {
		err    error
		logged bool
	}{{away, true}, {noRoomError{away}, false}} {
		e := new(API).refusal(tt.err)
		if e.Status != http.StatusServiceUnavailable || e.name() != "ServiceUnavailableException" || e.Message != away.Message ||
			(e.cause != nil) != tt.logged {
			t.Errorf("%d %v, cause %v", e.Status, e, e.cause)
		}
	}
}
