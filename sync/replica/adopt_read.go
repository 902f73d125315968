package replica

import (
	"context"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// readImage reads one item consistently. The caller ends its read when what was found has been adopted.
func (r *Replica) readImage(ctx context.Context, table string, key attr.Item) (image, error) {
	if err := r.readable(table); err != nil {
		return image{}, err
	}
	ctx, cancel := r.within(ctx)
	defer cancel()
	im := image{table: table, key: key, began: r.serverNow(), read: r.box.Reads.Start(), epoch: r.identity.restores.epoch.Load()}
	it, err := r.cloud.Get(ctx, table, key)
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

// maxRereads bounds how often an item is read again because its base moved meanwhile: what moves that often is moved by
// answers of the cloud, which are as good.
const maxRereads = 3

// refresh reads an item and adopts it.
func (r *Replica) refresh(ctx context.Context, table string, key attr.Item) error {
	for range maxRereads {
		im, err := r.readImage(ctx, table, key)
		if err != nil {
			return err
		}
		out, err := r.adoptRead(ctx, im)
		im.read.End()
		if err != nil {
			return err
		}
		if err := r.follow(ctx, &out, false); err != nil {
			return err
		}
		if len(out.again) == 0 {
			return nil
		}
	}
	return nil
}

// adoptRead adopts what was read of one item. What was there and is not is looked after: a table that was made again or
// restored has lost it, nobody has deleted it.
func (r *Replica) adoptRead(ctx context.Context, im image) (adoption, error) {
	if im.item == nil {
		fresh, err := r.unlike(ctx, []image{im})
		if err == nil && len(fresh) > 0 {
			err = r.checkTable(ctx, im.table)
		}
		if err != nil {
			return adoption{}, err
		}
	}
	return r.adopt(ctx, []image{im}, nil)
}

// follow does what an adoption has left to do: transactions it proves, and items to be read again.
func (r *Replica) follow(ctx context.Context, out *adoption, again bool) error {
	for _, id := range sortedUnits(out.proves) {
		if err := r.adoptUnit(ctx, id); err != nil {
			return err
		}
	}
	if !again {
		return nil
	}
	for i := range out.again {
		if err := r.refresh(ctx, out.again[i].table, out.again[i].key); err != nil {
			return err
		}
	}
	return nil
}

// bookReread has an item read consistently: what is known of it came in an order that nobody can tell.
func (r *Replica) bookReread(table string, key attr.Item) {
	r.books.mu.Lock()
	r.books.reads = append(r.books.reads, intent.Ref{Table: table, Key: key})
	r.books.mu.Unlock()
	r.errands.get().Set()
}
