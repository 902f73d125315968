package faultproxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// link is a client's connection and the one to the server that belongs to it.
type link struct {
	p      *Proxy
	client net.Conn
	in     *bufio.Reader
	server net.Conn
	out    *bufio.Reader
}

func newLink(p *Proxy, c net.Conn) *link { return &link{p: p, client: c, in: bufio.NewReader(c)} }

// run forwards one request after the other until an end is gone or a fault ends it.
func (l *link) run() {
	defer func() {
		if l.server != nil {
			_ = l.server.Close()
		}
	}()
	for {
		raw, err := readRequest(l.in)
		if err != nil || !l.one(raw) {
			return
		}
	}
}

// one does with a request what it meets. It reports whether the connection goes on.
func (l *link) one(raw []byte) bool {
	w := l.p.meets()
	switch w.Fault {
	case Refuse, Reset:
		reset(l.client)
		return false
	case HalfOpen:
		return l.hang()
	case Partition:
		// The client may have given up long since; its request is under way all the same.
		if l.p.outlast() {
			_, _ = l.ask(raw)
		}
		return false
	case Slow:
		l.wait(w.Delay)
	}
	answer, err := l.ask(raw)
	if err != nil {
		return false
	}
	switch w.Fault {
	case LoseAnswers:
		return l.hang()
	case DropAnswer:
		return false
	case Duplicate: // from now on: a copy does not overtake its original
		l.p.group.Go(func() { l.p.copyLater(raw, w.Late) })
	case ResetMidBody:
		_, _ = l.client.Write(answer[:len(answer)-1-len(answer)/20])
		reset(l.client)
		return false
	case Slow:
		l.wait(w.Delay)
		return l.trickle(answer, w.Rate)
	}
	if l.p.cutOff() {
		return l.hang() // the partition came between
	}
	_, err = l.client.Write(answer)
	return err == nil
}

// cutOff reports whether nothing passes now.
func (p *Proxy) cutOff() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conditions.Fault == Partition && p.active()
}

// hang keeps the connection open, says nothing and hears nothing until the client has gone.
func (l *link) hang() bool {
	_, _ = io.Copy(io.Discard, l.in)
	return false
}

func (l *link) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.p.ctx.Done():
	case <-t.C:
	}
}

// trickle writes an answer a twentieth of a second's bytes at a time.
func (l *link) trickle(answer []byte, rate int) bool {
	step := len(answer)
	if rate > 0 {
		step = max(1, rate/20)
	}
	for len(answer) > 0 {
		n := min(step, len(answer))
		if _, err := l.client.Write(answer[:n]); err != nil || l.p.ctx.Err() != nil {
			return false
		}
		if answer = answer[n:]; len(answer) > 0 {
			l.wait(time.Second / 20)
		}
	}
	return true
}

// ask forwards a request and reads its answer to the end.
func (l *link) ask(raw []byte) ([]byte, error) {
	if l.server == nil {
		c, err := l.p.dial(l.p.ctx, "tcp", l.p.to)
		if err != nil {
			return nil, err
		}
		l.server, l.out = c, bufio.NewReader(c)
		stop := make(chan struct{})
		l.p.group.Go(func() { // a server that hangs ends with the proxy
			select {
			case <-l.p.ctx.Done():
				_ = c.Close()
			case <-stop:
			}
		})
		l.server = closer{c, stop}
	}
	if _, err := l.server.Write(raw); err != nil {
		return nil, err
	}
	return l.p.readAnswer(l.out)
}

// closer tells when a connection is closed.
type closer struct {
	net.Conn
	stop chan struct{}
}

// Close implements net.Conn.
func (c closer) Close() error {
	close(c.stop)
	return c.Conn.Close()
}

// copyLater sends a copy of a request on a connection of its own. Nobody hears the answer.
func (p *Proxy) copyLater(raw []byte, late time.Duration) {
	l := &link{p: p}
	l.wait(late)
	if p.ctx.Err() != nil {
		return
	}
	_, _ = l.ask(raw)
	if l.server != nil {
		_ = l.server.Close()
	}
}

// readRequest reads a request, byte for byte as it was sent but for the form of its body's length.
func readRequest(r *bufio.Reader) ([]byte, error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", req.Method, req.RequestURI, req.Host)
	if err := req.Header.Write(&b); err != nil {
		return nil, err
	}
	if req.Header.Get("Content-Length") == "" && len(body) > 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes(), nil
}

// readAnswer reads an answer to its end, and has its clock be as wrong as is wanted.
func (p *Proxy) readAnswer(r *bufio.Reader) ([]byte, error) {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	offset := p.offset
	p.mu.Unlock()
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil && offset != 0 {
		resp.Header.Set("Date", at.Add(offset).UTC().Format(http.TimeFormat))
	}
	resp.TransferEncoding, resp.ContentLength = nil, int64(len(body))
	copied := *resp
	copied.Body = io.NopCloser(bytes.NewReader(body))
	var b bytes.Buffer
	err = copied.Write(&b)
	return b.Bytes(), err
}
