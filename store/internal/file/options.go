package file

import (
	"cmp"
	"time"
)

// Options configures how a store is opened. The zero value is good for a node.
type Options struct {
	Now          func() time.Time // the time of each transaction; nil: the wall clock in UTC
	Node         string           // id of the node, written to a new file; empty: a random one
	NoSync       bool             // commits are not synced: for tests
	MaxSize      int              // of the file in bytes; 0: limited by the disk only
	MapSize      int              // address space to reserve, not memory; 0: 1 GiB, 256 MiB on 32 bits
	LockTimeout  time.Duration    // how long to wait for another process to release the file; 0: 1 s
	ReadDeadline time.Duration    // how long a View may run; 0: 5 s
	WriteStall   time.Duration    // how long the closure of an Update may keep others waiting; 0: 10 s
	JournalAge   time.Duration    // records older than this are trimmed; 0: 24 h
	JournalBytes int64            // above this the oldest records are trimmed; 0: 64 MiB
	StreamBytes  int64            // the same while a table has a stream, whose records are kept for StreamAge; 0: 1 GiB

	BackupDeadline time.Duration // how long the copy of a backup may take; 0: 10 min
	SweepEvery     time.Duration // how often expired items are deleted; a node's reads hide them anyway; 0: 10 min
	CompactAbove   int64         // Open compacts a file larger than this if more than half of it is free; 0: 256 MiB, negative: never
}

// DefaultSweep is the default of Options.SweepEvery. DynamoDB deletes expired items within days.
const DefaultSweep = 10 * time.Minute

// WithDefaults returns the options with defaults filled in.
func (o Options) WithDefaults() Options {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().UTC() }
	}
	if o.MapSize == 0 {
		o.MapSize = defaultMapSize
	}
	o.LockTimeout = cmp.Or(o.LockTimeout, time.Second)
	o.ReadDeadline = cmp.Or(o.ReadDeadline, 5*time.Second)
	o.WriteStall = cmp.Or(o.WriteStall, 10*time.Second)
	o.JournalAge = cmp.Or(o.JournalAge, 24*time.Hour)
	o.BackupDeadline = cmp.Or(o.BackupDeadline, 10*time.Minute)
	o.SweepEvery = cmp.Or(o.SweepEvery, DefaultSweep)
	o.JournalBytes = cmp.Or(o.JournalBytes, 64<<20)
	o.StreamBytes = cmp.Or(o.StreamBytes, 1<<30)
	o.CompactAbove = cmp.Or(o.CompactAbove, 256<<20)
	return o
}
