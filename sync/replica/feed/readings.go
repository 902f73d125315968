package feed

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// Readings are items read consistently, one after the other, for a transaction that adopts them together with its other changes.
type Readings struct {
	feed   *Feed
	images []image
}

// ReadAll reads all items within the time of one request, or none. The caller must call End on the result.
func (f *Feed) ReadAll(ctx context.Context, refs []intent.Ref) (*Readings, error) {
	ctx, cancel := context.WithTimeout(ctx, f.Deadline)
	defer cancel()
	r := &Readings{feed: f}
	for _, ref := range refs {
		im, err := f.readImage(ctx, ref.Table, ref.Key)
		if err == nil {
			r.images = append(r.images, im)
			err = f.checkTable(ctx, im)
		}
		if err != nil {
			r.End()
			return nil, err
		}
	}
	return r, nil
}

// Adopt makes the read images the bases of their items, as part of a transaction's work. An item is read again afterwards if its base was
// set since, or if it shows that another write of this node was applied, which is settled separately.
func (r *Readings) Adopt(w *outbox.Work) error {
	if r == nil {
		return nil
	}
	for i := range r.images {
		im := &r.images[i]
		it, err := w.Load(im.table, im.key)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		batches, err := w.Pending(it)
		if err != nil {
			return err
		}
		_, side := intent.Split(im.item)
		v := adoptStale
		if !slices.ContainsFunc(batches, func(u *outbox.Batch) bool { return u.ShownBy(it, side, w.Env.Node) }) {
			if v, err = r.feed.adoptOne(w, im, &adoption{}, false); err != nil {
				return err
			}
		}
		it.Refetch = it.Refetch || v == adoptStale
	}
	return nil
}

// End ends the reads: their results have been used or are not needed.
func (r *Readings) End() {
	if r != nil {
		endReads(r.images)
	}
}
