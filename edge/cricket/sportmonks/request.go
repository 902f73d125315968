package sportmonks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
)

// request is a request to the feed.
type request struct {
	endpoint Endpoint
	path     string
	query    url.Values
	one      bool // a single record is expected
	forget   bool // nothing is remembered for the next time

	rows rowsFunc // nil if the rows of the reply are matches
}

// rowsFunc decodes the value of "data" at this place and returns its end. It records in r how many rows there
// are and which cannot be decoded.
type rowsFunc func(r *reply, b []byte, at int) (end int, err error)

// result is a decoded answer.
type result struct {
	Reading
	rows int  // in the list, including those that could not be decoded
	more bool // there are further pages
}

// read makes a request, if the endpoint allows it, with what is remembered of the last time.
func (c *Client) read(ctx context.Context, rq request) (result, error) {
	e := c.endpoints[rq.endpoint]
	r, err := e.do(IsFinal(ctx), func() (result, error) {
		if rq.forget {
			return c.exchange(ctx, e, &rq, &memory{})
		}
		key := rq.path + "?" + rq.query.Encode()
		m := c.memories.memoryOf(key)
		r, err := c.exchange(ctx, e, &rq, m)
		if m.body.size > 0 {
			c.memories.put(key, m)
		}
		return r, err
	})
	return r, c.clean(err)
}

// clean makes sure that an error, whatever a decoder quoted, does not contain the token.
func (c *Client) clean(err error) error {
	if err == nil || c.redact(err.Error()) == err.Error() {
		return err
	}
	out := &Error{Fault: fault.New(fault.KindOf(err), CodeUnavailable, "%s", c.redact(err.Error()))}
	if own, ok := errors.AsType[*Error](err); ok {
		out.Endpoint, out.Status, out.Until, out.Fault.Code = own.Endpoint, own.Status, own.Until, own.Fault.Code
	}
	return out
}

// exchange sends a request, with retries, and decodes what is new in the answer.
func (c *Client) exchange(ctx context.Context, e *endpoint, rq *request, m *memory) (result, error) {
	f := &fetch{client: c, endpoint: e, reserved: IsFinal(ctx), body: c.bodies.takeBuffer()}
	defer func() { c.bodies.put(f.body) }()
	status, header, err := f.do(ctx, rq, m.etag)
	if err != nil {
		return result{}, err
	}
	now := c.clock.Wall()
	r := result{Reading: Reading{At: c.clock.Now(), Skew: skew(header, now)}}
	if status == http.StatusNotModified {
		if m.body.size == 0 {
			return result{}, statusError(e.name, status)
		}
		return m.unchangedResult(r), nil
	}
	if rq.rows != nil {
		return c.decodeList(r, rq, f.body)
	}
	d := &decoder{seed: c.seed, scores: c.scores, odd: c.oddities, now: now, header: m.header}
	body := d.span(f.body)
	if body == m.body {
		m.etag = etag(header)
		return m.unchangedResult(r), nil
	}
	decoded, err := d.reply(f.body, m.fixtures)
	m.header = d.header
	if err != nil {
		return result{}, c.unreadable(e.name, err)
	}
	if rq.one && len(decoded.fixtures) == 0 {
		return result{}, statusError(e.name, http.StatusNotFound)
	}
	m.etag, m.body, m.fixtures, m.skipped = etag(header), body, decoded.fixtures, nil
	c.oddities.add(OddSkippedMatch, len(decoded.skipped))
	for _, err := range decoded.skipped {
		m.skipped = append(m.skipped, c.clean(badJSON(e.name, err)))
	}
	m.snapshots = make([]cricket.Snapshot, len(m.fixtures))
	for i := range m.fixtures {
		m.snapshots[i] = m.fixtures[i].snap
	}
	r.Snapshots, r.Skipped, r.rows, r.more = m.snapshots, m.skipped, len(m.snapshots)+len(m.skipped), decoded.more()
	return r, nil
}

func (m *memory) unchangedResult(r result) result {
	r.Unchanged, r.Snapshots, r.Skipped = true, m.snapshots, m.skipped
	return r
}

// more reports whether there is another page. The feed has two ways to say so, and either may be missing.
func (r *reply) more() bool {
	return r.meta.CurrentPage < r.meta.LastPage || r.next != "" && r.meta.LastPage == 0
}

// unreadable counts a reply that cannot be decoded.
func (c *Client) unreadable(name Endpoint, err error) *Error {
	bad := badJSON(name, err)
	c.oddities.failure(bad)
	return bad
}

// fetch is a request with its retries.
type fetch struct {
	client   *Client
	endpoint *endpoint
	reserved bool          // it may use the budget's reserve
	body     []byte        // of a 200 answer
	tries    int           // failed attempts
	wait     time.Duration // before the next attempt
	last     *Error        // the error of the last attempt
	final    *Error        // the error that ends the retries
}

type fetchKey struct{}

// do returns the status, which is 304 or, with f.body filled, 200, and the header.
func (f *fetch) do(ctx context.Context, rq *request, etag string) (int, http.Header, error) {
	u := f.client.base.JoinPath(rq.path)
	u.RawQuery = rq.query.Encode()
	ctx = context.WithValue(ctx, fetchKey{}, f)
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, nil, f.client.foreign(f.endpoint.name, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "touchline")
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	req.SetResponseHandler(f.readWhileRetrying)
	resp, err := f.client.http.Do(req)
	if resp != nil {
		defer resp.Body.Close()
	}
	if err != nil {
		return 0, nil, f.client.foreign(f.endpoint.name, err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		return 0, nil, statusError(f.endpoint.name, resp.StatusCode)
	}
	return resp.StatusCode, resp.Header, nil
}

// readWhileRetrying reads the body while the library can still retry: a connection that breaks in the middle is like one that did not answer.
func (f *fetch) readWhileRetrying(resp *http.Response) error {
	if f.final != nil {
		return f.final
	}
	if resp.StatusCode != http.StatusOK {
		return nil
	}
	if err := f.readBody(resp); err != nil {
		return err
	}
	first := space(f.body, 0)
	if first == len(f.body) || f.body[first] != '{' {
		what, oddity := otherBody(f.body[first:])
		f.client.oddities.count(oddity)
		return &Error{Endpoint: f.endpoint.name, Status: resp.StatusCode,
			Fault: fault.New(fault.Unavailable, CodeNotJSON, "answered %s, not JSON", what)}
	}
	return nil
}

// otherBody describes what came instead of JSON, in words and as an oddity.
func otherBody(b []byte) (what, oddity string) {
	switch {
	case len(b) == 0:
		return "nothing", OddEmpty
	case b[0] == '<':
		return "a page of HTML", OddHTML
	}
	return "something", OddNotJSON
}

func (f *fetch) readBody(resp *http.Response) error {
	limit := f.client.maxBody
	tooLarge := &Error{Endpoint: f.endpoint.name, Status: resp.StatusCode,
		Fault: fault.New(fault.TooLarge, CodeTooLarge, "answered more than %d bytes", limit)}
	if resp.ContentLength > limit {
		f.client.oddities.failure(tooLarge)
		return tooLarge
	}
	buf := bytes.NewBuffer(f.body[:0])
	if resp.ContentLength > 0 {
		// ReadFrom needs spare room to detect the end without growing.
		buf.Grow(int(resp.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	f.body = buf.Bytes()
	if err == nil && int64(len(f.body)) > limit {
		f.client.oddities.failure(tooLarge)
		return tooLarge
	}
	return err
}

// etag returns the entity tag if it can be sent back: an invalid header value would make all later requests fail.
func etag(h http.Header) string {
	tag := h.Get("ETag")
	quoted := strings.TrimPrefix(tag, "W/")
	if len(tag) > 256 || len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return ""
	}
	for _, r := range quoted {
		if r <= ' ' || r > '~' {
			return ""
		}
	}
	return tag
}

// skew returns the feed's clock minus ours. The header has whole seconds and was written before the answer
// arrived, so differences within that are ignored.
func skew(h http.Header, now time.Time) time.Duration {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	d := at.Add(500 * time.Millisecond).Sub(now)
	if d.Abs() < 2*time.Second {
		return 0
	}
	return d
}
