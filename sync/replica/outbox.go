package replica

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/fields"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// The side buckets of the outbox. Units lie by lane and sequence, so that each lane reads its own in order from wherever
// it stands, and memory needs no index of them.
const (
	sideOutbox    = "outbox"      // lane, sequence: unit
	sideAttempted = "attempted"   // lane: the units that may be on their way, of which the outbox knows less than is true
	sideEvents    = "events"      // lock, 0, sequence: fence, group: entries that state of the same lock and fence waits for
	sideFolded    = "folded"      // sequence: that of the unit that the entry was folded into
	sideMeta      = "outbox-meta" // "counts", "lanes", "replay"
)

// unitID is where a unit lies in the outbox. seq is that of its first journal record: the greatest, of a folded one.
type unitID struct {
	seq  uint64
	lane uint8
}

func (id unitID) key() []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), id.lane), id.seq)
}

// unit is what is sent as one: a write, or all writes and conditions of a transaction.
type unit struct {
	intent.Unit

	id    unitID
	after []intent.Ref // items whose earlier writes settle first: it has a place with each, and is sent nothing of
	size  int          // of its record, 0: it has none yet
}

// The versions of a unit's record: the first has no after.
const (
	unitVersion      = 1
	unitAfterVersion = 2
)

var errUnit = errors.New("a unit of the outbox is cut short or of an unknown version")

func (u *unit) encode() []byte {
	b := make([]byte, 0, 512)
	version := byte(unitVersion)
	if len(u.after) > 0 {
		version = unitAfterVersion
	}
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(u.Entries)))
	for _, e := range u.Entries {
		b = fields.Append(b, e.Encode())
	}
	for _, ref := range u.after {
		b = fields.Append(b, ref.Table)
		b = fields.Append(b, attr.Encode(nil, ref.Key))
	}
	return b
}

func decodeUnit(id unitID, b []byte) (*unit, error) {
	if len(b) == 0 || b[0] != unitVersion && b[0] != unitAfterVersion {
		return nil, errUnit
	}
	u := &unit{id: id, size: len(b)}
	c := fields.Reader{B: b[1:]}
	for n := c.Uvarint(); n > 0 && !c.Bad; n-- {
		e, err := intent.DecodeEntry(c.Bytes())
		if err != nil {
			return nil, err
		}
		u.Entries = append(u.Entries, e)
	}
	for b[0] == unitAfterVersion && len(c.B) > 0 && !c.Bad {
		table := string(c.Bytes())
		key, err := attr.Encoded(c.Bytes()).Decode()
		if err != nil {
			return nil, err
		}
		u.after = append(u.after, intent.Ref{Table: table, Key: key})
	}
	if c.Bad || len(u.Entries) == 0 {
		return nil, errUnit
	}
	return u, nil
}

// table is that of the unit's first write, under which it is counted.
func (u *unit) table() string { return u.Entries[0].Table }

// tables are those of all its items.
func (u *unit) tables() []string {
	tables := []string{u.table()}
	for _, e := range u.Entries[1:] {
		if !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
	}
	return tables
}

// held reports whether somebody has to decide before the unit goes on.
func (u *unit) held() bool {
	return slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool { return e.Held != intent.HoldNone })
}

// getUnit reads a unit; nil: it is not in the outbox any more.
func getUnit(tx *store.Tx, id unitID) (*unit, error) {
	b, err := tx.Side(sideOutbox).Get(id.key())
	if err != nil || b == nil {
		return nil, err
	}
	return readUnit(id, b)
}

func readUnit(id unitID, b []byte) (*unit, error) {
	u, err := decodeUnit(id, b)
	if err != nil {
		return nil, fault.Wrap(err, fault.Damaged, "outbox", "entry %d of the outbox cannot be read", id.seq)
	}
	return u, nil
}

// tally is what a transaction adds to the counts, by table.
type tally map[string]count

func (t tally) add(table string, entries, bytes int64) {
	t[table] = count{entries: t[table].entries + entries, bytes: t[table].bytes + bytes}
}

// putUnit writes a unit, anew or again.
func putUnit(tx *store.Tx, u *unit, t tally) error {
	b := u.encode()
	if err := tx.Side(sideOutbox).Set(u.id.key(), b); err != nil {
		return err
	}
	entries := int64(0)
	if u.size == 0 {
		entries = int64(len(u.Entries))
		if err := u.index(tx, true); err != nil {
			return err
		}
	}
	t.add(u.table(), entries, int64(len(b)-u.size))
	u.size = len(b)
	return nil
}

// dropUnit takes a unit out of the outbox; the shadows of its items are the caller's.
func dropUnit(tx *store.Tx, u *unit, t tally) error {
	if err := tx.Side(sideOutbox).Delete(u.id.key()); err != nil {
		return err
	}
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			if err := tx.Side(sideFolded).Delete(seqKey(seq)); err != nil {
				return err
			}
		}
	}
	t.add(u.table(), -int64(len(u.Entries)), -int64(u.size))
	return u.index(tx, false)
}

// foldInto notes of the sequences that have fallen together into a unit where they are now.
func foldInto(tx *store.Tx, u *unit) error {
	for _, e := range u.Entries {
		for _, seq := range e.Folds {
			if err := tx.Side(sideFolded).Set(seqKey(seq), seqKey(u.id.seq)); err != nil {
				return err
			}
		}
	}
	return nil
}

// index keeps the list of entries that state waits for.
func (u *unit) index(tx *store.Tx, in bool) error {
	side := tx.Side(sideEvents)
	for _, e := range u.Entries {
		if e.Lock == "" || e.Policy == store.PolicyState {
			continue
		}
		key := append(append([]byte(e.Lock), 0), seqKey(e.Seq)...)
		var err error
		if in {
			err = side.Set(key, append(seqKey(uint64(e.Fence)), seqKey(e.Group)...))
		} else {
			err = side.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eventsDone reports whether the events of a lock are settled that this node wrote under the fence or a lower one, up to
// those of an Update. A node that has taken its lock again builds on events that it queued under its fence before: whoever
// comes after it sees the state and must find them.
func eventsDone(tx *store.Tx, lock string, fence int64, group uint64) (done bool, err error) {
	done = true
	prefix := append([]byte(lock), 0)
	err = tx.Side(sideEvents).Each(prefix, nil, func(k, v []byte) (bool, error) {
		if len(k) != len(prefix)+8 || len(v) != 16 {
			return true, nil
		}
		// One that was given another number stands behind entries of later groups.
		done = binary.BigEndian.Uint64(v[8:]) > group || int64(binary.BigEndian.Uint64(v)) > fence
		return done, nil
	})
	return done, err
}

func seqOf(key []byte) uint64 { return binary.BigEndian.Uint64(key[1:]) }

func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), seq) }

// laneOf is the lane of a unit, by its first item; of one that goes ahead it is the last, which has nothing else.
func (r *Replica) laneOf(it *item, ahead bool) uint8 {
	if ahead {
		return r.express()
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(it.spec.Name))
	_, _ = h.Write(it.raw)
	return uint8(h.Sum64() >> 17 % uint64(r.express()))
}

// express is the lane of what goes ahead.
func (r *Replica) express() uint8 { return uint8(len(r.lanes) - 1) }

// eachUnit calls fn with the units of all lanes, each lane's in their order, until it wants no more. fn makes no call on
// the transaction.
func eachUnit(tx *store.Tx, fn func(*unit) (more bool, err error)) error {
	return tx.Side(sideOutbox).Each(nil, nil, func(k, v []byte) (bool, error) {
		if len(k) != 9 {
			return true, nil
		}
		u, err := readUnit(unitID{lane: k[0], seq: binary.BigEndian.Uint64(k[1:])}, v)
		if err != nil {
			return false, err
		}
		return fn(u)
	})
}

// unitsBetween lists the units with a sequence from..to, of all lanes, at most limit.
func (r *Replica) unitsBetween(tx *store.Tx, from, to uint64, limit int) (out []unitID, err error) {
	for lane := range r.lanes {
		prefix := []byte{uint8(lane)}
		after := unitID{lane: uint8(lane), seq: from - 1}.key()
		err = tx.Side(sideOutbox).Each(prefix, after, func(k, _ []byte) (bool, error) {
			seq := binary.BigEndian.Uint64(k[1:])
			if seq > to || len(out) >= limit {
				return false, nil
			}
			out = append(out, unitID{lane: k[0], seq: seq})
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// counts is what lies in the outbox, by table.
type counts map[string]count

type count struct{ entries, bytes int64 }

func (c counts) total() (t count) {
	for _, n := range c {
		t.entries += n.entries
		t.bytes += n.bytes
	}
	return t
}

func readCounts(tx *store.Tx) (counts, error) {
	b, err := tx.Side(sideMeta).Get([]byte("counts"))
	if err != nil {
		return nil, err
	}
	out := counts{}
	for c := (fields.Reader{B: b}); len(c.B) > 0; {
		table := string(c.Bytes())
		out[table] = count{entries: c.Varint(), bytes: c.Varint()}
		if c.Bad {
			return nil, fault.New(fault.Damaged, "outbox", "the counts of the outbox cannot be read")
		}
	}
	return out, nil
}

// keep adds the tally to the counts.
func (t tally) keep(tx *store.Tx) error {
	if len(t) == 0 {
		return nil
	}
	all, err := readCounts(tx)
	if err != nil {
		return err
	}
	for table, more := range t {
		n := count{entries: all[table].entries + more.entries, bytes: all[table].bytes + more.bytes}
		all[table] = n
		if n.entries == 0 && n.bytes == 0 {
			delete(all, table)
		}
	}
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b = fields.Append(b, name)
		b = binary.AppendVarint(b, all[name].entries)
		b = binary.AppendVarint(b, all[name].bytes)
	}
	return tx.Side(sideMeta).Set([]byte("counts"), b)
}

// addDoubtful counts the entries that are not in the views.
func addDoubtful(tx *store.Tx, n int) error {
	have, err := readDoubtful(tx)
	if err != nil {
		return err
	}
	return tx.Side(sideMeta).Set([]byte("doubtful"), binary.AppendVarint(nil, max(have+int64(n), 0)))
}

func readDoubtful(tx *store.Tx) (int64, error) {
	b, err := tx.Side(sideMeta).Get([]byte("doubtful"))
	if err != nil || b == nil {
		return 0, err
	}
	n, _ := binary.Varint(b)
	return n, nil
}

// readAttempted reads which units of a lane are marked.
func readAttempted(tx *store.Tx, lane uint8) ([]uint64, error) {
	b, err := tx.Side(sideAttempted).Get([]byte{lane})
	if err != nil || b == nil {
		return nil, err
	}
	c := fields.Reader{B: b}
	var out []uint64
	last := uint64(0)
	for len(c.B) > 0 && !c.Bad {
		last += c.Uvarint()
		out = append(out, last)
	}
	if c.Bad {
		return nil, fault.New(fault.Damaged, "outbox", "the marks of lane %d cannot be read", lane)
	}
	return out, nil
}

// markAttempted sets which units of a lane may be on their way.
func markAttempted(tx *store.Tx, lane uint8, seqs []uint64) error {
	slices.Sort(seqs)
	var b []byte
	last := uint64(0)
	for _, seq := range seqs {
		b = binary.AppendUvarint(b, seq-last)
		last = seq
	}
	if len(b) == 0 {
		return tx.Side(sideAttempted).Delete([]byte{lane})
	}
	return tx.Side(sideAttempted).Set([]byte{lane}, b)
}

// untouched reports whether no byte of a unit has been sent, and none may be before the transaction that has read it is
// over: only then may something be folded into it. What was sent and never came to the cloud counts only where that was stored.
func (u *unit) untouched() bool {
	return !slices.ContainsFunc(u.Entries, func(e *intent.Entry) bool {
		return e.Sent > 0 || e.Unsure || e.Held != intent.HoldNone || e.Lost || e.Replay
	})
}
