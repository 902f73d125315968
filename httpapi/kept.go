package httpapi

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/store"
)

// maxKept is how many topics' pages, and how many topics' snapshots, are cached per application.
const maxKept = 64

// kept caches the latest T of each topic.
type kept[T any] struct {
	mu sync.Mutex
	of map[string]*T
}

// entry returns a topic's entry, zero at first. A full cache is emptied.
func (k *kept[T]) entry(topic string) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.of[topic]
	if e == nil {
		if k.of == nil || len(k.of) >= maxKept {
			k.of = map[string]*T{}
		}
		e = new(T)
		k.of[topic] = e
	}
	return e
}

func (k *kept[T]) forget(topic string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, topic)
}

func (k *kept[T]) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.of)
}

func (k *kept[T]) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.of)
}

// Limits of the public answers that an application keeps: beyond either all are forgotten.
const (
	mostAnswers     = 128
	mostAnswerBytes = 16 << 20
	mostQuery       = 256 // bytes of a query whose answer is kept
)

// publicAnswers keeps answers that are the same for everybody, until something is committed, so that each is read, encoded and compressed
// once however many ask for it.
type publicAnswers struct {
	mu    sync.Mutex
	of    map[string]*publicAnswer
	bytes int
}

// publicAnswer is the latest answer at one address.
type publicAnswer struct {
	mu     sync.Mutex // held while it is made: others wait for the result
	made   bool
	seq    uint64
	body   []byte
	packed []byte // body compressed; nil: it is too short
}

// entryAt returns the entry of an address.
func (p *publicAnswers) entryAt(address string) *publicAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.of[address]
	if a == nil {
		if p.of == nil || len(p.of) >= mostAnswers || p.bytes >= mostAnswerBytes {
			p.of, p.bytes = map[string]*publicAnswer{}, 0
		}
		a = &publicAnswer{}
		p.of[address] = a
	}
	return a
}

// countBytes counts the bytes of an answer that was made anew.
func (p *publicAnswers) countBytes(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
}

// AnswerPublic is AnswerView for an answer that depends on nothing but the address and the store.
func AnswerPublic[T any](c *gin.Context, read func(tx *store.Tx) (T, error)) error {
	if len(c.Request.URL.RawQuery) > mostQuery {
		return AnswerView(c, read)
	}
	body, packed, err := appOf(c).answers.get(c, func() ([]byte, error) { return encodedView(c, read) })
	if err != nil {
		return err
	}
	if packed != nil && acceptsGzip(c.GetHeader("Accept-Encoding")) {
		c.Header("Content-Encoding", "gzip")
		writeTaggedAs(c, jsonType, body, packed)
		return nil
	}
	writeTagged(c, jsonType, body)
	return nil
}

// get returns the answer to a request, which is made anew if something was committed since it was made last.
func (p *publicAnswers) get(c *gin.Context, encode func() ([]byte, error)) (body, packed []byte, err error) {
	a := p.entryAt(c.Request.URL.EscapedPath() + "?" + c.Request.URL.RawQuery)
	a.mu.Lock()
	defer a.mu.Unlock()
	seq := serverOf(c).cfg.Store.Seq() // before reading: the answer may be newer
	if a.made && a.seq == seq {
		return a.body, a.packed, nil
	}
	if body, err = encode(); err != nil {
		return nil, nil, err
	}
	before := len(a.body) + len(a.packed)
	if a.packed, err = pack(body); err != nil {
		return nil, nil, err
	}
	a.made, a.seq, a.body = true, seq, body
	p.countBytes(len(a.body) + len(a.packed) - before)
	return a.body, a.packed, nil
}

// pack compresses an answer, unless it is so short that it is sent as it is.
func pack(body []byte) ([]byte, error) {
	if len(body) < leastCompressed {
		return nil, nil
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, compression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// acceptsGzip reports whether a client accepts compressed answers.
func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return !refusedQuality(strings.ReplaceAll(quality, " ", ""))
		}
	}
	return false
}

// refusedQuality reports whether a quality value is zero: "q=0", "q=0.000".
func refusedQuality(quality string) bool {
	value, ok := strings.CutPrefix(strings.ToLower(quality), "q=")
	return ok && strings.Trim(value, "0.") == ""
}
