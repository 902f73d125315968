package replay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport calls h in this process without a network: the client's whole path runs, in a fraction of the time. A handler
// that panics with http.ErrAbortHandler is a server that did not answer in time, or whose answer breaks off; nothing waits
// in real time for it.
func Transport(h http.Handler) http.RoundTripper { return &direct{handler: h} }

type direct struct {
	handler http.Handler
	spare   sync.Pool // *bytes.Buffer: a Test's reply has megabytes
}

// RoundTrip implements http.RoundTripper.
func (d *direct) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, context.Cause(req.Context())
	}
	buffer, ok := d.spare.Get().(*bytes.Buffer)
	if !ok {
		buffer = &bytes.Buffer{}
	}
	buffer.Reset()
	a := &answer{header: http.Header{}, status: http.StatusOK, body: buffer}
	cut := d.ask(a, req)
	if cut && buffer.Len() == 0 {
		d.spare.Put(buffer)
		return nil, lateError{}
	}
	length := int64(buffer.Len())
	if told, err := strconv.ParseInt(a.header.Get("Content-Length"), 10, 64); err == nil {
		length = told
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, ContentLength: length, Request: req,
		Body: &answerBody{of: d, buffer: buffer, cut: cut || length > int64(buffer.Len())},
	}, nil
}

// ask calls the handler; it reports whether the handler aborted.
func (d *direct) ask(a *answer, req *http.Request) (cut bool) {
	defer func() {
		if r := recover(); r != nil {
			err, ok := r.(error)
			if !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(r)
			}
			cut = true
		}
	}()
	d.handler.ServeHTTP(a, req)
	return false
}

// answer is an http.ResponseWriter that keeps what is written.
type answer struct {
	header http.Header
	status int
	wrote  bool
	body   *bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p)
}

// answerBody returns its buffer when it is closed.
type answerBody struct {
	of     *direct
	buffer *bytes.Buffer
	cut    bool
}

// Read implements io.Reader.
func (b *answerBody) Read(p []byte) (int, error) {
	if b.buffer == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.buffer.Read(p)
	if errors.Is(err, io.EOF) && b.cut {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (b *answerBody) Close() error {
	if b.buffer != nil {
		b.of.spare.Put(b.buffer)
		b.buffer = nil
	}
	return nil
}

// lateError is net/http's error for an answer that did not come in time.
type lateError struct{}

// Error implements error.
func (lateError) Error() string { return "no answer in time" }

// Timeout implements net.Error.
func (lateError) Timeout() bool { return true }

// Temporary implements net.Error.
func (lateError) Temporary() bool { return true }
