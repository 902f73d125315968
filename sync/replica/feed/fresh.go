package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// freshRead is a read for callers of ReadFresh, who share it if they asked before it began.
type freshRead struct {
	waiting []*clock.Signal // of those who wait for its end
	done    bool
	err     error
}

// freshReads are the reads of one item or partition: the one under way and the one that begins after it. nil: none.
type freshReads struct{ running, next *freshRead }

// ReadFresh reads items, or whole partitions if a key is only the partition key, from the cloud, however recently that was done: each is
// then as the cloud had it at some instant after the call. It fails with fault.Unavailable if the cloud does not answer within Deadline
// or before ctx ends, unless all that could not be read are items that were deleted here. Mistakes of the caller are as for Ensure.
//
// Example: a node that has no game g asks this before it says that there is none. Of ten callers at once the first reads; the other
// nine, who cannot know whether that read began before what they ask about was made, share a second read.
func (f *Feed) ReadFresh(ctx context.Context, table string, keys ...attr.Item) error {
	wants, err := f.wantsOf(table, keys)
	if err != nil {
		return err
	}
	errs := make([]error, len(wants))
	var others sync.WaitGroup
	for i := 1; i < len(wants); i++ {
		others.Go(func() { errs[i] = f.readFreshOne(ctx, wants[i]) })
	}
	if len(wants) > 0 {
		errs[0] = f.readFreshOne(ctx, wants[0])
	}
	others.Wait()
	return errors.Join(errs...)
}

// readFreshOne reads one item or partition.
func (f *Feed) readFreshOne(ctx context.Context, w *want) error {
	err := f.shareFresh(ctx, w)
	if err == nil {
		return nil
	}
	gone, other := f.deletedHere(ctx, w)
	if gone {
		return nil
	}
	return errors.Join(fault.Wrap(err, fault.Unavailable, "cloud_unread", "the cloud did not answer in time"), other)
}

// shareFresh takes part in a read that begins from now on.
func (f *Feed) shareFresh(ctx context.Context, w *want) error {
	if !f.Link.Online() {
		return fault.New(fault.Unavailable, "offline", "the cloud cannot be reached")
	}
	leave := f.Clock.Join()
	defer leave()
	mine, before, first := f.joinFresh(w)
	if !first {
		return f.awaitFresh(ctx, mine)
	}
	if before != nil {
		_ = f.awaitFresh(context.WithoutCancel(ctx), before) // others wait for ours: it must begin
	}
	f.beginFresh(w, mine)
	err := f.readWithin(ctx, w)
	f.endFresh(w, mine, err)
	return err
}

// joinFresh returns the read of w that has not begun, and the one that is under way; nil: none. first reports that the caller must carry
// it out.
func (f *Feed) joinFresh(w *want) (mine, before *freshRead, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh == nil {
		f.fresh = map[string]*freshReads{}
	}
	of := f.fresh[w.id]
	if of == nil {
		of = &freshReads{}
		f.fresh[w.id] = of
	}
	if of.next == nil {
		of.next, first = &freshRead{}, true
	}
	return of.next, of.running, first
}

func (f *Feed) beginFresh(w *want, mine *freshRead) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.fresh[w.id]
	of.running, of.next = mine, nil
}

// endFresh wakes those who wait for a read.
func (f *Feed) endFresh(w *want, mine *freshRead, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mine.done, mine.err = true, err
	for _, sig := range mine.waiting {
		sig.Set()
	}
	of := f.fresh[w.id]
	if of.running = nil; of.next == nil {
		delete(f.fresh, w.id)
	}
}

// awaitFresh waits for the end of a read.
func (f *Feed) awaitFresh(ctx context.Context, r *freshRead) error {
	sig := clock.NewSignal()
	f.mu.Lock()
	r.waiting = append(r.waiting, sig)
	f.mu.Unlock()
	for {
		f.mu.Lock()
		done, err := r.done, r.err
		f.mu.Unlock()
		if done {
			return err
		}
		if err := f.Clock.Wait(ctx, time.Time{}, sig); err != nil {
			return err
		}
	}
}

// readWithin reads what is wanted within the caller's time, but at most Deadline. A caller who leaves early does not end it: others wait
// for it too.
func (f *Feed) readWithin(ctx context.Context, w *want) error {
	within := f.Deadline
	if until, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(until)) //nolint:forbidigo // the deadline of a context is in the machine's own time
	}
	inner, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	err := f.fetchOne(inner, w)
	if err != nil && inner.Err() == nil {
		f.passFailed(w.pass, err)
	}
	return err
}

// deletedHere reports whether an item was deleted here or, as this node knows, in the cloud. Its absence is then known without asking.
func (f *Feed) deletedHere(ctx context.Context, w *want) (gone bool, err error) {
	key := w.itemKey()
	if key == nil {
		return false, nil
	}
	err = f.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		it, err := outbox.ItemOf(tx, w.pass.spec, key)
		if err != nil {
			return err
		}
		known, _, err := outbox.ReadRemote(tx, it)
		if err != nil || known == nil {
			return err
		}
		gone = true
		tx.ShowExpired()
		return tx.GetEncoded(w.pass.table, key, func(attr.Encoded) error {
			gone = false
			return nil
		})
	})
	return gone && err == nil, err
}
