package feed

import (
	"context"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// readImage reads one item consistently. The caller ends the read once the result has been adopted.
func (f *Feed) readImage(ctx context.Context, table string, key attr.Item) (image, error) {
	if err := f.Tables.Readable(table); err != nil {
		return image{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.Deadline)
	defer cancel()
	im := image{table: table, key: key, began: f.serverNow(), read: f.Box.Reads.Start(), epoch: f.Tables.Epoch()}
	it, err := f.Cloud.Get(ctx, table, key)
	f.readEnded(ctx, readAction{table, actionGet}, err)
	if err != nil {
		im.read.End()
		return image{}, err
	}
	im.item = it
	return im, nil
}

func endReads(images []image) {
	for i := range images {
		images[i].read.End()
	}
}

// maxRereads bounds how often an item is read again because its base moved meanwhile. A base that moves so often is moved by
// answers of the cloud, which are as good as reads.
const maxRereads = 3

// refresh reads an item and adopts it.
func (f *Feed) refresh(ctx context.Context, table string, key attr.Item) error {
	for range maxRereads {
		im, err := f.readImage(ctx, table, key)
		if err != nil {
			return err
		}
		out, err := f.adoptRead(ctx, im)
		im.read.End()
		if err != nil {
			return err
		}
		if err := f.follow(ctx, &out, false); err != nil {
			return err
		}
		if len(out.again) == 0 {
			return nil
		}
	}
	return nil
}

// adoptRead adopts the read of one item. If the item is gone, it first checks the table: a recreated or restored table has lost
// the item, and nobody has deleted it.
func (f *Feed) adoptRead(ctx context.Context, im image) (adoption, error) {
	if err := f.checkTable(ctx, im); err != nil {
		return adoption{}, err
	}
	return f.adopt(ctx, []image{im}, nil)
}

// checkTable checks that a table is still the same one if an item exists here but not in the cloud.
func (f *Feed) checkTable(ctx context.Context, im image) error {
	if im.item != nil {
		return nil
	}
	fresh, err := f.unlike(ctx, []image{im})
	if err == nil && len(fresh) > 0 {
		err = f.Tables.Check(ctx, im.table)
	}
	return err
}

// follow completes an adoption: it handles the transactions it proves and reads items again.
func (f *Feed) follow(ctx context.Context, out *adoption, again bool) error {
	for _, id := range sortedBatches(out.proves) {
		if err := f.adoptBatch(ctx, id); err != nil {
			return err
		}
	}
	if !again {
		return nil
	}
	for i := range out.again {
		if err := f.refresh(ctx, out.again[i].table, out.again[i].key); err != nil {
			return err
		}
	}
	return nil
}

// Book schedules a consistent read of an item whose images arrived in an unknown order.
func (f *Feed) Book(table string, key attr.Item) {
	f.mu.Lock()
	f.booked = append(f.booked, intent.Ref{Table: table, Key: key})
	f.mu.Unlock()
	f.Wake()
}

// expiredReads bounds how many items past their TTL wait to be read again, of those that one sweep meets: the cloud takes its time to
// expire items, and rules need not read what nobody is interested in any more.
const expiredReads = 64

// AskAfter schedules a lookup of whether the cloud has removed an item past its TTL. It picks by chance, so that none is left out for
// ever. It is only a hint: the caller's transaction may be undone.
func (f *Feed) AskAfter(table string, key attr.Item) {
	if !f.Link.Online() || f.Rand()%4 != 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.booked) < expiredReads {
		f.booked = append(f.booked, intent.Ref{Table: table, Key: key})
		f.Wake()
	}
}

// ReadBooked reads the scheduled items if the cloud is reachable.
func (f *Feed) ReadBooked(ctx context.Context) {
	for f.Link.Online() {
		f.mu.Lock()
		if len(f.booked) == 0 {
			f.mu.Unlock()
			return
		}
		ref := f.booked[0]
		f.booked = f.booked[1:]
		f.mu.Unlock()
		if err := f.refresh(ctx, ref.Table, ref.Key); err != nil {
			f.Log.Warn("an item could not be read again; a later read will retry", "table", ref.Table, "error", err)
			if _, gone := remote.AsUnreached(err); gone {
				f.Book(ref.Table, ref.Key)
			}
			return
		}
	}
}
