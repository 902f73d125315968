package store

import (
	"cmp"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// opCheck is a condition alone, which only a TransactWrite has. It never appears in a record.
const opCheck Op = 0

// write is one action on its way through the steps: check, bind, find, aim, fit, judge, apply. Put, Update and Delete take one action
// through all steps. TransactWrite and BatchWrite take all of their actions through each step before the next, so nothing is changed
// until nothing can be refused any more.
type write struct {
	op      Op
	name    string       // of the table
	subject attr.Item    // the item of a put, the key of the others
	encoded attr.Encoded // the item of a put in its binary form, if given so; then aim sets subject to the key attributes
	request Request
	sending Sending

	bound expr.Bound
	table *catalogue.Table
	key   []byte
	size  int // of the item of a put
}

// bind parses and binds the expressions.
func (w *write) bind(tx *Tx) (err error) {
	w.bound, err = tx.s.exprs.Bind(expr.Request{
		Update: w.request.Update, Condition: w.request.Condition, Params: w.request.Params, Work: tx.work,
	})
	return err
}

// aim computes the key of the item in the table.
func (w *write) aim() (err error) {
	if w.encoded != nil {
		if w.subject, err = w.table.KeyParts(w.encoded); err != nil {
			return err
		}
	}
	if w.op == OpPut {
		w.key, err = w.table.ItemKey(w.subject)
	} else {
		w.key, err = w.table.RequestKey(w.subject)
	}
	return err
}

// sendable refuses expressions too long for the cloud, if the table sends its writes.
func (w *write) sendable(tx *Tx) error {
	if !w.request.Params.Long || tx.replicator == nil || !w.table.Spec.Sends() {
		return nil
	}
	r := expr.Request{Update: w.request.Update, Condition: w.request.Condition, Params: w.request.Params}
	r.Long = false
	_, err := expr.Bind(r)
	return err
}

// fit refuses what the table can never accept, whatever items it has. checkBare has already refused what no table can accept.
func (w *write) fit() (err error) {
	switch w.op {
	case OpPut:
		err = w.table.CheckIndexKeys(w.subject)
	case OpUpdate:
		err = w.table.CheckUpdate(w.bound.Update)
	}
	if err != nil {
		return err
	}
	return w.table.CheckPaths(append(w.bound.Update.NestedNames(), w.bound.Condition.NestedNames()...))
}

// checkBare refuses an item that no table can hold. The result of an update is checked once it is known.
func (w *write) checkBare() (err error) {
	if w.op != OpPut {
		return nil
	}
	if w.encoded != nil {
		w.size, err = w.encoded.Measure()
	} else {
		w.size, err = attr.Measure(w.subject)
	}
	if err == nil && w.size > attr.MaxItemSize {
		err = attr.TooLarge()
	}
	return err
}

// row builds the row for the item of a put.
func (w *write) row(was format.Row) format.Row {
	if w.encoded != nil {
		return format.NewEncodedRow(w.encoded, w.size)
	}
	return format.NewRow(w.subject, w.size, was)
}

// write takes one action through all its steps and returns the images. With wantOld they include the old one, and so the item counts as
// read (see saw); without, the old one may be missing.
func (tx *Tx) write(w write, wantOld bool) (Images, error) {
	if err := tx.enterWrite(); err != nil {
		return Images{}, err
	}
	defer tx.core.EndCall()
	c, images, err := tx.prepare(&w, wantOld)
	if err != nil {
		return Images{}, err
	}
	if err := tx.performOne(&w, c); err != nil {
		return images, err
	}
	if wantOld {
		tx.markSeen(c.Table, c.Key)
	}
	return images, nil
}

// prepare takes an action through all steps before the first change. Faults of the request alone are refused before the table is looked
// up.
func (tx *Tx) prepare(w *write, wantOld bool) (c txn.Change, images Images, err error) {
	call := tx.recall()
	switch stands, err := tx.stands(call); {
	case err != nil:
		return txn.Change{}, Images{}, err
	case stands:
		*w = call.writes[0]
		return call.changes[0], call.images, nil
	}
	if c, images, err = tx.prepareNow(w, wantOld); err != nil {
		tx.recordJudged(judged{refused: true})
		return c, images, err
	}
	tx.recordJudged(judged{writes: []write{*w}, changes: []txn.Change{c}, images: images})
	return c, images, nil
}

func (tx *Tx) prepareNow(w *write, wantOld bool) (txn.Change, Images, error) {
	for _, step := range [...]func() error{
		w.checkBare, func() error { return w.bind(tx) }, func() error { return w.find(tx) },
		func() error { return w.sendable(tx) }, w.aim, w.fit,
	} {
		if err := step(); err != nil {
			return txn.Change{}, Images{}, err
		}
	}
	return tx.computeChange(w, wantOld)
}

// find looks up the table.
func (w *write) find(tx *Tx) (err error) {
	w.table, err = tx.table(w.name)
	return err
}

// computeChange reads the item, checks the condition, and computes the change. It decodes the old image only if that is wanted or needed.
func (tx *Tx) computeChange(w *write, wantOld bool) (txn.Change, Images, error) {
	was, old, err := tx.condition(w.table, w.key, w.bound.Condition, wantOld || w.op == OpUpdate)
	if err != nil {
		return txn.Change{}, Images{}, err
	}
	c := txn.Change{Table: w.table, Key: w.key, Old: was, Op: w.op, Request: w.request}
	images := Images{Old: old, OldSize: was.Bytes()}
	switch w.op {
	case OpPut:
		if err := tx.work.Spend(w.size); err != nil {
			return txn.Change{}, Images{}, err
		}
		c.Now, images.NewSize = w.row(was), w.size
	case OpUpdate:
		if images.New, err = updatedItem(old, w.subject, w.bound.Update, tx.work); err != nil {
			return txn.Change{}, Images{}, err
		}
		if images.New == nil {
			break
		}
		size, err := w.table.CheckUpdated(images.New)
		if err != nil {
			return txn.Change{}, Images{}, err
		}
		if err := tx.spendOn(images.New, size); err != nil {
			return txn.Change{}, Images{}, err
		}
		images.update, images.NewSize = w.bound.Update, size
		c.Now = format.NewRow(images.New, size, was)
	}
	return c, images, nil
}

// performOne passes a change to the replicator and applies it.
func (tx *Tx) performOne(w *write, c txn.Change) error {
	if tx.ahead != nil {
		return nil
	}
	if tx.replicator == nil || !c.Table.Sends {
		return tx.perform(c)
	}
	noted, err := tx.compile([]write{*w}, []txn.Change{c}, false)
	if err != nil {
		return err
	}
	return tx.breakIfNoted(noted, tx.perform(c))
}

// breakIfNoted handles the error of applying changes. If the replicator has noted them, the transaction must not be committed: changes
// that were never made would be sent.
func (tx *Tx) breakIfNoted(noted bool, err error) error {
	if err != nil && noted {
		return tx.core.BreakOff(err)
	}
	return err
}

// perform applies a change if there is one. A condition check is none, and neither is a delete or update that finds no item and creates
// none.
func (tx *Tx) perform(c txn.Change) error {
	if err := tx.touchWrite(&c); err != nil {
		return err
	}
	if !c.Changes() {
		return nil
	}
	return tx.core.Apply(c)
}

func (tx *Tx) performAll(changes []txn.Change) error {
	for i := range changes {
		failpoint.Hit(failpoint.TransactStep)
		if err := tx.perform(changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// condition fetches the row of a key, and decodes the item if wanted. It returns a ConditionFailedError if the condition does not hold.
func (tx *Tx) condition(t *catalogue.Table, key []byte, c *expr.Condition, decode bool) (was format.Row, old attr.Item, err error) {
	if c != nil || decode {
		err = tx.noteJudged(t, key)
	}
	if err == nil {
		was, err = tx.core.Row(t, key)
	}
	if err != nil {
		return nil, nil, err
	}
	holds := true
	if c != nil {
		holds, err = c.MatchWithin(was.Doc(), tx.work)
	}
	if err == nil && (decode || !holds) {
		old, err = was.Decode()
	}
	if err == nil && old != nil {
		err = tx.spendOn(old, len(was))
	}
	switch {
	case err != nil && (fault.Is(err, fault.Invalid) || tx.work.Err() != nil):
		return nil, nil, err
	case err != nil:
		return nil, nil, refusal.DamagedData(err, "an item cannot be decoded")
	case !holds:
		tx.markSeen(t, key)
		return nil, nil, cmp.Or(tx.noteMissing(t, key, was), error(&ConditionFailedError{Table: t.Spec.Name, Old: old}))
	}
	return was, old, nil
}

// ConditionFailedError reports that the item did not satisfy the condition of a write. That write changed nothing; the transaction may
// continue. fault.KindOf returns Conflict.
type ConditionFailedError struct {
	Table string
	Old   attr.Item // the item as it was, expired or not; nil if there was none
}

// Error returns DynamoDB's text.
func (e *ConditionFailedError) Error() string { return "The conditional request failed" }

// Unwrap returns the fault that the edges map.
func (e *ConditionFailedError) Unwrap() error {
	return fault.New(fault.Conflict, "condition_failed", "%s", e.Error())
}
