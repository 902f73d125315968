package dynamo

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/sync/lease"
)

// Limits on which clock samples are used.
const (
	skewSamples = 9                // samples considered together
	maxTrip     = 5 * time.Second  // an answer that took longer says too little
	maxAge      = 30 * time.Minute // older samples count only if there is no newer one
)

// skew estimates a server's clock from the Date header of its answers. A Date gives the second in which the answer was made,
// between sending and receiving. The median of the latest samples counts: one wrong answer changes nothing, and after a
// correction of the server's clock the estimate follows within five answers.
//
// Samples are relative to CLOCK_BOOTTIME, because our wall clock may be set meanwhile and the machine may sleep.
type skew struct {
	times lease.Times

	mu      sync.Mutex
	samples []sample // oldest first
}

// sample is the server's clock at one instant, according to one answer.
type sample struct {
	ahead  time.Duration // server time minus boot clock, from the Unix epoch
	at     time.Duration // boot clock
	within time.Duration // how far ahead may be off: half a second and half the trip
}

func newSkew(times lease.Times) *skew { return &skew{times: times} }

// observe adds the Date of the answer to a request, with the instants of sending and receiving.
func (s *skew) observe(date string, sent, received lease.Instant) {
	server, err := http.ParseTime(date)
	trip := received.Boot - sent.Boot
	if err != nil || server.Year() < 2020 || trip < 0 || trip > maxTrip {
		return
	}
	// Date is truncated to the second, so take the middle of what is possible.
	middle := time.Duration(server.UnixNano()) + time.Second/2
	at := sent.Boot + trip/2
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples = append(s.samples, sample{middle - at, at, time.Second/2 + trip/2})
	for len(s.samples) > skewSamples || received.Boot-s.samples[0].at > maxAge {
		s.samples = s.samples[1:]
	}
}

func (s *skew) isKnown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.samples) > 0
}

// now returns the server's clock minus our wall clock, or 0 if no answer has shown it.
func (s *skew) now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(s.samples), func(a, b sample) int { return cmp.Compare(a.ahead, b.ahead) })
	median := sorted[(len(sorted)-1)/2]
	now := s.times.Now()
	d := median.ahead + now.Boot - time.Duration(now.Wall.UnixNano())
	if d.Abs() < max(time.Second, median.within) {
		return 0 // a Date has whole seconds, and a slow answer says even less
	}
	return d
}
