//go:build !linux

package clock

import "time"

// bootTime is not known here. A suspension still shows: the wall clock and the monotonic clock disagree afterwards.
func bootTime() (boot time.Duration, known bool) { return 0, false }
