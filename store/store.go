package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store/expr"
)

// Options say how a store is opened. The zero value is good for a node.
type Options struct {
	Now          func() time.Time // the instant of each transaction; nil: the wall clock in UTC
	Node         string           // id of the node, written into a new file; empty: a random one
	NoSync       bool             // commits are not synced: for tests
	MaxSize      int              // of the file in bytes; 0: what the disk gives
	MapSize      int              // address space mapped at once, no memory; 0: 1 GiB, 256 MiB on 32 bits
	LockTimeout  time.Duration    // how long to wait for another process to let go of the file; 0: 1 s
	ReadDeadline time.Duration    // after which a View is ended; 0: 5 s
	WriteStall   time.Duration    // how long the function of one Update may keep the others waiting; 0: 10 s
	JournalAge   time.Duration    // records older than this are trimmed; 0: 24 h
	JournalBytes int64            // above this the oldest records are trimmed; 0: 64 MiB
	StreamBytes  int64            // the same while a table has a stream, whose records stay for StreamAge; 0: 1 GiB

	BackupDeadline time.Duration // after which the copy of a backup is given up; 0: 10 min
	SweepEvery     time.Duration // how often items past their TTL are deleted, which reads of a node hide anyway; 0: 10 min
	CompactAbove   int64         // Open compacts a file above this if half of it is free; 0: 256 MiB, negative: never
}

// DefaultSweep is Options.SweepEvery where nothing is said. DynamoDB deletes within days.
const DefaultSweep = 10 * time.Minute

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().UTC() }
	}
	if o.MapSize == 0 {
		o.MapSize = defaultMapSize
	}
	o.LockTimeout = orElse(o.LockTimeout, time.Second)
	o.ReadDeadline = orElse(o.ReadDeadline, 5*time.Second)
	o.WriteStall = orElse(o.WriteStall, 10*time.Second)
	o.JournalAge = orElse(o.JournalAge, 24*time.Hour)
	o.BackupDeadline = orElse(o.BackupDeadline, 10*time.Minute)
	o.SweepEvery = orElse(o.SweepEvery, DefaultSweep)
	o.JournalBytes = orElse(o.JournalBytes, 64<<20)
	o.StreamBytes = orElse(o.StreamBytes, 1<<30)
	o.CompactAbove = orElse(o.CompactAbove, 256<<20)
	return o
}

// orElse returns n, or what stands for 0.
func orElse[N int | int64 | time.Duration](n, byDefault N) N {
	if n == 0 {
		return byDefault
	}
	return n
}

// Store is one open file. Its methods may be called from any goroutine.
type Store struct {
	path   string // empty: it is in memory
	remove func() // of a store in memory: takes away what is left of it behind the file's closing
	opts   Options
	node   string
	db     *bolt.DB
	room   *room

	// What the last commit left. Only the committer writes it, behind the commit.
	cat         atomic.Pointer[catalogue]
	journal     atomic.Pointer[journalState]
	incarnation atomic.Uint64

	replicator atomic.Pointer[Replicator]
	longTurns  atomic.Pointer[func(LongTurn)]

	lane    lane
	commits *committer
	readers *readers
	watches watches
	keeper  keeper
	scrub   scrub
	intact  intact
	older   atomic.Bool // the file is of a format that the next commit makes the present one

	tableWatches watches
	exprs        *expr.Cache
	meter        meter

	copies     copies         // the snapshots of backups
	compaction compactionDone // what Open did

	failed     chan struct{} // closed when the store is latched
	failure    atomic.Pointer[failure]
	closeOnce  sync.Once
	closeError error
}

// Node is the id of the node that the file belongs to.
func (s *Store) Node() string { return s.node }

// Incarnation counts the times that the node has left its history (a restored backup, a clone: BeginIncarnation).
// Sequences of the journal start at Incarnation<<40 + 1.
func (s *Store) Incarnation() uint64 { return s.incarnation.Load() }

// Path is the file; empty: OpenMemory.
func (s *Store) Path() string { return s.path }

// Tables lists the tables in the order of their names.
func (s *Store) Tables() []TableSpec { return s.cat.Load().specs() }

// TableNames lists up to limit names of tables behind one, in their order and without those of internal tables, and tells
// whether there are more. It takes as long as the names that it gives.
func (s *Store) TableNames(after string, limit int) (names []string, more bool) {
	c := s.cat.Load()
	at, found := slices.BinarySearch(c.names, after)
	if found {
		at++
	}
	for _, name := range c.names[at:] {
		if c.tables[name].spec.Internal {
			continue
		}
		if len(names) == limit {
			return names, true
		}
		names = append(names, name)
	}
	return names, false
}

// Seq is the sequence of the last committed record of the journal; Incarnation<<40 if there is none in this incarnation.
func (s *Store) Seq() uint64 { return s.journal.Load().last }

// FirstSeq is the sequence of the first record that has not been trimmed, Seq()+1 if there is none.
func (s *Store) FirstSeq() uint64 { return s.journal.Load().first }

// Watch has sig set after each commit that wrote to the journal, before the Update that wrote returns, until stop is
// called. A watcher reads the journal behind its cursor after each signal: one signal may stand for many commits.
func (s *Store) Watch(sig *clock.Signal) (stop func()) { return s.watches.add(sig) }

// Failed is closed when an I/O error has latched the store: what was on its way may or may not be in the file, no
// further write is taken, and the process should end. Reads go on.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Err is the error that latched the store, nil as long as it works.
func (s *Store) Err() error {
	if f := s.failure.Load(); f != nil {
		return f.err
	}
	return nil
}

// Update runs fn in a transaction that sees everything committed before it and is seen by no other until it is
// committed. It returns nil when the changes are on disk. An error of fn, or a panic in it, takes back all that fn has
// done; the error is returned, the panic goes on.
//
// One transaction runs at a time, in the order of the calls; those that wait share one commit with the one before
// them. So fn must not block: nothing that leaves the process happens in it. It must not call Update either, which
// would wait for itself: with the context of Tx.Context that is refused at once, otherwise after Options.WriteStall.
//
// ctx is looked at until fn starts. After that the outcome is always waited for.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.commits.submit(ctx, fn)
}

// View runs fn on a snapshot: it sees what was committed when it began. It may run beside any number of others, and
// does not wait for Update. The snapshot holds pages of the file back from being used again, so it ends after
// Options.ReadDeadline: from then on every call on the Tx fails. Stats shows the oldest.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	v, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() {
		v.tx.over = true
		s.readers.end(&v.reader)
	}()
	return fn(&v.tx)
}

// view is a transaction of View with its reader: one piece of memory.
type view struct {
	tx     Tx
	reader reader
}

// begin makes a view with a snapshot and a catalogue that is not newer: the tables that it names are there. The last
// record is asked for before the catalogue because a commit moves them the other way round.
func (s *Store) begin(ctx context.Context) (*view, error) {
	for {
		upTo := s.Seq()
		v := &view{tx: Tx{s: s, ctx: ctx, cat: s.cat.Load(), upTo: upTo}}
		if err := s.readers.begin(&v.reader, s.db); err != nil {
			return nil, err
		}
		if s.cat.Load() == v.tx.cat {
			v.tx.btx, v.tx.reader = v.reader.btx, &v.reader
			return v, nil
		}
		s.readers.end(&v.reader)
	}
}

// Close waits for the transactions that run, ends a Backup, commits what makes the next Open fast, and releases the file. Updates
// that come later are refused.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.commits.close()
		s.readers.close()
		s.copies.close()
		s.closeError = s.shutDown()
	})
	return s.closeError
}
