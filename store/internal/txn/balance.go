package txn

import (
	"github.com/touchline/touchline/store/internal/disk"
)

// balance is how much a batch adds to and removes from the side spaces, and how much it adopts from the cloud, in bytes of keys and
// values.
type balance struct {
	added   int
	removed int
	keys    int // number of keys removed
	adopted int // growth by rows and records of Adopt, beyond what they replace
}

func (b *balance) set(key, value, old []byte) {
	b.added += len(value)
	if old == nil {
		b.added += len(key)
	}
	b.removed += len(old)
}

func (b *balance) remove(key, old []byte) {
	b.removed += len(key) + len(old)
	b.keys++
}

func (b *balance) growth() int { return b.added + b.adopted - b.removed }

// settlement is how much a commit that removes keys from a side space may add beyond what it removes, in bytes: a conflict record for an
// outbox entry, or the cloud's item in place of ours.
const settlement = 128 << 10

// smallNote is how much a commit without journal records may add, in bytes: the attempt to send an entry is noted before the entry is settled.
const smallNote = 1 << 10

// leaves returns how much of the spare a commit of the batch must leave to others, in bytes. Commits that free space, now or once the
// cloud has the data, must continue when nothing else can: deletes, and above all the removal of entries from a queue, which must be the
// last thing to get stuck.
func (b *batch) leaves() int64 {
	growth := b.side.growth()
	switch {
	case b.Grows, b.side.adopted > 0 && b.side.keys == 0:
		return disk.Spare
	case growth <= 0, b.side.keys > 0 && growth <= settlement:
		return 0
	case b.records == 0 && growth <= smallNote:
		return disk.Spare / 4
	}
	return disk.Spare / 2
}
