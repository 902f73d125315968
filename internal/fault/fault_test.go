package fault_test

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/internal/fault"
)

// A message that already ends with its cause does not repeat it.
func TestErrorSaysItsCauseOnce(t *testing.T) {
	cause := errors.New("connection refused")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.Unavailable, "away", "not now"), "not now"},
		{fault.Wrap(cause, fault.Unavailable, "away", "not now"), "not now: connection refused"},
		{fault.Wrap(cause, fault.Unavailable, "away", "the cloud: %s", cause), "the cloud: connection refused"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
		if fault.KindOf(tt.err) != fault.Unavailable {
			t.Errorf("%v has another kind", tt.err)
		}
	}
}
