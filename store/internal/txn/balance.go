package txn

import (
	"github.com/touchline/touchline/store/internal/disk"
)

// balance is what a batch does to the spaces beside the tables, and what it takes from the cloud, in bytes of keys and
// values.
type balance struct {
	added   int
	removed int
	keys    int // that were taken out
	adopted int // of rows and records of Adopt that are more than what they replace
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

// settlement is how much a commit may add, in bytes, that takes keys out of a space: a conflict record for an entry, or
// the item that the cloud has in place of ours.
const settlement = 128 << 10

// smallNote is how much a commit may add, in bytes, that is about no item: what is on its way is noted before it is settled.
const smallNote = 1 << 10

// leaves is how much of the spare a commit of the batch leaves to others, in bytes. What makes room, now or as soon as the
// cloud has it, must go on when nothing else can: who deletes, and even more who takes an entry out of a queue, which is
// the last thing that may be stuck.
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
