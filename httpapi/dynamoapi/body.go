package dynamoapi

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// The limits of what is read.
const (
	maxBody   = 16 << 20  // of a request, as in DynamoDB; of a packed one also when it is unpacked
	freeBody  = 64 << 10  // what a request may have without asking
	maxBodies = 128 << 20 // of all requests together, beyond what is free
	maxDrain  = 64 << 20  // of a refused request that is read on, so that its client comes to reading the answer
)

// bodies reads requests, and bounds the memory of all of them: a client that sends a large one slowly holds what it has
// sent, and no more.
type bodies struct {
	held atomic.Int64
	pool sync.Pool // of *[]byte
}

// body is the body of one request.
type body struct {
	text string
	hash [sha256.Size]byte // as it came over the wire, if it was asked for
	held int64
}

// read reads the body of a request. It is released when nothing of the request is needed any more.
func (b *bodies) read(r *http.Request, hashed bool) (out body, err error) {
	if r.ContentLength > maxBody {
		return body{}, errTooLarge()
	}
	raw := &wireBytes{from: r.Body}
	from := io.LimitReader(raw, maxBody+1)
	sum := sha256.New()
	if hashed {
		from = io.TeeReader(from, sum)
	}
	if from, err = unpacked(from, r.Header.Get("Content-Encoding")); err != nil {
		return body{}, err
	}
	p := parcel{of: b, data: b.buffer()}
	if err := p.fill(from); err != nil {
		b.held.Add(-p.held)
		if r.ContentLength < 0 { // how long it is, only its end tells
			drain(raw)
		}
		if raw.n > maxBody { // whatever else it was refused for
			return body{}, errTooLarge()
		}
		return body{}, unread(err)
	}
	out = body{text: string(p.data), held: p.held}
	if hashed {
		sum.Sum(out.hash[:0])
	}
	if cap(p.data) <= freeBody { // a large one is not kept
		b.pool.Put(&p.data)
	}
	return out, nil
}

// unpacked reads what a Content-Encoding has packed. Deflate is that of zlib, or what is in it alone: clients send both.
func unpacked(from io.Reader, encoding string) (io.Reader, error) {
	var err error
	switch strings.ToLower(encoding) {
	case "gzip":
		from, err = gzip.NewReader(from)
	case "deflate":
		buffer := bufio.NewReader(from)
		from = flate.NewReader(buffer)
		if head, _ := buffer.Peek(2); len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			from, err = zlib.NewReader(buffer)
		}
	}
	if err != nil {
		return nil, refuse(ofCoral+"SerializationException", "The body is not %s", strings.ToLower(encoding))
	}
	return from, nil
}

// wireBytes counts what comes over the wire.
type wireBytes struct {
	from io.Reader
	n    int64
}

func (c *wireBytes) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// drain reads on in a body that is of no use any more, within a limit. Nothing is kept.
func drain(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, maxDrain) // how far it comes does not matter
}

// drainBehind lets a refusal be sent before the request has been read to its end, and returns what reads the rest behind
// it. A client that reads while it sends has its answer at once; one that sends all of it first comes to reading: to
// close on it would reset the connection, and the answer would be lost.
func drainBehind(w http.ResponseWriter, r *http.Request) (rest func()) {
	if r.Header.Get("Expect") != "" { // it waits for leave to send, which it does not get
		return func() {}
	}
	c := http.NewResponseController(w)
	if c.EnableFullDuplex() != nil { // no connection of net/http's
		return func() {}
	}
	return func() {
		if c.Flush() == nil {
			drain(r.Body)
		}
	}
}

// unread is the refusal of a body that could not be read.
func unread(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return refuse(ofCoral+"SerializationException", "The body could not be read")
}

// buffer returns a buffer to read into.
func (b *bodies) buffer() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return (*buf)[:0]
	}
	return make([]byte, 0, 4<<10)
}

// checkForm refuses what is no request of the protocol at all.
func checkForm(r *http.Request) error {
	if headerSize(r) > maxHeader {
		return refuseWith(http.StatusRequestHeaderFieldsTooLarge, ofCoral+"RequestEntityTooLargeException",
			"The headers exceed the maximum of %d bytes", maxHeader)
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	media = strings.TrimSpace(media)
	if r.URL.Path == "/" && r.Method == http.MethodPost && (media == contentType || media == "application/json") {
		return nil
	}
	return refuseWith(http.StatusNotFound, ofCoral+"UnknownOperationException", "")
}

// headerSize is how long the headers are with the line above them.
func headerSize(r *http.Request) int {
	n := len("POST  HTTP/1.1\r\nHost: \r\n") + len(r.RequestURI) + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(": \r\n") + len(v)
		}
	}
	return n
}

func errTooLarge() *Error {
	return refuseWith(http.StatusRequestEntityTooLarge, ofCoral+"RequestEntityTooLargeException",
		"Request size exceeded the maximum of %d bytes", maxBody)
}

// parcel is the body of one request as it comes in.
type parcel struct {
	of   *bodies
	data []byte
	held int64
}

// fill reads to the end, and asks for room before it takes more.
func (p *parcel) fill(from io.Reader) error {
	for {
		if len(p.data) == cap(p.data) {
			if err := p.hold(cap(p.data)); err != nil {
				return err
			}
			p.data = slices.Grow(p.data, cap(p.data))
		}
		n, err := from.Read(p.data[len(p.data):min(cap(p.data), maxBody+1)])
		p.data = p.data[:len(p.data)+n]
		switch {
		case len(p.data) > maxBody:
			return errTooLarge()
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// hold asks for memory, twice what the buffer grows by: the text is a copy.
func (p *parcel) hold(more int) error {
	if len(p.data)+more <= freeBody {
		return nil
	}
	n := int64(2 * more)
	if p.of.held.Add(n) > maxBodies {
		p.of.held.Add(-n)
		return refuseWith(http.StatusServiceUnavailable, ofCoral+"ServiceUnavailableException", "Too many large requests at once")
	}
	p.held += n
	return nil
}
