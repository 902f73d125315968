package intent

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// entryVersion is the first byte of an encoded entry.
const entryVersion = 1

// The flags of an encoded entry.
const (
	flagProvisional = 1 << iota
	flagRead
	flagReplacesExpired
	flagUnsure
	flagLate
	flagClosed
	flagDead
	flagLost
	flagReplay
	flagItem // an Item follows, possibly empty
	flagWas
	flagRare // the fields that few entries have follow
	flagBefore
	flagAgain // the instant Again follows
	flagMoved
	flagBegun // the sequence Begun follows
	flagProof
	flagSince  // the instant Since follows
	flagYields // the instant Yields follows
)

// policyList numbers, from 1, the policies of tables that send. A policy that is not listed is encoded as text.
func policyList() []store.Policy {
	return []store.Policy{store.PolicyIntent, store.PolicyNewest, store.PolicyState}
}

func (e *Entry) flags() (f uint64) {
	for i, set := range []bool{
		e.Provisional, e.Read, e.ReplacesExpired, e.Unsure, e.Late, e.Closed, e.Dead, e.lost, e.replay, e.Item != nil, e.Was != nil, e.rare(),
		e.before, e.again != 0, e.Moved, e.Begun != 0, e.Proof, !e.Since.IsZero(), !e.Yields.IsZero(),
	} {
		if set {
			f |= 1 << i
		}
	}
	return f
}

func (e *Entry) rare() bool {
	return e.Txn != 0 || len(e.Folds) > 0 || len(e.Checks) > 0 || e.Stamp != 0 || e.Lock != "" || e.Fence != 0 || e.From != "" ||
		e.Label != "" || e.Refused != 0 || !e.NotBefore.IsZero() || e.Why != "" || e.Held != 0
}

// Encode returns the stored form of the entry; DecodeEntry reads it. Times keep nanoseconds, in UTC.
func (e *Entry) Encode() []byte {
	w := writer{b: make([]byte, 0, 160+len(e.Update)+len(e.Condition))}
	w.b = append(w.b, entryVersion)
	w.uint(e.flags())
	w.uint(e.Seq)
	w.uint(uint64(e.Digits))
	w.uint(e.Seq - e.Group)
	w.text(e.Table)
	policy := slices.Index(policyList(), e.Policy) + 1
	w.uint(uint64(policy))
	if policy == 0 {
		w.text(string(e.Policy))
	}
	w.item(e.Key)
	w.uint(uint64(e.Op))
	w.text(e.Update)
	w.text(e.Condition)
	w.params(e.Params)
	w.time(e.At)
	w.uint(uint64(e.Life.Kind))
	w.text(e.Life.ID)
	w.uint(e.Behind)
	w.uint(uint64(e.Sent))
	if e.Item != nil {
		w.item(e.Item)
	}
	if e.Was != nil {
		w.item(e.Was)
	}
	if e.rare() {
		e.encodeRare(&w)
	}
	if e.again != 0 {
		w.int(e.again)
	}
	if e.Begun != 0 {
		w.uint(e.Begun)
	}
	if !e.Since.IsZero() {
		w.time(e.Since)
	}
	if !e.Yields.IsZero() {
		w.time(e.Yields)
	}
	return w.b
}

func (e *Entry) encodeRare(w *writer) {
	w.uint(e.Txn)
	w.uint(uint64(len(e.Folds)))
	for _, seq := range e.Folds {
		w.uint(seq)
	}
	w.uint(uint64(len(e.Checks)))
	for _, c := range e.Checks {
		w.text(c.Table)
		w.item(c.Key)
		w.text(c.Condition)
		w.params(c.Params)
	}
	w.int(e.Stamp)
	w.text(e.Lock)
	w.int(e.Fence)
	w.text(e.From)
	w.text(e.Label)
	w.uint(uint64(e.Refused))
	w.time(e.NotBefore)
	w.text(e.Why)
	w.uint(uint64(e.Held))
}

// DecodeEntry reads what Encode wrote. Anything else is fault.Damaged.
func DecodeEntry(b []byte) (*Entry, error) {
	if len(b) == 0 || b[0] != entryVersion {
		return nil, damagedEntry(errors.New("unknown version"))
	}
	r := reader{Reader: fields.Reader{B: b[1:]}}
	flags := r.Uvarint()
	e := &Entry{Write: Write{Seq: r.Uvarint(), Digits: uint32(r.Uvarint())}}
	e.Group = e.Seq - r.Uvarint()
	e.Table = r.text()
	if at := r.Uvarint(); at == 0 {
		e.Policy = store.Policy(r.text())
	} else if list := policyList(); at <= uint64(len(list)) {
		e.Policy = list[at-1]
	} else {
		r.fail(errCut)
	}
	e.Key = r.item()
	e.Op = store.Op(r.Uvarint())
	e.Update, e.Condition = r.text(), r.text()
	e.Params = r.params()
	e.At = r.time()
	e.Life = Life{Kind: LifeKind(r.Uvarint()), ID: r.text()}
	e.Behind, e.Sent = r.Uvarint(), int(r.Uvarint())
	for i, to := range []*bool{
		&e.Provisional, &e.Read, &e.ReplacesExpired, &e.Unsure, &e.Late, &e.Closed, &e.Dead, &e.lost, &e.replay,
	} {
		*to = flags&(1<<i) != 0
	}
	if flags&flagItem != 0 {
		e.Item = r.item()
	}
	if flags&flagWas != 0 {
		e.Was = r.item()
	}
	if flags&flagRare != 0 {
		e.decodeRare(&r)
	}
	e.decodeLater(&r, flags)
	switch {
	case r.err != nil:
		return nil, damagedEntry(r.err)
	case r.Bad:
		return nil, damagedEntry(errCut)
	case len(r.B) > 0 || flags >= flagYields<<1:
		return nil, damagedEntry(errors.New("trailing data"))
	}
	return e, nil
}

// decodeLater reads the fields that were added after the first version.
func (e *Entry) decodeLater(r *reader, flags uint64) {
	e.before, e.Moved, e.Proof = flags&flagBefore != 0, flags&flagMoved != 0, flags&flagProof != 0
	if flags&flagAgain != 0 {
		e.again = r.Varint()
	}
	if flags&flagBegun != 0 {
		e.Begun = r.Uvarint()
	}
	if flags&flagSince != 0 {
		e.Since = r.time()
	}
	if flags&flagYields != 0 {
		e.Yields = r.time()
	}
}

func (e *Entry) decodeRare(r *reader) {
	e.Txn = r.Uvarint()
	for range r.Count() {
		e.Folds = append(e.Folds, r.Uvarint())
	}
	for range r.Count() {
		e.Checks = append(e.Checks, Check{Table: r.text(), Key: r.item(), Condition: r.text(), Params: r.params()})
	}
	e.Stamp = r.Varint()
	e.Lock = r.text()
	e.Fence = r.Varint()
	e.From, e.Label = r.text(), r.text()
	e.Refused = int(r.Uvarint())
	e.NotBefore = r.time()
	e.Why = r.text()
	e.Held = Hold(r.Uvarint())
}

func damagedEntry(err error) error {
	return fault.Wrap(err, fault.Damaged, "entry_damaged", "an entry of the outbox cannot be read")
}

var errCut = errors.New("cut short")

// writer appends fields.
type writer struct{ b []byte }

func (w *writer) uint(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) int(n int64)   { w.b = binary.AppendVarint(w.b, n) }

func (w *writer) text(s string) { w.b = fields.Append(w.b, s) }

// item writes an item preceded by its length.
func (w *writer) item(it attr.Item) {
	at := len(w.b)
	w.b = append(w.b, 0, 0, 0, 0)
	w.b = attr.Encode(w.b, it)
	n := len(w.b) - at - 4
	var head [binary.MaxVarintLen64]byte
	k := binary.PutUvarint(head[:], uint64(n))
	if k <= 4 { // always, unless the item exceeds 256 MB
		copy(w.b[at:], head[:k])
		copy(w.b[at+k:], w.b[at+4:])
		w.b = w.b[:at+k+n]
	}
}

func (w *writer) params(p expr.Params) {
	w.uint(uint64(len(p.Names)))
	for _, placeholder := range slices.Sorted(maps.Keys(p.Names)) {
		w.text(placeholder)
		w.text(p.Names[placeholder])
	}
	if len(p.Values) == 0 {
		w.uint(0)
		return
	}
	w.item(p.Values)
}

// time writes nanoseconds since 1970 plus one; 0 means no time.
func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.int(0)
		return
	}
	n := t.UnixNano()
	if n >= 0 {
		n++
	}
	w.int(n)
}

// reader reads fields; err is the first other error.
type reader struct {
	fields.Reader
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.B = nil
}

func (r *reader) text() string { return string(r.Bytes()) }

func (r *reader) item() attr.Item {
	b := r.Bytes()
	if r.Bad {
		return nil
	}
	it, err := attr.Encoded(b).Decode()
	if err != nil {
		r.fail(err)
		return nil
	}
	return it
}

func (r *reader) params() (p expr.Params) {
	for range r.Count() {
		if p.Names == nil {
			p.Names = map[string]string{}
		}
		placeholder := r.text()
		p.Names[placeholder] = r.text()
	}
	if values := r.Bytes(); len(values) > 0 {
		it, err := attr.Encoded(values).Decode()
		if err != nil {
			r.fail(err)
		}
		p.Values = it
	}
	return p
}

func (r *reader) time() time.Time {
	n := r.Varint()
	switch {
	case n == 0:
		return time.Time{}
	case n > 0:
		n--
	}
	return time.Unix(0, n).UTC()
}
