package txn

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/disk"
	"github.com/touchline/touchline/store/internal/file"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
)

// OriginCloud is the origin of changes made by Tx.Adopt.
const OriginCloud = "cloud"

// advance adopts the state that b has committed, and signals the watchers.
func (s *DB) advance(b *batch) {
	tables := s.Cat.Swap(b.cat) != b.cat // before the journal: see DB.begin
	j := b.Journal
	if b.begun != 0 {
		s.Incarnation.Store(b.begun)
	}
	s.Journal.Store(&j)
	s.Meter.LastWasFull.Store(false)
	s.older.Store(false)
	if b.records > 0 {
		s.Watches.set()
	}
	if tables {
		s.TableWatches.set()
	}
}

// BeginIncarnation continues the journal in a new incarnation, which must be later than the present one.
func (tx *Tx) BeginIncarnation(next uint64) error {
	meta, err := tx.Bucket(format.BucketMeta)
	if err != nil {
		return err
	}
	had := meta.Get(format.MetaIncarnation)
	if len(had) != 8 {
		return refusal.DamagedData(nil, "its incarnation cannot be read")
	}
	if binary.BigEndian.Uint64(had) >= next {
		return fault.New(fault.Conflict, "incarnation_passed", "another incarnation has begun meanwhile")
	}
	written, err := tx.lastWritten()
	if err != nil {
		return err
	}
	note := format.NoteWritten(next, written)
	if err := tx.Batch.Set(meta, format.MetaWritten, note, bytes.Clone(meta.Get(format.MetaWritten))); err != nil {
		return tx.BreakOff(err)
	}
	value := binary.BigEndian.AppendUint64(nil, next)
	if err := tx.Batch.Set(meta, format.MetaIncarnation, value, had); err != nil {
		return tx.BreakOff(err)
	}
	tx.Batch.Journal = tx.Batch.Journal.StepTo(next)
	tx.Batch.begun = next
	return nil
}

// ForgetDamage removes the note of a damage that somebody has read of, and returns those that are left.
func (tx *Tx) ForgetDamage(id int64) (left []file.Damage, err error) {
	meta, err := tx.Bucket(format.BucketMeta)
	if err != nil {
		return nil, err
	}
	had := bytes.Clone(meta.Get(format.MetaDamages))
	kept, err := file.DecodeDamages(had)
	if err != nil {
		return nil, refusal.DamagedData(err, "its notes of damage cannot be read")
	}
	for _, d := range kept {
		if d.ID != id {
			left = append(left, d)
		}
	}
	if len(left) == len(kept) {
		return nil, fault.New(fault.NotFound, "not_found", "no damage is noted under this number: somebody else may have read of it")
	}
	raw, err := file.EncodeDamages(left)
	if err != nil {
		return nil, err
	}
	if err := tx.Batch.Set(meta, format.MetaDamages, raw, had); err != nil {
		return nil, tx.BreakOff(err)
	}
	return left, nil
}

// LastWritten returns the sequence of the last journal record, of an earlier incarnation if the present one has none.
func (tx *Tx) LastWritten() (uint64, error) {
	if err := tx.BeginCall(); err != nil {
		return 0, err
	}
	defer tx.EndCall()
	return tx.lastWritten()
}

func (tx *Tx) lastWritten() (uint64, error) {
	meta, err := tx.Bucket(format.BucketMeta)
	if err != nil {
		return 0, err
	}
	journal, err := tx.Bucket(format.BucketJournal)
	if err != nil {
		return 0, err
	}
	incarnation := meta.Get(format.MetaIncarnation)
	if len(incarnation) != 8 {
		return 0, refusal.DamagedData(nil, "its incarnation cannot be read")
	}
	return format.LastWritten(meta, journal, binary.BigEndian.Uint64(incarnation), tx.JournalState()), nil
}

// DB runs transactions on an open file.
type DB struct {
	Path string // empty: in memory
	Opts file.Options
	Node string
	Bolt *bolt.DB
	Room *disk.Room

	// The state after the last commit. Only the committer writes it, after committing.
	Cat         atomic.Pointer[catalogue.Tables]
	Journal     atomic.Pointer[format.JournalState]
	Incarnation atomic.Uint64
	Damages     atomic.Pointer[[]file.Damage] // of the first pages, until somebody has read of them

	LongTurns atomic.Pointer[func(LongTurn)]

	Commits *committer
	Readers *readers
	Watches watches
	Intact  format.Intact
	Refused atomic.Uint64 // reads and writes that met a damaged item
	older   atomic.Bool   // the file has an older format, which the next commit changes to the present one

	TableWatches watches
	Meter        meter

	FillItems int // items in one slice of filling an index

	Failed  chan struct{} // closed when the store is latched
	failure atomic.Pointer[failure]
}

// New returns a DB for an open file.
func New(f *file.File, o file.Options) *DB {
	st := &f.State
	e := &DB{Path: f.Path, Opts: o, Node: st.Node, Bolt: f.Bolt, Room: disk.NewRoom(f.F, f.Bolt, o.MaxSize, o.NoSync), Failed: make(chan struct{}), FillItems: fillItems}
	e.Cat.Store(st.Cat)
	e.Journal.Store(&st.Journal)
	e.Incarnation.Store(st.Incarnation)
	e.Damages.Store(&st.Damages)
	e.older.Store(st.Format < format.FormatVersion)
	e.Readers = newReaders(o.ReadDeadline)
	e.Commits = newCommitter(e)
	return e
}

// Err returns the error that latched the store, nil while it works.
func (s *DB) Err() error {
	if f := s.failure.Load(); f != nil {
		return f.err
	}
	return nil
}

// Update runs fn in a transaction of its own, like Store.Update.
func (s *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.Commits.submit(ctx, fn)
}

// View runs fn on a snapshot, which v holds while fn runs.
func (s *DB) View(ctx context.Context, v *View, fn func() error) error {
	if err := s.begin(ctx, v); err != nil {
		return err
	}
	defer func() {
		v.Tx.over = true
		s.Readers.end(&v.reader)
	}()
	return fn()
}

// RunOnSnapshot runs fn on a snapshot.
func (s *DB) RunOnSnapshot(ctx context.Context, fn func(*Tx) error) error {
	v := &View{}
	return s.View(ctx, v, func() error { return fn(&v.Tx) })
}

// View is a read transaction and its snapshot.
type View struct {
	Tx     Tx
	reader Reader
}

// begin gives a view a snapshot, and a catalogue that is not newer: the tables in it exist in the snapshot. It loads the last sequence
// before the catalogue because a commit stores them in the opposite order.
func (s *DB) begin(ctx context.Context, v *View) error {
	for {
		*v = View{}
		upTo := s.Journal.Load().Last
		v.Tx = Tx{DB: s, Ctx: ctx, Cat: s.Cat.Load(), upTo: upTo}
		if err := s.Readers.begin(&v.reader, s.Bolt); err != nil {
			return err
		}
		if s.Cat.Load() == v.Tx.Cat {
			v.Tx.Btx, v.Tx.Reader = v.reader.Btx, &v.reader
			return nil
		}
		s.Readers.end(&v.reader)
	}
}

// Stop waits for running transactions and refuses later ones.
func (s *DB) Stop() {
	s.Commits.close()
	s.Readers.close()
}

// ShutDown closes the file. If it will be opened again, ShutDown first commits the free list, so that the next Open need not search the
// file for free pages.
func (s *DB) ShutDown(again bool) error {
	if again && s.Err() == nil {
		failpoint.Hit(failpoint.CloseBegin)
		s.Bolt.NoFreelistSync = false
		// Without the list the next Open is slower but finds the same data: no reason to fail.
		_ = s.Bolt.Update(func(btx *bolt.Tx) error {
			return s.Room.Reserve(btx, 64*os.Getpagesize()+int(btx.Size()/256), 0)
		})
	}
	failpoint.Hit(failpoint.CloseFreelist)
	return s.Bolt.Close()
}

// OriginTTL is the origin of journal records of expired items that were deleted. DynamoDB expires its own copy of a table, so these
// deletions must not be sent to it.
const OriginTTL = "ttl"
