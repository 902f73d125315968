package apns

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// bodyLimit bounds the answer that is read: Apple's are under a hundred bytes.
const bodyLimit = 4 << 10

// exchange is what one request carries to the transport and what the transport saw: apns2 knows neither a bearer
// of ours nor, when the body of an answer is not JSON, its status.
type exchange struct {
	bearer     string
	conn       uint64
	status     int
	id         string
	channel    string
	retryAfter time.Duration
	limit      int64 // of the answer's body; 0: bodyLimit
}

func (x *exchange) result() Result {
	return Result{Status: x.status, ID: x.id, RetryAfter: x.retryAfter, conn: x.conn}
}

type exchangeKey struct{}

// recorder is the transport below apns2.
type recorder struct {
	pool *pool
	now  func() time.Time
}

// RoundTrip adds the bearer and remembers the head of the answer.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return nil, errNeverLeft // every request here is of this package
	}
	// A round tripper leaves the request it was given alone: the bearer goes into a copy.
	out := *req
	out.Header = make(http.Header, len(req.Header)+1)
	maps.Copy(out.Header, req.Header)
	out.Header["Authorization"] = []string{"bearer " + x.bearer}
	res, t, err := r.pool.roundTrip(&out)
	x.conn = t.number()
	if err != nil {
		return nil, err
	}
	x.status = res.StatusCode
	x.id = cmp.Or(res.Header.Get("Apns-Id"), res.Header.Get("Apns-Request-Id")) // the second of broadcasts
	x.channel = res.Header.Get("Apns-Channel-Id")
	x.retryAfter = retryAfter(res.Header.Get("Retry-After"), r.now())
	res.Body = &answer{LimitedReader: io.LimitedReader{R: res.Body, N: max(x.limit, bodyLimit)}, body: res.Body, ticket: t}
	return res, nil
}

// answer is the body of an answer, bounded.
type answer struct {
	io.LimitedReader
	body   io.Closer
	ticket ticket
}

// Close reads what apns2 has left, if only the end: otherwise net/http would reset the stream, and a stream that was
// reset counts until Apple has said that it knows.
func (a *answer) Close() error {
	_, _ = io.Copy(io.Discard, &a.LimitedReader)
	err := a.body.Close()
	a.ticket.back()
	return err
}

// retryAfter reads seconds or a date; what is neither, or past, is nothing.
func retryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// withoutURL takes the address, which holds the device token, out of an error of net/http.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
