package node

import (
	"time"

	"github.com/touchline/touchline/internal/clock"
)

// corrected is a clock whose wall clock is corrected by the cloud's, as far as that is known: nodes that share rows agree about times, and
// a machine with a wrong clock stores and shows right ones. Before the first answer it is the machine's own.
type corrected struct {
	clock.Clock
	cloud *Cloud
}

// correctedClock returns c with a wall clock that is corrected by the cloud's; c itself without a cloud.
func correctedClock(c clock.Clock, cloud *Cloud) clock.Clock {
	if cloud == nil || cloud.Items == nil {
		return c
	}
	return corrected{c, cloud}
}

// Wall implements clock.Clock.
func (c corrected) Wall() time.Time { return c.Clock.Wall().Add(c.cloud.Items.Skew()) }
