package faultproxy

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answer is a complete answer of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// forward handles a request and the fault it meets.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.group.Done()
	c := p.meets()
	p.wait(c.Latency)
	switch c.Fault {
	case Refuse, Reset:
		p.take(w, reset)
		return
	case HalfOpen:
		p.take(w, hang)
		return
	case Partition:
		// The client may have given up long ago; its request is still on its way.
		if p.outlast() {
			_, _ = p.ask(r, body)
		}
		panic(http.ErrAbortHandler)
	case Throttle:
		p.reply(w, c, throttled())
		return
	case Slow:
		p.wait(c.Delay)
	}
	got, err := p.ask(r, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	p.reply(w, c, got)
}

// enter counts a request in progress, unless the proxy is closed.
func (p *Proxy) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.group.Add(1)
	return true
}

// reply sends an answer, or applies the fault that affects it.
func (p *Proxy) reply(w http.ResponseWriter, c Conditions, got answer) {
	switch {
	case c.Fault == DropAnswer:
		panic(http.ErrAbortHandler)
	case c.Fault == LoseAnswers, p.cutOff(): // the partition began in the meantime
		p.take(w, hang)
		return
	case c.Fault == Slow:
		p.wait(c.Delay)
	}
	p.wait(c.Latency)
	maps.Copy(w.Header(), got.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(got.body)))
	w.WriteHeader(got.status)
	_, _ = w.Write(got.body)
}

// throttled returns DynamoDB's answer to a request beyond a table's throughput.
func throttled() answer {
	const body = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"The level of configured provisioned ` +
		`throughput for the table was exceeded."}`
	header := http.Header{
		"Content-Type": {"application/x-amz-json-1.0"}, "X-Amzn-Requestid": {"THROTTLED"}, "Date": {time.Now().UTC().Format(http.TimeFormat)},
	}
	return answer{status: http.StatusBadRequest, header: header, body: []byte(body)}
}

// take hijacks the connection from the server and passes it to end, which ends it.
func (p *Proxy) take(w http.ResponseWriter, end func(c net.Conn)) {
	ctl := http.NewResponseController(w)
	c, _, err := ctl.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	end(c)
	_ = c.Close()
	p.keep(c, http.StateClosed)
}

// hang keeps a connection open without sending anything until the client closes it.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// cutOff reports whether there is a partition now.
func (p *Proxy) cutOff() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conditions.Fault == Partition
}

func (p *Proxy) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.ctx.Done():
	case <-t.C:
	}
}

// ask forwards a request and returns the complete answer, with its clock skewed as requested.
func (p *Proxy) ask(r *http.Request, body []byte) (got answer, err error) {
	out := r.Clone(p.ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = "http", p.to, ""
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	resp, err := p.behind.RoundTrip(out)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	got = answer{status: resp.StatusCode, header: resp.Header}
	if got.body, err = io.ReadAll(resp.Body); err != nil {
		return got, err
	}
	p.mu.Lock()
	offset := p.offset
	p.mu.Unlock()
	if at, err := http.ParseTime(got.header.Get("Date")); err == nil && offset != 0 {
		got.header.Set("Date", at.Add(offset).UTC().Format(http.TimeFormat))
	}
	return got, nil
}
