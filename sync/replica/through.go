package replica

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// ThroughResult is what became of a write through to the cloud.
type ThroughResult struct {
	Seq   uint64    // names it: ask for it with Proved, or repeat it with the same idempotency key
	Proof Proof     // pending: nobody knows yet, the answer is 202
	Item  attr.Item // applied: the item as it is now; nil: deleted
}

// OfflineError refuses what cannot be done without the cloud. Its fault is of kind Unavailable.
type OfflineError struct{ After time.Duration }

// RetryAfter is when the cloud is asked next.
func (e *OfflineError) RetryAfter() time.Duration { return e.After }

// Error has no more to say.
func (*OfflineError) Error() string { return "the cloud cannot be reached" }

// Unwrap returns the fault that the edges map.
func (*OfflineError) Unwrap() error {
	return fault.New(fault.Unavailable, "offline", "The cloud cannot be reached, and this cannot be done without it.")
}

// Through makes one write, to a table of policy through, in the cloud first: it is journaled, marked and attempted like
// any entry, in the item's lane, and shows here when it is proved. It returns when it is, when it is refused, or when ctx
// ends: then the result is pending, and no error.
//
// idempotency is the caller's: an Idempotency-Key with who sent it, or, without one, who is asking. The same with the same
// write joins what is pending, or gets its outcome again for 24 hours.
//
// Errors: *store.ConditionFailedError if the condition does not hold in the cloud; *SettledError if the write ended in the
// conflict log for another reason; *OfflineError; fault.Conflict (409) with code through_pending while another write
// waits on the item, and idempotency_reused for the same key with another write; fault.Invalid in DynamoDB's words.
func (r *Replica) Through(ctx context.Context, op store.WriteItem, idempotency string) (ThroughResult, error) {
	t, err := r.newThrough(op, idempotency)
	if err != nil {
		return ThroughResult{}, err
	}
	if s := r.net.state(); !s.Up {
		if done, found, err := r.throughBefore(ctx, t); err != nil || found {
			return done, err
		}
		return ThroughResult{}, &OfflineError{After: max(s.Probe.Sub(r.clock.Now()), time.Second)}
	}
	if err := r.Ensure(ctx, t.spec.Name, t.key); err != nil {
		return ThroughResult{}, err
	}
	var seq uint64
	err = r.store.Update(ctx, func(tx *store.Tx) (err error) {
		seq, err = r.startThrough(tx, t)
		return err
	})
	if err != nil {
		return ThroughResult{}, err
	}
	r.asked.get().Set()
	return r.throughResult(ctx, t, seq)
}

// through is one such write.
type through struct {
	item
	op      store.Op
	request store.Request
	whole   attr.Item // of a put
	bound   expr.Bound
	noteID  string // of its note in the own table
	hash    string // of the write
}

func (r *Replica) newThrough(op store.WriteItem, idempotency string) (*through, error) {
	t := &through{}
	var table string
	switch {
	case op.Put != nil:
		table, t.op, t.whole = op.Put.Table, store.OpPut, op.Put.Item
		t.request = store.Request{Condition: op.Put.Condition, Params: op.Put.Params}
	case op.Update != nil:
		table, t.op, t.key = op.Update.Table, store.OpUpdate, op.Update.Key
		t.request = store.Request{Update: op.Update.Update, Condition: op.Update.Condition, Params: op.Update.Params}
	case op.Delete != nil:
		table, t.op, t.key = op.Delete.Table, store.OpDelete, op.Delete.Key
		t.request = store.Request{Condition: op.Delete.Condition, Params: op.Delete.Params}
	default:
		return nil, fault.New(fault.Invalid, "validation", "a write through to the cloud is a Put, an Update or a Delete")
	}
	if t.spec = r.spec(table); t.spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	if t.spec.Policy != store.PolicyThrough {
		return nil, fault.New(fault.Invalid, "not_through", "table %s is not of the policy through", table)
	}
	if t.whole != nil {
		t.key = keyOf(t.spec, t.whole)
	}
	var err error
	t.bound, err = r.exprs.Bind(expr.Request{Update: t.request.Update, Condition: t.request.Condition, Params: t.request.Params})
	if err != nil {
		return nil, err
	}
	t.hash = t.fingerprint()
	who := sha256.Sum256([]byte(idempotency))
	t.noteID = "through#" + hex.EncodeToString(who[:16])
	if idempotency == "" {
		t.noteID += "#" + t.hash
	}
	return t, nil
}

// keyOf takes the key attributes of an item.
func keyOf(spec *store.TableSpec, it attr.Item) attr.Item {
	key := attr.Item{}
	for _, a := range []string{spec.Key.Partition.Name, spec.Key.Sort.Name} {
		if v, ok := it[a]; ok && a != "" {
			key[a] = v
		}
	}
	return key
}

// fingerprint identifies a write.
func (t *through) fingerprint() string {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(t.spec.Name), {byte(t.op)}, attr.Encode(nil, t.key), attr.Encode(nil, t.whole), []byte(t.request.Update),
		[]byte(t.request.Condition), attr.Encode(nil, t.request.Params.Values),
	} {
		_, _ = h.Write(fields.Append(nil, part))
	}
	names := attr.Item{}
	for placeholder, name := range t.request.Params.Names {
		names[placeholder] = attr.S(name)
	}
	_, _ = h.Write(attr.Encode(nil, names))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// noted looks for the same write: its sequence, 0 if there was none.
func (t *through) noted(tx *store.Tx) (uint64, error) {
	note, err := tx.Get(ownTableName, attr.Item{"id": attr.S(t.noteID)})
	if err != nil || note == nil {
		return 0, err
	}
	if note["hash"].Str() != t.hash {
		return 0, fault.New(fault.Conflict, "idempotency_reused", "This idempotency key was used for another write.")
	}
	seq, _ := note["seq"].Int()
	return uint64(seq), nil
}

// throughBefore returns the outcome of the same write, if it was made before.
func (r *Replica) throughBefore(ctx context.Context, t *through) (ThroughResult, bool, error) {
	var seq uint64
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		seq, err = t.noted(tx)
		return err
	})
	if err != nil || seq == 0 {
		return ThroughResult{}, false, err
	}
	done, err := r.throughResult(ctx, t, seq)
	return done, true, err
}

// startThrough puts the write into the outbox, with a note whose record gives it its sequence.
func (r *Replica) startThrough(tx *store.Tx, t *through) (uint64, error) {
	switch seq, err := t.noted(tx); {
	case err != nil:
		return 0, err
	case seq != 0:
		if p, err := r.proved(tx, seq); err != nil || p != ProofRefused {
			return seq, err // what was refused is tried anew
		}
	}
	w := r.newWork(tx)
	it, err := w.item(t.spec.Name, t.key)
	if err != nil {
		return 0, err
	}
	if len(it.sh.pending) > 0 {
		return 0, fault.New(fault.Conflict, "through_pending", "Another write of this item is on its way to the cloud.")
	}
	seq := tx.Seq() + 1
	e, err := intent.Compile(t.write(it, seq), it.sh.known, nil, w.env)
	if err != nil {
		return 0, err
	}
	if e == nil {
		return 0, fault.New(fault.Internal, "through_nothing", "a write through to the cloud has nothing to send")
	}
	id := unitID{lane: r.laneOf(&it.item, false), seq: seq}
	if err := w.put(&unit{Unit: intent.Unit{Entries: []*intent.Entry{e}}, id: id}); err != nil {
		return 0, err
	}
	if err := w.finish(); err != nil {
		return 0, err
	}
	_, err = tx.Put(store.PutItem{Table: ownTableName, NoOld: true, Item: attr.Item{
		"id": attr.S(t.noteID), "hash": attr.S(t.hash), "seq": attr.Int(int64(seq)), "ttl": attr.Int(tx.Now().Add(24 * time.Hour).Unix()),
	}})
	if err == nil && tx.Seq() != seq {
		err = fault.New(fault.Internal, "through_sequence", "a note has the sequence %d, not %d", tx.Seq(), seq)
	}
	r.hint(id)
	return seq, err
}

// write is the write as the store would tell of it.
func (t *through) write(it *workItem, seq uint64) *store.Write {
	w := &store.Write{
		Seq: seq, Txn: seq, Spec: it.spec, Key: it.key, RawKey: it.raw, Op: t.op, Request: t.request, Bound: t.bound, Sends: true, Read: true,
	}
	base := it.sh.known.Item
	if base != nil {
		w.Old = attr.Encode(nil, base)
	}
	switch t.op {
	case store.OpPut:
		w.New = attr.Encode(nil, t.whole)
	case store.OpUpdate:
		from := base
		if from == nil {
			from = it.key
		}
		if base == nil && !t.bound.Update.Creates() {
			break
		}
		if t.bound.Update == nil {
			w.New = attr.Encode(nil, from)
		} else if made, err := t.bound.Update.Apply(from); err == nil { // whether it can be applied is the cloud's to say
			w.New = attr.Encode(nil, made)
		}
	case store.OpDelete:
	}
	return w
}

// throughResult waits for a write to be proved.
func (r *Replica) throughResult(ctx context.Context, t *through, seq uint64) (ThroughResult, error) {
	out := ThroughResult{Seq: seq}
	for {
		var u *unit
		var id uint64
		var refusal *Conflict
		err := r.store.View(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
			if out.Proof, err = r.proved(tx, seq); err != nil {
				return err
			}
			switch out.Proof {
			case ProofPending:
				u, err = r.unitNow(tx, seq)
			case ProofApplied:
				out.Item, err = tx.Get(t.spec.Name, t.key)
			case ProofRefused:
				id, refusal, err = r.refusal(tx, seq)
			}
			return err
		})
		switch {
		case err != nil:
			return out, err
		case out.Proof == ProofRefused:
			return out, throughRefused(t, id, refusal)
		case out.Proof == ProofApplied:
			return out, nil
		case u == nil && ctx.Err() == nil:
			continue // it was settled between two looks
		case u == nil:
			out.Proof = ProofPending
			return out, nil
		}
		err = r.waitFor(ctx, u.id)
		if ctx.Err() != nil { // nobody knows yet: that is the answer
			out.Proof = ProofPending
			return out, nil //nolint:nilerr // see above
		}
		if err != nil {
			return out, err
		}
	}
}

// refusal returns the record that an entry ended in.
func (r *Replica) refusal(tx *store.Tx, seq uint64) (uint64, *Conflict, error) {
	log, err := openConflicts(tx)
	if err != nil {
		return 0, nil, err
	}
	id, err := log.ofSeq(seq)
	if err != nil || id == 0 {
		return id, nil, err
	}
	c, err := log.get(id)
	return id, c, err
}

// throughRefused is what the application is told: what its own store would have said, where that is the reason.
func throughRefused(t *through, id uint64, c *Conflict) error {
	if c == nil || c.Code != string(intent.CodeCondition) || len(c.Decided) == 0 {
		return &SettledError{Conflict: id}
	}
	old, _ := intent.Split(c.Decided[0].Met)
	return &store.ConditionFailedError{Table: t.spec.Name, Old: old}
}
