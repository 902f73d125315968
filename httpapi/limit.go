package httpapi

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

const (
	// ShortConnections is how many connections may be open for short requests, in addition to the streams.
	ShortConnections = 1024

	defaultStreams     = 8192
	defaultUserStreams = 16
	streamRetry        = 30 // Retry-After in seconds for a client with too many streams
)

// Limits are a server's limits. They can be changed while it runs.
type Limits struct {
	Rate           RateConfig
	MaxStreams     int            // open at once; 8192 when zero, fewer if MaxConnections is low
	MaxConnections int            // open at once; MaxStreams + ShortConnections when zero
	Proxies        []netip.Prefix // trusted for X-Forwarded-For and X-Forwarded-Proto
}

// limits are the Limits in effect, with their state.
type limits struct {
	Limits
	streams int
	buckets *buckets // nil: no rate limit
	proxies proxies
}

// withDefaults fills in defaults. If there are few connections, it reserves a quarter of them for short requests.
func (l Limits) withDefaults() Limits {
	l.MaxStreams = cmp.Or(l.MaxStreams, defaultStreams)
	l.MaxConnections = cmp.Or(l.MaxConnections, l.MaxStreams+ShortConnections)
	if l.MaxConnections < l.MaxStreams+ShortConnections {
		l.MaxStreams = max(1, min(l.MaxStreams, l.MaxConnections-l.MaxConnections/4))
	}
	return l
}

// SetLimits changes the limits from now on. If the rate stays the same, clients keep their counts.
func (s *Server) SetLimits(l Limits) error {
	l = l.withDefaults()
	next := &limits{Limits: l, streams: l.MaxStreams, proxies: slices.Clone(l.Proxies)}
	if was := s.limits.Load(); was != nil && was.Rate == l.Rate {
		next.buckets = was.buckets
	} else {
		var err error
		if next.buckets, err = newBuckets(l.Rate); err != nil {
			return err
		}
	}
	s.limits.Store(next)
	s.conns.SetMost(l.MaxConnections)
	return nil
}

// readers counts the open streams of each user.
type readers struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts a user's new stream, unless most are open already.
func (r *readers) enter(name string, most int) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of[name] >= most {
		return nil, false
	}
	r.of[name]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.of[name]--; r.of[name] == 0 {
			delete(r.of, name)
		}
	}, true
}

// enterStream counts a new stream, or refuses it if too many are open: in total, or of one user or address. The API key has no limit of
// its own, because it is the operator's.
func (s *Server) enterStream(c *gin.Context, kind string) (leave func(), err error) {
	if s.events.Count() >= s.limits.Load().streams {
		return nil, fault.New(fault.Unavailable, "too_many_streams", "Too many streams are open.")
	}
	left := func() {}
	if id, _ := Identity(c); !keyAlone(id) {
		var ok bool
		if left, ok = s.readers.enter(bucketFor(c), s.cfg.UserStreams); !ok {
			c.Header("Retry-After", strconv.Itoa(streamRetry))
			return nil, fault.New(fault.Throttled, "stream_limit", "You have %d open streams, the most allowed: close one first.", s.cfg.UserStreams)
		}
	}
	gauge := s.metrics.streams.WithLabelValues(kind)
	gauge.Inc()
	return func() { gauge.Dec(); left() }, nil
}

// keyAlone reports whether the caller showed only the API key, and is no user.
func keyAlone(id auth.Identity) bool { return id.Key && id.Subject == "" }
