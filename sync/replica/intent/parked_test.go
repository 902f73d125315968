package intent

import (
	"testing"
	"time"
)

// A rest that the present clock cannot have set is over; a hold, or any other wait for an instant, is kept.
func TestParkedUntil(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		why   string
		ahead time.Duration
		over  bool
	}{
		{WhyCount, time.Second, false},
		{WhyCount, longestRest, false},
		{WhyCount, time.Hour, true},
		{WhyReplay, replayPoll, false},
		{WhyReplay, time.Hour, true},
		{WhyYield, time.Second, false},
		{WhyHold, SignedFor, false},
		{WhyHold, time.Hour, false},
	} {
		e := Entry{Progress: Progress{Why: tt.why, NotBefore: now.Add(tt.ahead), Yields: now}}
		u := Batch{Entries: []*Entry{&e}}
		if got := e.ParkedUntil(now); got.IsZero() != tt.over || !tt.over && !got.Equal(e.NotBefore) {
			t.Errorf("%s for %v: until %v", tt.why, tt.ahead, got)
		}
		if tt.over {
			continue
		}
		if a := u.Next(nil, Env{Now: now}); a.Kind != ActPark || !a.Until.Equal(e.NotBefore) || a.Why != tt.why {
			t.Errorf("%s for %v: %+v", tt.why, tt.ahead, a)
		}
	}
	e := Entry{Progress: Progress{Why: WhyYield, NotBefore: now.Add(firstYield), Yields: now}}
	if got := e.ParkedUntil(now.Add(-time.Millisecond)); !got.IsZero() {
		t.Errorf("it yields to a turn that it has not met: until %v", got)
	}
}
