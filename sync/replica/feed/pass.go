package feed

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// sideCheckpoint holds the positions of passes that were unfinished when their round ended, by pass.key.
const sideCheckpoint = "checkpoint"

// pass is one complete read of a table or partition.
type pass struct {
	table     string
	spec      *store.TableSpec
	partition attr.Value // absent: the whole table
	key       string     // the table, 0 and the raw partition; the ids of its items begin with it

	number uint64              // counts passes in the order in which they began; 0: an earlier run began it
	began  time.Time           // server-corrected
	seen   map[string]struct{} // ids of items; nil: an earlier run began the pass, so it cannot tell what is absent
	after  attr.Item
	kept   bool // its position is in the store
	alone  bool // a single read that is not continued
}

func newPass(spec *store.TableSpec, partition attr.Value, raw []byte) *pass {
	return &pass{table: spec.Name, spec: spec, partition: partition, key: spec.Name + "\x00" + string(raw)}
}

// checkpoint is the stored position of a pass.
type checkpoint struct {
	After attr.Item `json:"after"`
	Began time.Time `json:"began"`
}

// continuePass continues from the pass's position for at most budget pages, and at the end removes what is gone. n is the number of items
// read.
func (f *Feed) continuePass(ctx context.Context, p *pass, budget *int) (n int, err error) {
	if p.alone {
		p.number, p.began, p.seen = f.beginPass(), f.serverNow(), map[string]struct{}{}
	} else if p, err = f.resume(ctx, p); err != nil {
		return 0, err
	}
	for *budget > 0 {
		*budget--
		read, last, err := f.page(ctx, p)
		n += read
		if err != nil {
			return n, err
		}
		if last {
			f.heldNow(p.key)
			return n, f.endAt(ctx, p)
		}
	}
	return n, nil
}

// resume continues an unfinished pass, of this run, which remembers what it has seen, or of an earlier one.
func (f *Feed) resume(ctx context.Context, p *pass) (*pass, error) {
	if q := f.unfinished[p.key]; q != nil {
		return q, nil
	}
	p.number, p.began, p.seen = f.beginPass(), f.serverNow(), map[string]struct{}{}
	var at checkpoint
	err := f.Store.View(ctx, func(tx *store.Tx) error {
		data, err := tx.Side(sideCheckpoint).Get([]byte(p.key))
		if err != nil || data == nil {
			return err
		}
		p.kept = true
		if err := json.Unmarshal(data, &at); err != nil {
			at = checkpoint{} // start over
		}
		return nil
	})
	if err == nil && at.After != nil {
		p.after, p.number, p.began, p.seen = at.After, 0, at.Began, nil
	}
	return p, err
}

// page reads one page and adopts it together with the position after it.
func (f *Feed) page(ctx context.Context, p *pass) (n int, last bool, err error) {
	read := f.Box.Reads.Start()
	defer read.End()
	began, epoch := f.serverNow(), f.Tables.Epoch()
	page, err := f.readPage(ctx, p)
	if err != nil {
		if remote.ClassOf(err) == intent.Validation && p.after != nil && !p.alone { // a position that the table no longer has
			p.after, p.kept = nil, false
			delete(f.unfinished, p.key)
			return 0, false, errors.Join(err, f.Store.Update(ctx, p.storePosition))
		}
		return 0, false, err
	}
	images := make([]image, 0, len(page.Items))
	for _, it := range page.Items {
		key, ok := keyFrom(p.spec, it)
		if ok {
			images = append(images, image{table: p.table, key: key, item: it, read: read, began: began, epoch: epoch})
		}
	}
	if err := f.rememberSeen(ctx, p, images); err != nil {
		return 0, false, err
	}
	before := p.after
	p.after = page.LastKey
	last = len(page.LastKey) == 0
	var more func(*store.Tx) error
	if !p.alone && (!last || p.kept) {
		more = p.storePosition
	}
	f.Failpoint("feed-page")
	out, err := f.adopt(ctx, images, more)
	if err != nil {
		p.after = before
		return 0, false, err
	}
	f.stands(p, last)
	return len(page.Items), last, f.follow(ctx, &out, true)
}

// stands records the position of a pass; an unfinished one will be continued.
func (f *Feed) stands(p *pass, last bool) {
	if p.alone {
		return
	}
	p.kept = !last
	if last {
		delete(f.unfinished, p.key)
		return
	}
	if f.unfinished == nil {
		f.unfinished = map[string]*pass{}
	}
	f.unfinished[p.key] = p
}

func (f *Feed) readPage(ctx context.Context, p *pass) (remote.Page, error) {
	if err := f.Tables.Readable(p.table); err != nil {
		return remote.Page{}, err
	}
	q := remote.Reading{Table: p.table, After: p.after, Limit: f.Page, Consistent: true}
	if !p.partition.IsZero() {
		q.KeyCondition, q.Params = partitionOf(p.spec, p.partition)
	}
	ctx, cancel := context.WithTimeout(ctx, f.Deadline)
	defer cancel()
	page, err := f.Cloud.Read(ctx, q)
	if !p.partition.IsZero() && (err == nil || p.alone) { // a rule has a state of its own
		f.readEnded(ctx, readAction{p.table, actionQuery}, err)
	}
	return page, err
}

// partitionOf returns the condition of a Query for a partition.
func partitionOf(spec *store.TableSpec, partition attr.Value) (string, expr.Params) {
	return "#p = :p", expr.Params{
		Names: map[string]string{"#p": spec.Key.Partition.Name}, Values: attr.Item{":p": partition},
	}
}

// rememberSeen remembers what the pass has seen.
func (f *Feed) rememberSeen(ctx context.Context, p *pass, images []image) error {
	if p.seen == nil || len(images) == 0 {
		return nil
	}
	return f.Store.View(ctx, func(tx *store.Tx) error {
		for i := range images {
			it, err := outbox.ItemOf(tx, p.spec, images[i].key)
			if err == nil {
				p.seen[it.ID()] = struct{}{}
			}
		}
		return nil
	})
}

// storePosition stores the position; a finished pass has none.
func (p *pass) storePosition(tx *store.Tx) error {
	if len(p.after) == 0 {
		return tx.Side(sideCheckpoint).Delete([]byte(p.key))
	}
	data, err := json.Marshal(checkpoint{After: p.after, Began: p.began})
	if err != nil {
		return err
	}
	return tx.Side(sideCheckpoint).Set([]byte(p.key), data)
}

func isKind(v attr.Value, k store.KeyAttr) bool { return v.Kind().String() == string(rune(k.Type)) }

// keyFrom extracts the key of an item; false: not a valid key of the table.
func keyFrom(spec *store.TableSpec, it attr.Item) (attr.Item, bool) {
	key := attr.Item{}
	for _, k := range []store.KeyAttr{spec.Key.Partition, spec.Key.Sort} {
		if k.Name == "" {
			continue
		}
		v := it[k.Name]
		if !isKind(v, k) {
			return nil, false
		}
		key[k.Name] = v
	}
	return key, true
}

// absentMost bounds the items looked up at the end of one pass.
const absentMost = 200

// endAt ends a pass that has read the last page.
func (f *Feed) endAt(ctx context.Context, p *pass) error {
	all, err := f.absent(ctx, p)
	if err == nil && all {
		f.endPass(p)
	}
	return err
}

// absent removes what a complete pass has not seen: bases older than the pass with nothing waiting to be sent, each after a
// consistent read of its own. all reports whether it removed everything that is gone.
func (f *Feed) absent(ctx context.Context, p *pass) (all bool, err error) {
	if p.seen == nil {
		return false, nil // the next pass starts from the beginning
	}
	keys, err := f.unseen(ctx, p)
	if err != nil {
		return false, err
	}
	for _, key := range keys[:min(len(keys), absentMost)] { // the others in the next pass
		if err := f.refreshAbsent(ctx, p.table, key); err != nil {
			return false, err
		}
	}
	return len(keys) <= absentMost, nil
}

// absentee is an item that a pass has not seen.
type absentee struct {
	raw     []byte // its key
	pending []outbox.Place
}

// unseen lists the items in the pass's range that the cloud had and the pass has not seen.
func (f *Feed) unseen(ctx context.Context, p *pass) (keys []attr.Item, err error) {
	err = f.Store.View(ctx, func(tx *store.Tx) error {
		var found []absentee
		err := tx.Side(outbox.SideRemote).Each([]byte(p.key), nil, func(k, v []byte) (bool, error) {
			sh, _, err := outbox.DecodeRemote(v)
			if err != nil || sh.Known.Item == nil {
				return true, nil //nolint:nilerr // what cannot be read is told by who needs it
			}
			if _, ok := p.seen[string(k)]; !ok && sh.Set.Before(p.began) {
				found = append(found, absentee{raw: append([]byte(nil), k[len(p.table)+1:]...), pending: sh.Pending})
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		keys, err = settledKeys(tx, p.table, found)
		return err
	})
	return keys, err
}

// settledKeys returns the keys of the absent items on which nothing waits to be sent.
func settledKeys(tx *store.Tx, table string, found []absentee) (keys []attr.Item, err error) {
	for _, a := range found {
		key, err := tx.KeyOf(table, a.raw)
		if fault.Is(err, fault.Invalid) {
			continue
		}
		if err != nil {
			return nil, err
		}
		waits, err := sends(tx, table, key, a.pending)
		if err != nil {
			return nil, err
		}
		if !waits {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// sends reports whether a change of an item will be sent, which will find out by itself that the item is gone. Quarantined batches
// wait for a person and find out nothing. A transaction's condition on the item does not change it, and may wait for as
// long as another table is unavailable.
func sends(tx *store.Tx, table string, key attr.Item, pending []outbox.Place) (bool, error) {
	for _, p := range pending {
		u, err := outbox.Get(tx, p.ID)
		if err != nil {
			return false, err
		}
		if u != nil && !u.IsHeld() && u.Writes(table, key) {
			return true, nil
		}
	}
	return false, nil
}

// refreshAbsent reads an item that seems to be gone, then checks that the table is still the same one: a recreated or restored table
// has lost the item, and nobody has deleted it.
func (f *Feed) refreshAbsent(ctx context.Context, table string, key attr.Item) error {
	im, err := f.readImage(ctx, table, key)
	if err != nil {
		return err
	}
	defer im.read.End()
	if im.item == nil {
		if err := f.Tables.Check(ctx, table); err != nil {
			return err
		}
	}
	out, err := f.adopt(ctx, []image{im}, nil)
	if err != nil {
		return err
	}
	return f.follow(ctx, &out, true)
}
