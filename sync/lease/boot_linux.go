package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime reads CLOCK_BOOTTIME, which keeps counting while the machine is suspended.
func bootTime(mono time.Duration) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return mono
	}
	return time.Duration(ts.Nano())
}
