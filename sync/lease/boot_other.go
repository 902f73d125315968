//go:build !linux

package lease

import "time"

// bootTime is the monotonic clock where there is no better one; wall and monotonic clock disagree after a suspension.
func bootTime(mono time.Duration) time.Duration { return mono }
