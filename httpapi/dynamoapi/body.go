package dynamoapi

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
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
}

// read reads the body of a request. release gives its memory back; it is called when nothing of the request is needed.
func (b *bodies) read(w http.ResponseWriter, r *http.Request) (text string, release func(), refused *Error) {
	if refused := checkForm(r); refused != nil {
		return "", nil, refused
	}
	var from io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return "", nil, refuse(ofCoral+"SerializationException", "The body is not gzip")
		}
		from = unpacked
	}
	p := parcel{of: b}
	if n := r.ContentLength; n > 0 && n <= freeBody {
		p.text.Grow(int(n))
	}
	_, err := io.Copy(&p, from)
	if err == nil {
		return p.text.String(), p.release, nil
	}
	p.release()
	if e, ok := errors.AsType[*Error](err); ok {
		return "", nil, e
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return "", nil, errTooLarge()
	}
	return "", nil, refuse(ofCoral+"SerializationException", "The body could not be read")
}

// checkForm refuses what is no request of the protocol at all.
func checkForm(r *http.Request) *Error {
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
	text strings.Builder
	held int64
}

// Write takes a piece, if there is room for it.
func (p *parcel) Write(piece []byte) (int, error) {
	n := p.text.Len() + len(piece)
	if n > maxBody {
		return 0, errTooLarge()
	}
	if n > freeBody {
		if p.of.held.Add(int64(len(piece))) > maxBodies {
			p.of.held.Add(-int64(len(piece)))
			e := refuse(ofCoral+"ServiceUnavailableException", "Too many large requests at once")
			e.Status = http.StatusServiceUnavailable
			return 0, e
		}
		p.held += int64(len(piece))
	}
	return p.text.Write(piece)
}

func (p *parcel) release() {
	p.of.held.Add(-p.held)
	p.held = 0
}
