package httpapi

import (
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"github.com/touchline/touchline/httpapi/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// maxBuckets is how many users, keys and addresses are tracked. An evicted one starts again with a full bucket.
const maxBuckets = 65_536

// buckets are token buckets by user, key or address.
type buckets struct {
	rate  rate.Limit // per second
	burst int
	of    *otter.Cache[string, *rate.Limiter]
}

// newBuckets returns nil, which limits nobody, if no rate is set.
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

// bucketOf returns the bucket of a caller: a user's, whatever their address, the API key's, or else the client address's.
func bucketOf(addr netip.Addr, id auth.Identity) string {
	switch {
	case id.Subject != "" && id.Scheme != auth.Anonymous: // anybody can have any number of anonymous ids
		return strings.TrimSpace("user "+id.Issuer) + " " + id.Subject
	case id.Key:
		return "key"
	}
	return addrBucket(addr)
}

const keyBucket = "touchline.bucket"

// noteBucket determines whose rate limit, streams and expensive reads a request counts for.
func (s *Server) noteBucket(c *gin.Context, id auth.Identity) {
	client := s.limits.Load().proxies.client(c.Request)
	bucket := bucketOf(client, id)
	if m := appOf(c); m != nil && m.SignIn.Session != nil {
		bucket = addrBucket(client)
		if subject := m.sessionOf(s, c.Request); subject != "" {
			bucket = "user " + m.Name + " " + subject
		}
	}
	c.Set(keyBucket, bucket)
}

// sessionOf returns whose session of the application a request shows; empty: nobody's, or it cannot be read.
func (m *mounted) sessionOf(s *Server, r *http.Request) (subject string) {
	err := s.cfg.Store.View(r.Context(), func(tx *store.Tx) (err error) {
		subject, err = m.SignIn.Session(tx, r)
		return err
	})
	if err != nil { // the request itself tells why
		return ""
	}
	return subject
}

// bucketFor returns the bucket that noteBucket determined for a request.
func bucketFor(c *gin.Context) string { return c.GetString(keyBucket) }

// addrBucket returns an address's bucket. IPv6 clients usually own a whole /64 network, so it counts as one.
func addrBucket(addr netip.Addr) string {
	if !addr.IsValid() {
		return "elsewhere"
	}
	if addr.Is6() {
		if net, err := addr.Prefix(64); err == nil {
			return "net " + net.String()
		}
	}
	return "addr " + addr.String()
}

// failureBuckets returns the buckets that count failed sign-ins: by credentials and by client address. The address of a proxy stands
// for all of its clients, and is not counted.
func (p proxies) failureBuckets(r *http.Request, credentials string) []string {
	sum := sha256.Sum256([]byte(credentials))
	names := []string{"failed token " + string(sum[:16])}
	if addr := p.client(r); !p.trusts(addr) {
		names = append(names, "failed "+addrBucket(addr))
	}
	return names
}

// credentialsOf returns all credentials of a request.
func credentialsOf(r *http.Request) string {
	h := r.Header
	all := slices.Concat(h.Values("Authorization"), h.Values("X-Api-Key"))
	for _, name := range []string{tokenCookie, sessionCookie} {
		for _, cookie := range append(r.CookiesNamed(name), r.CookiesNamed(prefixedName(name))...) {
			all = append(all, cookie.Value)
		}
	}
	return strings.Join(all, "\n")
}

// takeToken takes a token from a bucket. left is how many remain, full the time until the bucket is full, next the time until the next
// token.
func (b *buckets) takeToken(name string, now time.Time) (ok bool, left int, full, next time.Duration) {
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

// limit counts a request of a user, key or address. A stream is one request, however long it lasts.
func (s *Server) limit(c *gin.Context) error { return s.limitBy(c, bucketFor(c)) }

// limitFailure counts a failed sign-in. Failures have buckets of their own, so they do not keep anybody from signing in.
func (s *Server) limitFailure(c *gin.Context, credentials string) error {
	return s.limitBy(c, s.limits.Load().proxies.failureBuckets(c.Request, credentials)...)
}

// limitBy takes tokens from buckets of the request's application, or the node's.
func (s *Server) limitBy(c *gin.Context, names ...string) error {
	b := s.limits.Load().buckets
	if m := s.appAt(c.Request.URL.Path); m != nil && m.buckets != nil {
		b = m.buckets
	}
	if b == nil {
		return nil
	}
	return b.limit(c, s.wall.Now(), names...)
}

// Limit returns a handler that refuses a user, key or address with more than perMinute calls, in addition to the application's own
// rate.
func Limit(perMinute int) Handler {
	b, err := newBuckets(RateConfig{PerMinute: perMinute, Burst: perMinute})
	return func(c *gin.Context) error {
		if err != nil {
			return err
		}
		return b.limit(c, serverOf(c).wall.Now(), bucketFor(c))
	}
}

// Client returns a key for the client's address, for applications that count requests themselves. For IPv6 it is the /64 network.
func Client(c *gin.Context) string {
	return addrBucket(serverOf(c).limits.Load().proxies.client(c.Request))
}

// limit takes a token from each bucket, and reports the emptiest one in the answer's headers (draft-ietf-httpapi-ratelimit-headers,
// version 3).
func (b *buckets) limit(c *gin.Context, now time.Time, names ...string) error {
	allowed, least, longest, wait := true, b.burst, time.Duration(0), time.Duration(0)
	for _, name := range names {
		ok, left, full, next := b.takeToken(name, now)
		allowed = allowed && ok
		least, longest, wait = min(least, left), max(longest, full), max(wait, next)
	}
	h := c.Writer.Header()
	h.Set("RateLimit-Limit", strconv.Itoa(b.burst))
	h.Set("RateLimit-Remaining", strconv.Itoa(least))
	h.Set("RateLimit-Reset", seconds(longest))
	if allowed {
		return nil
	}
	h.Set("Retry-After", seconds(max(time.Second, wait)))
	return fault.New(fault.Throttled, "rate_limited", "Too many requests: try again in %s s.", h.Get("Retry-After"))
}

// seconds formats a duration in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
