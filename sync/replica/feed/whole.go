package feed

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// What an application counts must have been read whole: page by page from the start to the end, with what the cloud no longer has
// removed. Passes are numbered in the order in which they begin. A pass sees everything that was in the cloud before it began, so who
// has learned that nothing more can be added to a partition asks for a pass with a later number than the latest one then.
//
// What was read whole before the cloud was away is not whole any more: nobody knows what was written meanwhile.

// wantedEvery is the pause between two rounds of a wanted read.
const wantedEvery = time.Second

// whole is what is known of reads from start to end.
type whole struct {
	latest uint64                 // number of the pass that began last
	valid  uint64                 // passes up to this number began before the cloud was away
	read   map[string]uint64      // by pass.key: the latest pass that was whole
	wanted map[string]*wanted     // by pass.key: reads that somebody waits for
	asked  *clock.Signal          // wakes the feed when something is wanted
	tell   map[*clock.Signal]bool // set when something was read whole
}

// wanted is a read from start to end that somebody waits for.
type wanted struct {
	pass  *pass
	next  time.Time
	tries int // failed ones in a row
}

// LatestPass returns the number of the pass that began last.
func (f *Feed) LatestPass() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.whole.latest
}

// IsWhole reports whether a partition, or the whole table if partition is absent, was read whole by a pass that began after the one with
// the given number, and since the cloud was last away. A table that is not shared is whole.
func (f *Feed) IsWhole(table string, partition attr.Value, after uint64) (bool, error) {
	p, err := f.passOf(table, partition)
	if err != nil || p == nil {
		return err == nil, err
	}
	online := f.Link.Online()
	f.mu.Lock()
	defer f.mu.Unlock()
	latest := max(f.whole.read[p.key], f.whole.read[table+"\x00"])
	return online && latest > max(after, f.whole.valid), nil
}

// WantWhole has the feed read a partition, or the whole table if partition is absent, from start to end soon.
func (f *Feed) WantWhole(table string, partition attr.Value) error {
	p, err := f.passOf(table, partition)
	if err != nil || p == nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole.wanted[p.key] != nil {
		return nil
	}
	if f.whole.wanted == nil {
		f.whole.wanted = map[string]*wanted{}
	}
	f.whole.wanted[p.key] = &wanted{pass: p}
	f.askedLocked().Set()
	return nil
}

// WatchWhole sets sig whenever something was read whole, until stop is called.
func (f *Feed) WatchWhole(sig *clock.Signal) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole.tell == nil {
		f.whole.tell = map[*clock.Signal]bool{}
	}
	f.whole.tell[sig] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.whole.tell, sig)
	}
}

// passOf returns the pass over a partition or a table. It is nil if the table is not shared.
func (f *Feed) passOf(table string, partition attr.Value) (*pass, error) {
	spec := f.Box.Spec(table)
	if spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	if !spec.Sends() {
		return nil, nil //nolint:nilnil // no read is needed
	}
	if partition.IsZero() {
		return newPass(spec, attr.Value{}, nil), nil
	}
	raw, ok := rawPartition(spec, partition)
	if !ok {
		return nil, fault.New(fault.Invalid, "bad_key", "the value is not a partition key of table %s", table)
	}
	return newPass(spec, partition, raw), nil
}

// askedLocked returns the signal that wakes the feed. The caller holds the lock.
func (f *Feed) askedLocked() *clock.Signal {
	if f.whole.asked == nil {
		f.whole.asked = clock.NewSignal()
	}
	return f.whole.asked
}

// wholeAsked returns the signal that wakes the feed.
func (f *Feed) wholeAsked() *clock.Signal {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.askedLocked()
}

// beginPass numbers a pass that begins.
func (f *Feed) beginPass() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole.latest++
	return f.whole.latest
}

// endPass records a pass from start to end. A pass that an earlier run began cannot tell what is gone, and does not count.
func (f *Feed) endPass(p *pass) {
	if p.number == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole.read == nil {
		f.whole.read = map[string]uint64{}
	}
	if len(f.whole.read) >= heldMost { // tables stay
		maps.DeleteFunc(f.whole.read, func(key string, _ uint64) bool { return key[len(key)-1] != 0 })
	}
	f.whole.read[p.key] = max(f.whole.read[p.key], p.number)
	for key := range f.whole.wanted { // a table includes its partitions
		if strings.HasPrefix(key, p.key) && (key == p.key || p.partition.IsZero()) {
			delete(f.whole.wanted, key)
		}
	}
	for sig := range f.whole.tell {
		sig.Set()
	}
}

// wasAway makes all earlier passes count no more: what was written while the cloud was away is not known.
func (f *Feed) wasAway() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.whole.valid = f.whole.latest
}

// nextWanted returns when the next wanted read is due; zero: nothing is wanted.
func (f *Feed) nextWanted() (next time.Time, some bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.whole.wanted {
		if !some || w.next.Before(next) {
			next, some = w.next, true
		}
	}
	return next, some
}

// readWanted makes the wanted reads that are due. One that is longer than a round goes on in the next.
func (f *Feed) readWanted(ctx context.Context) {
	budget := roundPages
	for _, w := range f.dueWanted() {
		if budget <= 0 {
			return
		}
		p := *w.pass
		_, err := f.continuePass(ctx, &p, &budget)
		f.readAgain(w, err)
		if err != nil {
			f.passFailed(&p, err)
			return
		}
	}
}

// readAgain plans the next round of a wanted read, in case this one did not reach the end.
func (f *Feed) readAgain(w *wanted, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		w.tries, w.next = 0, f.Clock.Now().Add(wantedEvery)
		return
	}
	w.next = f.Clock.Now().Add(pollWait().Delay(w.tries, backoff.Float(f.Rand)))
	w.tries++
}

func (f *Feed) dueWanted() (due []*wanted) {
	now := f.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.whole.wanted)) {
		if w := f.whole.wanted[key]; !w.next.After(now) {
			due = append(due, w)
		}
	}
	return due
}
