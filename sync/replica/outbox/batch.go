package outbox

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// ID identifies a batch in the outbox. Seq is the sequence of its first journal record; for a folded batch it is the greatest
// sequence.
type ID struct {
	Seq    uint64
	Worker uint8
}

// Key returns the batch's key in the bucket: worker first, then sequence, so that each worker reads its own in order.
func (id ID) Key() []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), id.Worker), id.Seq)
}

// Batch is what is sent together: one write, or all writes and conditions of a transaction.
type Batch struct {
	intent.Batch

	ID    ID
	After []intent.Ref // items whose earlier writes must settle first: the batch has a place in their queues but sends nothing to them
	Size  int          // of its record; 0: not stored yet
}

var errBatch = errors.New("a batch of the outbox is cut short or has an unknown version")

// Encode returns the stored form of the batch.
func (u *Batch) Encode() []byte {
	b := make([]byte, 0, 512)
	version := byte(batchVersion)
	if len(u.After) > 0 {
		version = batchAfterVersion
	}
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(u.Entries)))
	for _, e := range u.Entries {
		b = fields.Append(b, e.Encode())
	}
	for _, ref := range u.After {
		b = fields.Append(b, ref.Table)
		b = fields.Append(b, attr.Encode(nil, ref.Key))
	}
	return b
}

func decode(id ID, b []byte) (*Batch, error) {
	if len(b) == 0 || b[0] != batchVersion && b[0] != batchAfterVersion {
		return nil, errBatch
	}
	u := &Batch{ID: id, Size: len(b)}
	c := fields.Reader{B: b[1:]}
	for n := c.Uvarint(); n > 0 && !c.Bad; n-- {
		e, err := intent.DecodeEntry(c.Bytes())
		if err != nil {
			return nil, err
		}
		u.Entries = append(u.Entries, e)
	}
	for b[0] == batchAfterVersion && len(c.B) > 0 && !c.Bad {
		table := string(c.Bytes())
		key, err := attr.Encoded(c.Bytes()).Decode()
		if err != nil {
			return nil, err
		}
		u.After = append(u.After, intent.Ref{Table: table, Key: key})
	}
	if c.Bad || len(u.Entries) == 0 {
		return nil, errBatch
	}
	return u, nil
}

// Table returns the table of the batch's first write, under which the batch is counted.
func (u *Batch) Table() string { return u.Entries[0].Table }

// Tables returns the tables of all its items.
func (u *Batch) Tables() []string {
	tables := []string{u.Table()}
	for _, e := range u.Entries[1:] {
		if !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// IsHeld reports whether the batch waits for an operator's decision.
func (u *Batch) IsHeld() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Held != intent.HoldNone })
}

// IsUntouched reports whether no byte of the batch has been sent, and none can be until the transaction that read it ends. Only then
// may another entry be folded into it. A send that never reached the cloud counts as no send only if that was stored.
func (u *Batch) IsUntouched() bool {
	return !slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		return !e.IsUntouched()
	})
}

// SeqOf returns the sequence in an outbox key.
func SeqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[1:]) }

// SeqKey returns a key for buckets ordered by sequence.
func SeqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), seq) }

// Writes reports whether the batch has an entry on an item, not just a ConditionCheck.
func (u *Batch) Writes(table string, key attr.Item) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		return e.Table == table && attr.EqualItems(e.Key, key)
	})
}

// ShownBy reports whether an image of an item carries the mark of the batch's entry for that item.
func (u *Batch) ShownBy(it *WorkItem, side intent.Sidecar, node string) bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		return e.Table == it.Spec.Name && attr.EqualItems(e.Key, it.Key) && e.IsProvedBy(side, node)
	})
}

// ProvesEarlier reports whether the batch, if a restored table shows it, proves what was written before it on the item:
// intent.Env.Kept.
func (u *Batch) ProvesEarlier() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.VerifyingBefore() })
}

// ParkedUntil returns until when the batch is parked, by the server's clock.
func (u *Batch) ParkedUntil(now time.Time) (t time.Time) {
	for _, e := range u.Entries {
		if at := e.ParkedUntil(now); at.After(t) {
			t = at
		}
	}
	return t
}

// MayApply reports whether a send of the batch is unanswered: it may have been applied, or may still be.
func (u *Batch) MayApply() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Unsure })
}

// Tries returns how often the batch has been sent.
func (u *Batch) Tries() (n int) {
	for _, e := range u.Entries {
		n = max(n, e.Sent)
	}
	return n
}

// Provisional reports whether a stamp of the batch comes from a clock that no server has confirmed.
func (u *Batch) Provisional() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Provisional })
}

// Suspect marks the entries of a batch that was marked before a restart as sent and unanswered. An entry flagged as from a lost history
// counts only if its batch was already marked when the flag was set: it is not sent before it is stored without the flag.
func (u *Batch) Suspect(lostMarked func(seq uint64) bool) {
	for _, e := range u.Entries {
		if e.MaybeSentByOtherRun() && lostMarked != nil && !lostMarked(u.ID.Seq) {
			continue
		}
		e.Sent, e.Unsure = max(e.Sent, 1), true
	}
}

// ParseID parses a key of the outbox; false: it is not one.
func ParseID(key []byte) (ID, bool) {
	if len(key) != 9 {
		return ID{}, false
	}
	return ID{Worker: key[0], Seq: binary.BigEndian.Uint64(key[1:])}, true
}

// WaitsForOthers reports whether a batch is parked until all nodes have replayed.
func (u *Batch) WaitsForOthers() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Why == intent.WhyReplay })
}

// WasSentTo reports whether a batch has an entry for a table and was sent without an answer, or may have been sent and proved by a
// lost timeline. Batches of policy state do not count: a newer image is sent instead.
func (u *Batch) WasSentTo(table string, env intent.Env) bool {
	if u.IsHeld() || u.Entries[0].Policy == store.PolicyState {
		return false
	}
	there, sent := false, u.MayBeProved(env)
	for _, e := range u.Entries {
		there, sent = there || e.Table == table, sent || e.Sent > 0 || e.Unsure
	}
	return there && sent
}
