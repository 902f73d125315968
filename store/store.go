package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/backup"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/housekeeping"
	"github.com/touchline/touchline/store/internal/txn"
)

// Store is one open file. Its methods may be called from any goroutine.
type Store struct {
	engine     *txn.DB
	replicator atomic.Pointer[Replicator]
	slots      slots   // of untrusted requests
	reads      *shared // of applications' clients
	renders    slots   // of what all readers share
	exprs      *expr.Cache
	keeper     housekeeping.Keeper

	unreadables unreadables // items that applications could not decode

	copies     backup.Copies       // the snapshots of backups
	compaction file.CompactionDone // what Open compacted
	remove     func()              // of a store in memory: removes what is left after the file is closed

	damages    sync.Mutex // held while one is forgotten
	closeOnce  sync.Once
	closeError error
}

// exprCache is how many parsed expressions are kept. Applications have some dozens.
const exprCache = 1024

// Open opens the store in the file at path. It creates the file and its folder if they do not exist. A file that another process holds is
// fault.Locked. A file that is damaged, foreign or made by a newer version is fault.Damaged and is left as it is. Every error is one line
// that names the file.
func Open(path string, o Options) (*Store, error) {
	o = o.WithDefaults()
	f, err := file.Open(path, o)
	if err != nil {
		return nil, err
	}
	return start(f, o), nil
}

// OpenMemory creates an empty store that is gone when it is closed or the process ends, however it ends. On Linux nothing of it is on
// disk. Systems without memory files use a temporary file, which loses its name as soon as the system allows: on Windows at Close.
//
// It can do all that other stores can. Nothing is synced; Options.MaxSize limits the memory; JournalBytes defaults to 1 MiB and
// StreamBytes to 256 MiB; Path is empty.
func OpenMemory(o Options) (*Store, error) {
	o = file.MemoryOptions(o)
	f, err := file.OpenUnnamed(disk.MemoryFile, o)
	if err != nil {
		return nil, err
	}
	return start(f, o), nil
}

func start(f *file.File, o Options) *Store {
	e := txn.New(f, o)
	s := &Store{engine: e, exprs: expr.NewCache(exprCache), slots: newSlots(), reads: newShared(), renders: newSlots(), compaction: f.Compaction, remove: f.Remove}
	s.keeper.E, s.keeper.Expire = e, s.mayExpire
	s.copies.E = e
	return s
}

// Node returns the id of the node that the file belongs to.
func (s *Store) Node() string { return s.engine.Node }

// Incarnation returns a number that grows each time the node leaves its history (by a restored backup or a clone: see BeginIncarnation).
// Sequences of the journal in it start at Incarnation<<40 + 1.
func (s *Store) Incarnation() uint64 { return s.engine.Incarnation.Load() }

// Damages returns what Open found wrong with the file's first pages, now or earlier, and that nobody has read of yet.
func (s *Store) Damages() []Damage { return *s.engine.Damages.Load() }

// ForgetDamage removes a damage from Damages: somebody has read of it.
func (s *Store) ForgetDamage(ctx context.Context, id int64) error {
	s.damages.Lock()
	defer s.damages.Unlock()
	var left []Damage
	err := s.engine.Update(ctx, func(c *txn.Tx) (err error) {
		left, err = c.ForgetDamage(id)
		return err
	})
	if err == nil {
		s.engine.Damages.Store(&left)
	}
	return err
}

// Path returns the path of the file; empty for OpenMemory.
func (s *Store) Path() string { return s.engine.Path }

// Tables returns the specs of all tables in the order of their names.
func (s *Store) Tables() []TableSpec { return s.engine.Cat.Load().Specs() }

// TableNames returns up to limit names of tables after the given name, in order and without internal tables, and reports whether there
// are more. The cost depends only on the names returned.
func (s *Store) TableNames(after string, limit int) (names []string, more bool) {
	c := s.engine.Cat.Load()
	at, found := slices.BinarySearch(c.Names, after)
	if found {
		at++
	}
	for _, name := range c.Names[at:] {
		if c.ByName[name].Spec.Internal {
			continue
		}
		if len(names) == limit {
			return names, true
		}
		names = append(names, name)
	}
	return names, false
}

// Seq returns the sequence of the last committed journal record, or Incarnation<<40 if this incarnation has none.
func (s *Store) Seq() uint64 { return s.engine.Journal.Load().Last }

// FirstSeq returns the sequence of the first record that has not been trimmed, or Seq()+1 if there is none.
func (s *Store) FirstSeq() uint64 { return s.engine.Journal.Load().First }

// Watch sets sig after each commit that wrote to the journal, before the Update that wrote it returns, until stop is called. After a
// signal a watcher reads the journal from its position: one signal may stand for many commits.
func (s *Store) Watch(sig *clock.Signal) (stop func()) { return s.engine.Watches.Add(sig) }

// Failed returns a channel that is closed when an I/O error has latched the store: writes in progress may or may not be in the file,
// further writes are refused, and the process should end. Reads still work.
func (s *Store) Failed() <-chan struct{} { return s.engine.Failed }

// Err returns the error that latched the store, nil while it works.
func (s *Store) Err() error { return s.engine.Err() }

// Update runs fn in a transaction that sees everything committed before it and is invisible to others until it is committed. It returns
// nil when the changes are on disk. If fn returns an error or panics, everything it did is rolled back; the error is returned, the panic
// continues.
//
// One transaction runs at a time, in the order of the calls; waiting ones share a commit with the one before them. So fn must not block,
// and must do nothing outside of the process, which could not be rolled back. It must not call Update either, which would wait for itself:
// such a call is refused after Options.WriteStall.
//
// ctx can end the wait until fn starts. After that, Update always waits for the outcome.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.engine.Update(ctx, func(c *txn.Tx) error {
		return fn(s.newTx(c))
	})
}

func (s *Store) newTx(c *txn.Tx) *Tx {
	tx := &Tx{core: c, s: s}
	if r := s.replicator.Load(); r != nil {
		tx.replicator = *r
	}
	return tx
}

// View runs fn on a snapshot of what was committed when it began. Any number of Views run at the same time, and none waits for Update.
// The snapshot keeps pages of the file from being reused, so it ends after Options.ReadDeadline: from then on every call on the Tx fails.
// Stats shows the oldest.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	v := &struct { // one allocation for both
		tx Tx
		txn.View
	}{}
	v.tx = Tx{core: &v.Tx, s: s}
	return s.engine.View(ctx, &v.View, func() error { return fn(&v.tx) })
}

// Close waits for running transactions, ends a Backup, commits what makes the next Open fast, and releases the file. Later Updates are
// refused.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.engine.Stop()
		s.copies.Close()
		s.closeError = s.engine.ShutDown(s.engine.Path != "")
		if s.remove != nil {
			s.remove()
		}
	})
	return s.closeError
}

// OnLongTurn sets a function that is called for each Update whose closure ran for more than 100 ms, and for one that does not end. It is
// called between two turns and must not block. Set it once, before the first write.
func (s *Store) OnLongTurn(fn func(LongTurn)) { s.engine.LongTurns.Store(&fn) }
