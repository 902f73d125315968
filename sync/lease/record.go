package lease

import (
	"math"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// Attributes of a record in the locks table. The original application uses the key, holder and expiry too.
const (
	attrKey       = "lockKey"
	attrHolder    = "holder"
	attrExpiresAt = "expiresAt" // epoch milliseconds, 0: released
	attrFence     = "fence"     // only grows
	attrRVN       = "rvn"       // changes with every write
	attrTTL       = "ttlMs"
)

// Record is a lock as stored in the table.
type Record struct {
	Key       string
	Holder    string // "node#boot" for ours, anything for the original application's
	ExpiresAt int64
	Fence     int64
	RVN       string // empty if we did not write it
	TTL       time.Duration
}

// IsReleased reports whether nobody holds the lock.
func (r *Record) IsReleased() bool { return r.ExpiresAt == 0 }

// Node returns the node that holds the lock. For a holder of another application it is the holder's whole text.
func (r *Record) Node() string {
	if i := strings.LastIndexByte(r.Holder, '#'); i >= 0 {
		return r.Holder[:i]
	}
	return r.Holder
}

// ours reports whether one of our nodes holds the lock. The original application keeps our rvn when it takes a record over in place.
func (r *Record) ours() bool { return r.RVN != "" && strings.Contains(r.Holder, "#") }

// stands returns how long the record must stand still before another node may take the lock.
func (r *Record) stands() time.Duration {
	if r.TTL == 0 {
		return DefaultTTL
	}
	return r.TTL
}

// HolderText returns the name of a holder: one run of one node.
func HolderText(node, boot string) string { return node + "#" + boot }

// heldBy reports whether holder names a run of the given node.
func heldBy(holder, node string) bool {
	i := strings.LastIndexByte(holder, '#')
	return i >= 0 && holder[:i] == node
}

// KeyOf returns the key of a lock's item.
func KeyOf(key string) attr.Item { return attr.Item{attrKey: attr.S(key)} }

// RecordOf reads the item that a table has for a lock; nil: it has none.
func RecordOf(it attr.Item) (r Record, ok bool, err error) {
	if it == nil {
		return Record{}, false, nil
	}
	r, err = ParseRecord(it)
	return r, err == nil, err
}

// ParseRecord reads a lock's item. It returns fault.Damaged if attributes are missing that every writer writes: treating such
// a lock as free or as held would be a guess, and an operator can look at it.
func ParseRecord(it attr.Item) (Record, error) {
	r := Record{
		Key:    it[attrKey].Str(),
		Holder: it[attrHolder].Str(),
		RVN:    it[attrRVN].Str(),
	}
	var ok bool
	if r.ExpiresAt, ok = it[attrExpiresAt].Int(); !ok || r.Holder == "" {
		return Record{}, fault.New(fault.Damaged, "lock_damaged", "the lock %q has no holder or no expiry", r.Key)
	}
	if v := it[attrFence]; !v.IsZero() {
		if r.Fence, ok = v.Int(); !ok || r.Fence < 0 || r.Fence == math.MaxInt64 {
			return Record{}, fault.New(fault.Damaged, "lock_damaged", "the fence of lock %q is not a number above which there is another", r.Key)
		}
	}
	if ms, ok := it[attrTTL].Int(); ok && ms > 0 {
		r.TTL = time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond
	}
	return r, nil
}
