package web

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
)

// MemJournal is a store's journal in memory.
type MemJournal struct {
	mu      sync.Mutex
	records []store.Record
	first   uint64
	last    uint64
	signals map[*clock.Signal]struct{}
	reads   int
}

// NewJournal makes an empty journal.
func NewJournal() *MemJournal { return &MemJournal{first: 1, signals: map[*clock.Signal]struct{}{}} }

// Reads is how often it was read.
func (f *MemJournal) Reads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

// Journal implements sse.Journal.
func (f *MemJournal) Journal(_ context.Context, after uint64, limit int) ([]store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	var out []store.Record
	for _, r := range f.records {
		if r.Seq > after && r.Seq >= f.first && len(out) < limit {
			out = append(out, r)
		}
	}
	return out, nil
}

// Seq implements sse.Journal.
func (f *MemJournal) Seq() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// FirstSeq implements sse.Journal.
func (f *MemJournal) FirstSeq() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}

// Watch implements sse.Journal.
func (f *MemJournal) Watch(sig *clock.Signal) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.signals[sig] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.signals, sig)
	}
}

// Trim forgets the journal up to a sequence.
func (f *MemJournal) Trim(upTo uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first = upTo + 1
}

// Commit makes a change, journals records and wakes who watches. It returns the sequence of the last.
func (f *MemJournal) Commit(change func(), records ...store.Record) uint64 {
	f.mu.Lock()
	change()
	for _, r := range records {
		f.last++
		r.Seq, r.Op = f.last, store.OpPut
		f.records = append(f.records, r)
	}
	last := f.last
	signals := slices.Collect(maps.Keys(f.signals))
	f.mu.Unlock()
	for _, sig := range signals {
		sig.Set()
	}
	return last
}
