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

// bodyLimit bounds the body that is read: Apple's are under a hundred bytes.
const bodyLimit = 4 << 10

// exchange carries data to and from the transport: apns2 knows neither our bearer nor, if the body is not JSON, the status of the answer.
type exchange struct {
	bearer     string
	conn       *connection
	status     int
	id         string
	channel    string
	retryAfter time.Duration
	limit      int64 // of the body; 0: bodyLimit
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

// RoundTrip adds the bearer and records the head of the answer.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return nil, errNeverLeft // every request here comes from this package
	}
	// A round tripper must not change its request: the bearer goes into a copy.
	out := *req
	out.Header = make(http.Header, len(req.Header)+1)
	maps.Copy(out.Header, req.Header)
	out.Header["Authorization"] = []string{"bearer " + x.bearer}
	res, conn, err := r.pool.roundTrip(&out)
	x.conn = conn
	if err != nil {
		return nil, err
	}
	x.status = res.StatusCode
	x.id = cmp.Or(res.Header.Get("Apns-Id"), res.Header.Get("Apns-Request-Id")) // the latter for broadcasts
	x.channel = res.Header.Get("Apns-Channel-Id")
	x.retryAfter = retryAfter(res.Header.Get("Retry-After"), r.now())
	res.Body = &answer{LimitedReader: io.LimitedReader{R: res.Body, N: max(x.limit, bodyLimit)}, body: res.Body, conn: conn}
	return res, nil
}

// answer is a bounded body.
type answer struct {
	io.LimitedReader
	body io.Closer
	conn *connection
}

// Close reads the rest of the body. Otherwise net/http would reset the stream, and a reset stream counts until Apple acknowledges it.
func (a *answer) Close() error {
	_, _ = io.Copy(io.Discard, &a.LimitedReader)
	err := a.body.Close()
	a.conn.endUse()
	return err
}

// retryAfter parses seconds or a date; anything else, or a past date, is 0.
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

// withoutURL removes the address, which contains the device token, from an error of net/http.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
