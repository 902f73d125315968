package feed

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// image is what a consistent read found of an item.
type image struct {
	table string
	key   attr.Item
	item  attr.Item // sidecar included; nil: no item
	read  *outbox.Read
	began time.Time // when the read began, server-corrected
	epoch uint64    // number of restores known then
}

// adopted is the verdict on an image.
type adopted uint8

const (
	adoptSame    adopted = iota // it was the base already
	adoptTaken                  // it is the base now
	adoptWaits                  // a transaction being verified must find the item as it is
	adoptStale                  // the base was set since the read began, or a restored table was found: read the item again
	adoptKept                   // absent from a table that has lost writes: the item stays as it is here
	adoptRefused                // the table has no such item
	adoptProves                 // it proves a transaction, whose other items must be read with it
)

// adoption is what became of a set of images.
type adoption struct {
	again   []image // to read again
	refused int
	proves  map[outbox.ID]bool // transactions that were proved and left in place
}

// adopt makes cloud images the bases of their items, in one transaction with more (nil: nothing), and updates what readers see. An
// unusable image is left out and counted: one damaged row must not stop the feed.
func (f *Feed) adopt(ctx context.Context, images []image, more func(tx *store.Tx) error) (adoption, error) {
	var out adoption
	var done *outbox.Work
	fresh, err := f.unlike(ctx, images)
	if err != nil || len(fresh) == 0 && more == nil {
		return out, err
	}
	err = f.Store.Update(ctx, func(tx *store.Tx) error {
		out = adoption{}
		w := f.Box.Begin(tx)
		for i := range fresh {
			v, err := f.adoptOne(w, &fresh[i], &out, false)
			if err != nil {
				return err
			}
			switch v { //nolint:exhaustive // the others need nothing more
			case adoptStale:
				out.again = append(out.again, fresh[i])
			case adoptRefused:
				out.refused++
			}
		}
		if err := w.Finish(); err != nil {
			return err
		}
		done = w
		if more != nil {
			return more(tx)
		}
		return nil
	})
	if err != nil {
		return adoption{}, err
	}
	f.adoptedWork(done, &out)
	return out, nil
}

// adoptedWork updates memory after the commit.
func (f *Feed) adoptedWork(w *outbox.Work, out *adoption) {
	f.Moved(w)
	if n := out.refused + len(w.Bad); n > 0 {
		f.Log.Warn("feed: rows of the cloud that are not valid items of their tables were skipped", "rows", n, "why", w.Bad)
	}
}

// unlike leaves out images that already are the base, so that unchanged items cause no writes.
func (f *Feed) unlike(ctx context.Context, images []image) (out []image, err error) {
	err = f.Store.View(ctx, func(tx *store.Tx) error {
		out = out[:0]
		for i := range images {
			im := &images[i]
			spec := f.Box.Spec(im.table)
			if spec == nil {
				continue
			}
			it, err := outbox.ItemOf(tx, spec, im.key)
			if err == nil {
				var sh *outbox.Remote
				if sh, err = outbox.RemoteOf(tx, it); err == nil && sameBase(sh, im.item) {
					continue
				}
			}
			if err != nil && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Damaged) {
				return err
			}
			out = append(out, *im)
		}
		return nil
	})
	return out, err
}

// sameBase reports whether an image equals the base in sh (nil: none).
func sameBase(sh *outbox.Remote, img attr.Item) bool {
	if sh == nil || sh.Known.Item == nil || img == nil {
		return img == nil && (sh == nil || sh.Known.Item == nil)
	}
	item, side := intent.Split(img)
	return attr.EqualItems(item, sh.Known.Item) && sameSide(side, sh.Known.Side)
}

func sameSide(a, b intent.Sidecar) bool {
	return a.Life == b.Life && a.Count == b.Count && a.Hold == b.Hold && attr.Equal(a.Time, b.Time) &&
		attr.Equal(a.Turn, b.Turn) && maps.EqualFunc(a.Marks, b.Marks, attr.Equal)
}

// adoptOne adopts one image. together says that all items of the transactions it may prove are adopted in the same work.
func (f *Feed) adoptOne(w *outbox.Work, im *image, out *adoption, together bool) (adopted, error) {
	it, err := w.Load(im.table, im.key)
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
		return adoptRefused, nil
	case err != nil:
		return 0, err
	case im.epoch != f.Tables.Epoch(): // the image may be of an earlier table, and proves nothing about the present one
		return adoptStale, nil
	case sameBase(it.Remote, im.item):
		return adoptSame, nil
	case im.read.Overtaken(it.ID()):
		return adoptStale, nil
	case im.item == nil && f.Tables.KeepsAbsent(im.table, it.Remote.Set):
		return adoptKept, nil
	}
	known := intent.Known{}
	known.Item, known.Side = intent.Split(im.item)
	batches, err := w.Pending(it)
	if err != nil {
		return 0, err
	}
	proved, v := f.provedBy(batches, it, known.Side, out, together)
	if v != adoptTaken {
		return v, nil
	}
	f.watchMark(known.Side)
	before := it.Remote.Known
	w.Base(it, known, im.began)
	for _, u := range proved {
		if err := f.Settle(w, u); err != nil {
			return 0, err
		}
	}
	rest, err := w.Entries(it)
	if err != nil {
		return 0, err
	}
	for _, e := range intent.Rebase(before, known, rest, w.Env) {
		w.MarkChanged(e)
	}
	return adoptTaken, nil
}

// provedBy returns the batches of an item, in order, that an image of it proves. It never returns a transaction: the caller that has all
// of its items settles it, and together says that this caller has.
func (f *Feed) provedBy(batches []*outbox.Batch, it *outbox.WorkItem, side intent.Sidecar, out *adoption, together bool) (proved []*outbox.Batch, v adopted) {
	i := slices.IndexFunc(batches, func(u *outbox.Batch) bool { return u.ShownBy(it, side, f.Store.Node()) })
	if i < 0 {
		return nil, adoptTaken
	}
	u := batches[i]
	if u.ProvesEarlier() {
		proved = slices.DeleteFunc(slices.Clone(batches[:i]), func(u *outbox.Batch) bool { return !u.Entries[0].Verifying() })
		if slices.ContainsFunc(proved, func(u *outbox.Batch) bool { return len(u.Entries) > 1 }) {
			return nil, adoptWaits // it reads all of its items itself, and must find this mark pending
		}
	}
	switch {
	case together:
	case len(u.Entries) > 1:
		if out.proves == nil {
			out.proves = map[outbox.ID]bool{}
		}
		out.proves[u.ID] = true
		return nil, adoptProves
	default:
		proved = append(proved, u)
	}
	return proved, adoptTaken
}

// watchMark checks our own mark on an image: a mark above every sequence of this node was written by another copy of it.
func (f *Feed) watchMark(side intent.Sidecar) {
	if intent.Whole(side.Marks[f.Store.Node()]) > f.Store.Seq() {
		f.OtherCopy("a mark above all sequences of this node")
	}
}

// adoptBatch reads all items of a transaction and adopts them together: one of them showed that the transaction was applied, and
// readers must see all of it or none.
func (f *Feed) adoptBatch(ctx context.Context, id outbox.ID) error {
	keys, err := f.refsOf(ctx, id)
	if err != nil || len(keys) == 0 {
		return err
	}
	images := make([]image, 0, len(keys))
	for _, k := range keys {
		im, err := f.readImage(ctx, k.Table, k.Key)
		if err != nil {
			endReads(images)
			return err
		}
		images = append(images, im)
	}
	defer endReads(images)
	var out adoption
	var done *outbox.Work
	err = f.Store.Update(ctx, func(tx *store.Tx) (err error) {
		out, done = adoption{}, nil
		w := f.Box.Begin(tx)
		u, err := w.Batch(id)
		if err != nil || u == nil {
			return err
		}
		shown, err := f.adoptAll(w, u, images, &out)
		if err == nil && !shown {
			err = errNotShown
		}
		if err != nil {
			return err
		}
		if err := f.Settle(w, u); err != nil {
			return err
		}
		done = w
		return w.Finish()
	})
	if err == nil && done != nil {
		f.adoptedWork(done, &out)
	}
	if errors.Is(err, errNotShown) {
		return nil
	}
	return err
}

// refsOf returns the items that a batch writes, or none if it has left the outbox.
func (f *Feed) refsOf(ctx context.Context, id outbox.ID) (keys []intent.Ref, err error) {
	err = f.Store.View(ctx, func(tx *store.Tx) error {
		u, err := outbox.Get(tx, id)
		if err != nil || u == nil {
			return err
		}
		for _, e := range u.Entries {
			keys = append(keys, intent.Ref{Table: e.Table, Key: e.Key})
		}
		return nil
	})
	return keys, err
}

// errNotShown undoes the adoption for a batch that cannot be adopted as a whole.
var errNotShown = errors.New("the images do not show the transaction")

// adoptAll adopts the images of a batch's items. It reports whether they prove the batch and all could be taken; if not, nothing must
// be kept and the batch goes on unchanged. A batch being verified in a restored table is proved only by all of its items: one
// item may have survived where another was lost.
func (f *Feed) adoptAll(w *outbox.Work, u *outbox.Batch, images []image, out *adoption) (shown bool, err error) {
	whole := true
	for i := range images {
		_, side := intent.Split(images[i].item)
		it, err := w.Load(images[i].table, images[i].key)
		if err != nil {
			return false, err
		}
		there := images[i].item != nil && u.ShownBy(it, side, w.Env.Node)
		shown = shown || there
		whole = whole && (there || images[i].item == nil && u.Entries[i].Op == store.OpDelete)
	}
	if !shown || !whole && (u.Entries[0].Verifying() || f.Tables.Owes(u)) {
		return false, nil
	}
	for i := range images {
		v, err := f.adoptOne(w, &images[i], out, true)
		if err != nil || v != adoptTaken && v != adoptSame {
			return false, err
		}
	}
	return true, nil
}

func sortedBatches(ids map[outbox.ID]bool) []outbox.ID {
	return slices.SortedFunc(maps.Keys(ids), func(a, b outbox.ID) int { return cmp.Compare(a.Seq, b.Seq) })
}
