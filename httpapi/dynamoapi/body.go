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

// Limits in bytes.
const (
	maxBody   = 16 << 20  // of a request, as in DynamoDB, both compressed and uncompressed
	freeBody  = 64 << 10  // of a request without a reservation
	maxBodies = 128 << 20 // of all reservations together
	maxDrain  = 64 << 20  // read and discarded of a refused request, so that its client can read the answer
)

// bodies reads request bodies, and limits their total memory. It reserves memory as a body arrives: a client that announces a large body
// and sends it slowly holds little.
type bodies struct {
	held atomic.Int64
	pool sync.Pool // of *[]byte
}

// body is a request's body.
type body struct {
	text string
	hash [sha256.Size]byte // hash of the bytes received, if requested
	held int64
}

// read reads a request's body. Release it when nothing of the request is needed any more.
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
	if from, err = decompressBody(from, r.Header.Get("Content-Encoding")); err != nil {
		return body{}, err
	}
	p := parcel{of: b, data: b.buffer()}
	if err := p.fill(from); err != nil {
		b.held.Add(-p.held)
		if r.ContentLength < 0 { // the length is only known at the end
			drain(raw)
		}
		if raw.n > maxBody { // takes precedence over other errors
			return body{}, errTooLarge()
		}
		return body{}, unread(err)
	}
	out = body{text: string(p.data), held: p.held}
	if hashed {
		sum.Sum(out.hash[:0])
	}
	if cap(p.data) <= freeBody { // large buffers are not kept
		b.pool.Put(&p.data)
	}
	return out, nil
}

// decompressBody decompresses a Content-Encoding. Deflate may be zlib or raw: clients send both.
func decompressBody(from io.Reader, encoding string) (io.Reader, error) {
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

// wireBytes counts received bytes.
type wireBytes struct {
	from io.Reader
	n    int64
}

func (c *wireBytes) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// drain reads and discards the rest of a body, within a limit.
func drain(body io.Reader) {
	_, _ = io.CopyN(io.Discard, body, maxDrain) // best effort
}

// drainBehind allows a refusal to be sent before the request has been read completely, and returns a function that reads the rest
// afterwards. A client that reads while it sends gets its answer at once. A client that sends everything first would lose the answer if
// the connection were closed before: it would be reset.
func drainBehind(w http.ResponseWriter, r *http.Request) (rest func()) {
	if r.Header.Get("Expect") != "" { // the client waits for 100 Continue and never sends the body
		return func() {}
	}
	c := http.NewResponseController(w)
	if c.EnableFullDuplex() != nil { // not a connection of net/http
		return func() {}
	}
	return func() {
		if c.Flush() == nil {
			drain(r.Body)
		}
	}
}

// unread returns the refusal of a body that could not be read.
func unread(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return refuse(ofCoral+"SerializationException", "The body could not be read")
}

func (b *bodies) buffer() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return (*buf)[:0]
	}
	return make([]byte, 0, 4<<10)
}

// checkForm refuses requests that do not follow the protocol at all.
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

// headerSize returns the length of the request line and headers.
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

// parcel is a body that is being received.
type parcel struct {
	of   *bodies
	data []byte
	held int64
}

// fill reads to the end, and reserves memory before the buffer grows.
func (p *parcel) fill(from io.Reader) error {
	for {
		if len(p.data) == cap(p.data) {
			if err := p.reserveMemory(cap(p.data)); err != nil {
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

// reserveMemory reserves memory: twice what the buffer grows by, because the text is a copy.
func (p *parcel) reserveMemory(more int) error {
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
