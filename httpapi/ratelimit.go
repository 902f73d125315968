package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
)

// maxBuckets is how many users, keys and addresses are remembered. One that is forgotten begins with a full bucket.
const maxBuckets = 65_536

// buckets hold how much each may still ask.
type buckets struct {
	rate  rate.Limit // a second
	burst int
	of    *otter.Cache[string, *rate.Limiter]
}

// newBuckets makes the buckets; nil: nobody is limited.
func newBuckets(c RateConfig) (*buckets, error) {
	if c.PerMinute <= 0 {
		return nil, nil //nolint:nilnil // no limit
	}
	of, err := otter.New(&otter.Options[string, *rate.Limiter]{
		MaximumSize: maxBuckets, Executor: func(f func()) { f() }, // no goroutine of its own
	})
	if err != nil {
		return nil, fmt.Errorf("rate limit: %w", err)
	}
	return &buckets{rate: rate.Limit(float64(c.PerMinute) / 60), burst: max(1, c.Burst), of: of}, nil
}

// bucketOf names who is limited: a user, whatever addresses they come from, the API key, or else the address. Who has an
// IPv6 address has all of its network.
func bucketOf(r *http.Request, id auth.Identity) string {
	switch {
	case id.Subject != "":
		return "user " + id.Subject
	case id.Key:
		return "key"
	}
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return "elsewhere"
	}
	addr := at.Addr().WithZone("").Unmap()
	if addr.Is6() {
		if net, err := addr.Prefix(64); err == nil {
			return "net " + net.String()
		}
	}
	return "addr " + addr.String()
}

// take takes one request out of a bucket; left is how many more there are, full when all of them are back.
func (b *buckets) take(name string, now time.Time) (ok bool, left int, full, next time.Duration) {
	l, found := b.of.GetIfPresent(name)
	if !found {
		l, _ = b.of.SetIfAbsent(name, rate.NewLimiter(b.rate, b.burst))
	}
	ok = l.AllowN(now, 1)
	tokens := l.TokensAt(now)
	wait := func(n float64) time.Duration {
		return time.Duration(max(0, n) / float64(b.rate) * float64(time.Second))
	}
	return ok, max(0, int(tokens)), wait(float64(b.burst) - tokens), wait(1 - tokens)
}

// limit counts a request, and says with the answer how it stands (draft-ietf-httpapi-ratelimit-headers, version 3). A
// stream is one request, however long it lasts.
func (s *Server) limit(c *gin.Context, id auth.Identity) error {
	if s.buckets == nil {
		return nil
	}
	ok, left, full, next := s.buckets.take(bucketOf(c.Request, id), s.wall.Now())
	h := c.Writer.Header()
	h.Set("RateLimit-Limit", strconv.Itoa(s.buckets.burst))
	h.Set("RateLimit-Remaining", strconv.Itoa(left))
	h.Set("RateLimit-Reset", seconds(full))
	if ok {
		return nil
	}
	h.Set("Retry-After", seconds(max(time.Second, next)))
	return fault.New(fault.Throttled, "rate_limited", "Too many requests: come again in %s s.", h.Get("Retry-After"))
}

// seconds writes a duration in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
