package sse

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/klauspost/compress/flate"
)

// encoded is an encoded frame, shared by all of its readers.
type encoded struct {
	plain []byte // server-sent events
	once  sync.Once
	small []byte // plain as deflate blocks that do not refer to earlier data
}

// encode encodes an event. The id is omitted if seq is 0.
func encode(name string, seq uint64, data []byte) *encoded {
	b := make([]byte, 0, len(name)+len(data)+48)
	b = append(append(append(b, "event: "...), name...), '\n')
	if seq != 0 {
		b = append(strconv.AppendUint(append(b, "id: "...), seq, 10), '\n')
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	return &encoded{plain: append(b, '\n')}
}

// Encoder pools what encoding needs.
type Encoder struct {
	deflaters sync.Pool // of *flate.Writer, which takes most of a megabyte
	scratch   sync.Pool // of *bytes.Buffer

	// Frames that every stream sends.
	hello, beat, tick *encoded
}

// NewEncoder returns an encoder, to be shared by all streams of a server.
func NewEncoder() *Encoder {
	return &Encoder{
		hello: &encoded{plain: fmt.Appendf(nil, "retry: %d\n\n", retryAfter.Milliseconds())},
		beat:  &encoded{plain: []byte(": \n\n")}, tick: encode("tick", 0, []byte("{}")),
	}
}

func (e *Encoder) deflater() *flate.Writer {
	if z, ok := e.deflaters.Get().(*flate.Writer); ok {
		return z
	}
	z, err := flate.NewWriter(nil, 6)
	if err != nil {
		panic(err) // the level is valid
	}
	return z
}

func (e *Encoder) buffer() *bytes.Buffer {
	if b, ok := e.scratch.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// compressFrame returns the frame compressed on its own and flushed to a byte boundary. Such frames can be concatenated to one deflate stream,
// so all readers can share them.
func (w *encoded) compressFrame(e *Encoder) []byte {
	w.once.Do(func() {
		z := e.deflater()
		defer e.deflaters.Put(z)
		var out bytes.Buffer
		z.Reset(&out)
		_, _ = z.Write(w.plain) // a buffer takes everything
		_ = z.Flush()
		w.small = bytes.Clone(out.Bytes())
	})
	return w.small
}
