//go:build !linux

package lease

import "time"

// bootTime falls back to the monotonic clock. A suspension still shows: the wall clock and the monotonic clock disagree afterwards.
func bootTime(mono time.Duration) time.Duration { return mono }
