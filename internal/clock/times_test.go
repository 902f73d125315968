package clock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// In a bubble an hour is an hour on each of the machine's clocks: the leases of a node that has died there would otherwise end by the real
// time that the test takes.
func TestRealTimesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := clock.RealTimes()
		before := times.Now()
		<-time.After(time.Hour)
		after := times.Now()
		wall, mono, boot := after.Wall.Sub(before.Wall), after.Mono-before.Mono, after.Boot-before.Boot
		if wall != time.Hour || mono != time.Hour || boot != time.Hour {
			t.Errorf("the clocks went on by %v, %v and %v", wall, mono, boot)
		}
	})
}
