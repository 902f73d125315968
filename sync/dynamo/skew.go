package dynamo

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/sync/lease"
)

// What is believed of a server's clock.
const (
	skewSamples = 9                // answers that are looked at together
	maxTrip     = 5 * time.Second  // an answer that was longer on its way tells too little
	maxAge      = 30 * time.Minute // older answers count only where there is no newer one
)

// skew estimates a server's clock from the Date of its answers. Each tells the second in which the answer was made, which
// lies between sending and receiving. The median of the latest ones counts, so that one answer that lies moves nothing,
// and a server's clock that was set right is followed after five.
//
// Samples are kept against CLOCK_BOOTTIME: our own wall clock may be set meanwhile, and a machine may sleep.
type skew struct {
	times lease.Times

	mu      sync.Mutex
	samples []sample // oldest first
}

// sample is the server's clock at an instant, as one answer told it.
type sample struct {
	ahead time.Duration // of the boot clock, from the Unix epoch
	at    time.Duration // boot clock
}

func newSkew(times lease.Times) *skew { return &skew{times: times} }

// observe takes the Date of an answer to a request that was sent and answered at two instants.
func (s *skew) observe(date string, sent, received lease.Instant) {
	server, err := http.ParseTime(date)
	trip := received.Boot - sent.Boot
	if err != nil || server.Year() < 2020 || trip < 0 || trip > maxTrip {
		return
	}
	// The Date is cut to the second: the middle of what is possible.
	middle := time.Duration(server.UnixNano()) + time.Second/2
	at := sent.Boot + trip/2
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, sample{middle - at, at})
	for len(s.samples) > skewSamples || received.Boot-s.samples[0].at > maxAge {
		s.samples = s.samples[1:]
	}
}

func (s *skew) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.samples) > 0
}

// now is the server's clock minus our wall clock; 0 where no answer has told it.
func (s *skew) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return 0
	}
	ahead := make([]time.Duration, len(s.samples))
	for i, x := range s.samples {
		ahead[i] = x.ahead
	}
	slices.Sort(ahead)
	now := s.times.Now()
	d := ahead[(len(ahead)-1)/2] + now.Boot - time.Duration(now.Wall.UnixNano())
	if d.Abs() < time.Second {
		return 0 // below what a Date can tell
	}
	return d
}
