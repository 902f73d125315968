package replica

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
)

// image is what a consistent read has found of an item.
type image struct {
	table string
	key   attr.Item
	item  attr.Item // sidecar included; nil: there is none
	read  *outbox.Read
	began time.Time // of the read, server-corrected
	epoch uint64    // how many restores were known then
}

// verdicts on an image.
type adopted uint8

const (
	adoptSame    adopted = iota // it is the base already
	adoptTaken                  // it is the base now
	adoptWaits                  // a transaction that is made sure of is to find things as they are
	adoptStale                  // the base was set since the read began, or a table found restored: the item is to be read again
	adoptKept                   // it is absent from a table that has lost writes: it stays as it is here
	adoptRefused                // no item of that table
	adoptProves                 // it proves a transaction, whose other items have to be read with it
)

// adoption is what became of some images.
type adoption struct {
	taken   int
	again   []image // to be read again
	refused int
	kept    int
	proves  map[outbox.ID]bool // transactions that are proved, and were left
}

// adopt makes images of the cloud the bases of their items, in one transaction with more (nil: nothing), and what readers
// see follows. An image that nobody can use is left out and counted: a row that somebody has spoiled is no reason to stop.
func (r *Replica) adopt(ctx context.Context, images []image, more func(tx *store.Tx) error) (adoption, error) {
	var out adoption
	var done *outbox.Work
	fresh, err := r.unlike(ctx, images)
	if err != nil || len(fresh) == 0 && more == nil {
		return out, err
	}
	err = r.store.Update(ctx, func(tx *store.Tx) error {
		out = adoption{}
		w := r.box.Begin(tx)
		for i := range fresh {
			v, err := r.adoptOne(w, &fresh[i], &out, false)
			if err != nil {
				return err
			}
			out.count(v, &fresh[i])
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
	r.adoptedWork(done, &out)
	return out, nil
}

// adoptedWork moves the memory behind the commit.
func (r *Replica) adoptedWork(w *outbox.Work, out *adoption) {
	r.moved(w)
	if n := out.refused + len(w.Bad); n > 0 {
		r.feeds.countRefused(n)
		r.log.Warn("feed: rows of the cloud that are not valid items of their tables were skipped", "rows", n, "why", w.Bad)
	}
}

func (a *adoption) count(v adopted, im *image) {
	switch v {
	case adoptTaken:
		a.taken++
	case adoptStale:
		a.again = append(a.again, *im)
	case adoptRefused:
		a.refused++
	case adoptKept:
		a.kept++
	case adoptSame, adoptProves, adoptWaits:
	}
}

// unlike leaves out the images that are the bases already, so that nothing is written for what nobody has changed.
func (r *Replica) unlike(ctx context.Context, images []image) (out []image, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		out = out[:0]
		for i := range images {
			im := &images[i]
			spec := r.spec(im.table)
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

// sameBase reports whether an image is the base that a shadow (nil: none) has.
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

// adoptOne takes one image. together tells that all items of the transactions which it may prove are adopted in the same
// work.
func (r *Replica) adoptOne(w *outbox.Work, im *image, out *adoption, together bool) (adopted, error) {
	it, err := w.Load(im.table, im.key)
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
		return adoptRefused, nil
	case err != nil:
		return 0, err
	case im.epoch != r.identity.restores.epoch.Load(): // it may be of a table that is no more, and proves nothing of the one that is
		return adoptStale, nil
	case sameBase(it.Remote, im.item):
		return adoptSame, nil
	case im.read.Overtaken(it.ID()):
		return adoptStale, nil
	case im.item == nil && r.keepsAbsent(im.table, it.Remote.Set):
		return adoptKept, nil
	}
	known := intent.Known{}
	known.Item, known.Side = intent.Split(im.item)
	units, err := w.Pending(it)
	if err != nil {
		return 0, err
	}
	proved, v := r.provedBy(units, it, known.Side, out, together)
	if v != adoptTaken {
		return v, nil
	}
	r.watchMark(known.Side)
	before := it.Remote.Known
	w.Base(it, known, im.began)
	for _, u := range proved {
		if err := r.settleShown(w, u); err != nil {
			return 0, err
		}
	}
	rest, err := w.Entries(it)
	if err != nil {
		return 0, err
	}
	for _, e := range intent.Rebase(before, known, rest, w.Env) {
		w.Changed(e)
	}
	return adoptTaken, nil
}

// provedBy returns the batches of an item, in their order, that an image of it proves. Of transactions it gives none: they
// are settled by who has all of their items, which together tells.
func (r *Replica) provedBy(units []*outbox.Batch, it *outbox.WorkItem, side intent.Sidecar, out *adoption, together bool) (proved []*outbox.Batch, v adopted) {
	i := slices.IndexFunc(units, func(u *outbox.Batch) bool { return u.ShownBy(it, side, r.store.Node()) })
	if i < 0 {
		return nil, adoptTaken
	}
	u := units[i]
	if u.ProvesEarlier() {
		proved = slices.DeleteFunc(slices.Clone(units[:i]), func(u *outbox.Batch) bool { return !u.Entries[0].MakesSure() })
		if slices.ContainsFunc(proved, func(u *outbox.Batch) bool { return len(u.Entries) > 1 }) {
			return nil, adoptWaits // it looks at all of its items itself, and is to find this mark waiting there
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

// settleShown settles a batch that an image has proved.
func (r *Replica) settleShown(w *outbox.Work, u *outbox.Batch) error {
	_, err := r.leave(w, &flight{Batch: u, outcome: intent.Outcome{Result: intent.OutApplied}})
	return err
}

// watchMark looks at our own mark on an image: one above all that this node has written is another copy's.
func (r *Replica) watchMark(side intent.Sidecar) {
	mark, ok := side.Marks[r.store.Node()]
	if !ok {
		return
	}
	if seq, ok := markSeq(mark); ok && seq > r.store.Seq() {
		r.suspectCopy("a mark above all sequences of this node")
	}
}

// markSeq is the sequence of a mark: what stands before the point.
func markSeq(mark attr.Value) (uint64, bool) {
	if mark.Kind() != attr.KindN {
		return 0, false
	}
	whole, _, _ := strings.Cut(mark.Str(), ".")
	seq, err := strconv.ParseUint(whole, 10, 64)
	return seq, err == nil
}

// adoptUnit reads all items of a transaction and adopts them together: one of them has shown that it was applied, and
// readers see all of it or none.
func (r *Replica) adoptUnit(ctx context.Context, id outbox.ID) error {
	keys, err := r.refsOf(ctx, id)
	if err != nil || len(keys) == 0 {
		return err
	}
	images := make([]image, 0, len(keys))
	for _, k := range keys {
		im, err := r.readImage(ctx, k.Table, k.Key)
		if err != nil {
			endReads(images)
			return err
		}
		images = append(images, im)
	}
	defer endReads(images)
	var out adoption
	var done *outbox.Work
	err = r.store.Update(ctx, func(tx *store.Tx) (err error) {
		out, done = adoption{}, nil
		w := r.box.Begin(tx)
		u, err := w.Batch(id)
		if err != nil || u == nil {
			return err
		}
		shown, err := r.adoptAll(w, u, images, &out)
		if err == nil && !shown {
			err = errNotShown
		}
		if err != nil {
			return err
		}
		if err := r.settleShown(w, u); err != nil {
			return err
		}
		done = w
		return w.Finish()
	})
	if err == nil && done != nil {
		r.adoptedWork(done, &out)
	}
	if errors.Is(err, errNotShown) {
		return nil
	}
	return err
}

// refsOf returns the items that a batch writes; none, if it has left.
func (r *Replica) refsOf(ctx context.Context, id outbox.ID) (keys []intent.Ref, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
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

// errNotShown undoes what was adopted of a batch of which not all can be.
var errNotShown = errors.New("the images do not show the transaction")

// adoptAll adopts the images of a batch's items. It reports whether they prove it and all of them could be taken: else
// nothing is to be kept of it, and the batch goes on as it was. One that is made sure of in a restored table is proved by all
// of its items alone: what one has kept another may have lost.
func (r *Replica) adoptAll(w *outbox.Work, u *outbox.Batch, images []image, out *adoption) (shown bool, err error) {
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
	if !shown || !whole && (u.Entries[0].MakesSure() || r.owes(u)) {
		return false, nil
	}
	for i := range images {
		v, err := r.adoptOne(w, &images[i], out, true)
		if err != nil || v != adoptTaken && v != adoptSame {
			return false, err
		}
	}
	return true, nil
}

func sortedUnits(ids map[outbox.ID]bool) []outbox.ID {
	return slices.SortedFunc(maps.Keys(ids), func(a, b outbox.ID) int { return cmp.Compare(a.Seq, b.Seq) })
}

// isLater reports whether the image behind an applied entry is later than a base that was set while the answer was on its
// way: what is read may be older than a send that is answered, and its effect must not be lost to readers with the entry. It is
// told by the life and the count of our sends; the item is read again in any case.
func isLater(e *intent.Entry, after intent.Known, sh *outbox.Remote, exprs *expr.Cache) bool {
	before := sh.Known
	switch {
	case after.Item == nil: // it was deleted: unless it has another life by now
		return before.Item == nil || before.Side.Life == e.Life.ID || before.Side.Life == e.Label
	case before.Item == nil: // it was created, or deleted since
		return sh.Gone.Life == "" || sh.Gone.Life != after.Side.Life
	case before.Side.Life == after.Side.Life:
		return after.Side.Count > before.Side.Count
	}
	// Our first send to a foreign item has labelled it; and whoever reads an item that the entry has made has seen that already,
	// and has not seen the life of before.
	return before.Side.Life == "" || e.MakesOver(before.Item, exprs)
}
