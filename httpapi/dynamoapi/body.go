package dynamoapi

import (
	"compress/gzip"
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
func (b *bodies) read(w http.ResponseWriter, r *http.Request, hashed bool) (out body, err error) {
	var from io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	sum := sha256.New()
	if hashed {
		from = io.TeeReader(from, sum)
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		if from, err = gzip.NewReader(from); err != nil {
			return body{}, refuse(ofCoral+"SerializationException", "The body is not gzip")
		}
	}
	p := parcel{of: b, data: b.buffer()}
	if err := p.fill(from); err != nil {
		b.held.Add(-p.held)
		return body{}, unread(err)
	}
	out = body{text: string(p.data), held: p.held}
	if hashed {
		sum.Sum(out.hash[:0])
	}
	b.keep(p.data)
	return out, nil
}

// release gives the memory of a body back.
func (b *bodies) release(of body) { b.held.Add(-of.held) }

// unread is the refusal of a body that could not be read.
func unread(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return errTooLarge()
	}
	return refuse(ofCoral+"SerializationException", "The body could not be read")
}

// buffer gives a buffer to read into.
func (b *bodies) buffer() []byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return (*buf)[:0]
	}
	return make([]byte, 0, 4<<10)
}

// keep takes a buffer back, but for a large one.
func (b *bodies) keep(buf []byte) {
	if cap(buf) <= freeBody {
		b.pool.Put(&buf)
	}
}

// checkForm refuses what is no request of the protocol at all.
func checkForm(r *http.Request) error {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	media = strings.TrimSpace(media)
	if r.Method == http.MethodPost && (media == contentType || media == "application/json") {
		return nil
	}
	e := refuse(ofCoral+"UnknownOperationException", "")
	e.Status = http.StatusNotFound
	return e
}

func errTooLarge() *Error {
	e := refuse(ofCoral+"RequestEntityTooLargeException", "Request size exceeded the maximum of %d bytes", maxBody)
	e.Status = http.StatusRequestEntityTooLarge
	return e
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
		e := refuse(ofCoral+"ServiceUnavailableException", "Too many large requests at once")
		e.Status = http.StatusServiceUnavailable
		return e
	}
	p.held += n
	return nil
}
