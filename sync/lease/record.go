package lease

import (
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// The attributes of a record in the locks table. Key, holder and expiry are the original application's too.
const (
	attrKey       = "lockKey"
	attrHolder    = "holder"
	attrExpiresAt = "expiresAt" // epoch milliseconds, 0: released
	attrFence     = "fence"     // only grows
	attrRVN       = "rvn"       // another one with every write
	attrTTL       = "ttlMs"
)

// Record is a lock as the table has it.
type Record struct {
	Key       string
	Holder    string // "node#boot" for ours, anything for the original application's
	ExpiresAt int64
	Fence     int64
	RVN       string // empty: not written by us
	TTL       time.Duration
}

// Released reports whether nobody holds the lock.
func (r *Record) Released() bool { return r.ExpiresAt == 0 }

// Node is the node that holds the lock: the whole text of a holder that is none of ours.
func (r *Record) Node() string {
	if i := strings.LastIndexByte(r.Holder, '#'); i >= 0 {
		return r.Holder[:i]
	}
	return r.Holder
}

// ours reports whether a node of ours holds the lock. What the original application takes over in place keeps our rvn.
func (r *Record) ours() bool { return r.RVN != "" && strings.Contains(r.Holder, "#") }

// stands is how long the record is waited for if nobody renews it.
func (r *Record) stands() time.Duration {
	if r.TTL == 0 {
		return DefaultTTL
	}
	return r.TTL
}

// HolderText names a holder: one run of one node.
func HolderText(node, boot string) string { return node + "#" + boot }

// heldBy reports whether a run of that node wrote this holder.
func heldBy(holder, node string) bool {
	i := strings.LastIndexByte(holder, '#')
	return i >= 0 && holder[:i] == node
}

// ParseRecord reads a lock's item. An item that lacks what every writer writes is fault.Damaged: to take it for free,
// or for held, would be a guess, and an operator can look at it.
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
		if r.Fence, ok = v.Int(); !ok {
			return Record{}, fault.New(fault.Damaged, "lock_damaged", "the fence of lock %q is not a number", r.Key)
		}
	}
	if ms, ok := it[attrTTL].Int(); ok && ms > 0 {
		r.TTL = time.Duration(min(ms, maxTTL.Milliseconds())) * time.Millisecond
	}
	return r, nil
}
