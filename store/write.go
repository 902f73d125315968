package store

import (
	"errors"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// opCheck is a condition alone, which only a TransactWrite has; it is in no record.
const opCheck Op = 0

// write is one action on its way through the steps that all of them take: check, bind, find, aim, fit, judge, apply. Put, Update and
// Delete take one action through all steps; TransactWrite and BatchWrite take all of theirs through a step before the
// next one, so that nothing is changed until nothing can be refused any more.
type write struct {
	op      Op
	name    string    // of the table
	subject attr.Item // the item of a put, the key of the others
	request Request
	sending Sending

	bound expr.Bound
	table *table
	key   []byte
	size  int // of the item of a put
}

// bind reads the expressions.
func (w *write) bind(tx *Tx) (err error) {
	w.bound, err = tx.s.exprs.Bind(expr.Request{
		Update: w.request.Update, Condition: w.request.Condition, Params: w.request.Params, Work: tx.work,
	})
	return err
}

// aim finds the key of the item in the table.
func (w *write) aim() (err error) {
	if w.op == OpPut {
		w.key, err = w.table.itemKey(w.subject)
	} else {
		w.key, err = w.table.requestKey(w.subject)
	}
	return err
}

// sendable refuses expressions that are longer than any that may be sent, of a table that the cloud has too.
func (w *write) sendable(tx *Tx) error {
	if !w.request.Params.Long || tx.replicator == nil || !w.table.spec.Sends() {
		return nil
	}
	r := expr.Request{Update: w.request.Update, Condition: w.request.Condition, Params: w.request.Params}
	r.Long = false
	_, err := expr.Bind(r)
	return err
}

// fit refuses what the table could take in no state; what no table could take, checkBare has refused before.
func (w *write) fit() (err error) {
	switch w.op {
	case OpPut:
		err = w.table.checkIndexKeys(w.subject)
	case OpUpdate:
		err = w.table.checkUpdate(w.bound.Update)
	}
	if err != nil {
		return err
	}
	return w.table.checkPaths(append(w.bound.Update.Nested(), w.bound.Condition.Nested()...))
}

// checkBare refuses an item that no table can hold. What an update makes of an item is checked when that is known.
func (w *write) checkBare() (err error) {
	if w.op != OpPut {
		return nil
	}
	if w.size, err = attr.Measure(w.subject); err == nil && w.size > attr.MaxItemSize {
		err = attr.TooLarge()
	}
	return err
}

// prepare takes an action through all steps up to the one that changes something: what is wrong with the request alone
// is refused before the table is looked for.
func (tx *Tx) prepare(w *write, wantOld bool) (c change, images Images, err error) {
	call := tx.recall()
	switch stands, err := tx.stands(call); {
	case err != nil:
		return change{}, Images{}, err
	case stands:
		*w = call.writes[0]
		return call.changes[0], call.images, nil
	}
	if c, images, err = tx.prepareNow(w, wantOld); err != nil {
		tx.note(judged{refused: true})
		return c, images, err
	}
	tx.note(judged{writes: []write{*w}, changes: []change{c}, images: images})
	return c, images, nil
}

func (tx *Tx) prepareNow(w *write, wantOld bool) (change, Images, error) {
	for _, step := range [...]func() error{
		w.checkBare, func() error { return w.bind(tx) }, func() error { return w.find(tx) },
		func() error { return w.sendable(tx) }, w.aim, w.fit,
	} {
		if err := step(); err != nil {
			return change{}, Images{}, err
		}
	}
	return tx.judge(w, wantOld)
}

// find looks the table up.
func (w *write) find(tx *Tx) (err error) {
	w.table, err = tx.table(w.name)
	return err
}

// judge looks at the item: does the condition hold, and what does the action make of it? The old image is decoded if it
// is wanted or needed.
func (tx *Tx) judge(w *write, wantOld bool) (change, Images, error) {
	was, old, err := tx.condition(w.table, w.key, w.bound.Condition, wantOld || w.op == OpUpdate)
	if err != nil {
		return change{}, Images{}, err
	}
	c := change{table: w.table, key: w.key, old: was, op: w.op, request: w.request}
	images := Images{Old: old, OldSize: was.bytes()}
	switch w.op {
	case OpPut:
		if err := tx.work.Spend(w.size); err != nil {
			return change{}, Images{}, err
		}
		c.now, images.NewSize = newRow(w.subject, w.size, was), w.size
	case OpUpdate:
		if images.New, err = updated(old, w.subject, w.bound.Update, tx.work); err != nil {
			return change{}, Images{}, err
		}
		if images.New == nil {
			break
		}
		size, err := w.table.checkUpdated(images.New)
		if err != nil {
			return change{}, Images{}, err
		}
		if err := tx.spendOn(images.New, size); err != nil {
			return change{}, Images{}, err
		}
		images.update, images.NewSize = w.bound.Update, size
		c.now = newRow(images.New, size, was)
	}
	return c, images, nil
}

// performOne has the replicator told of a change, and applies it.
func (tx *Tx) performOne(w *write, c change) error {
	if tx.ahead != nil {
		return nil
	}
	if tx.replicator == nil || !c.table.sends {
		return tx.perform(c)
	}
	told, err := tx.compile([]write{*w}, []change{c}, false)
	if err != nil {
		return err
	}
	return tx.isTold(told, tx.perform(c))
}

// isTold is the error of applying changes. Where the replicator has noted them it means that the transaction cannot be
// committed: what is not there would be sent.
func (tx *Tx) isTold(told bool, err error) error {
	if err != nil && told {
		return tx.breakOff(err)
	}
	return err
}

// perform applies a change if it is one: a condition alone is none, nor is a delete or an update that finds no item and
// leaves none.
func (tx *Tx) perform(c change) error {
	if err := tx.touchWrite(&c); err != nil {
		return err
	}
	if !c.changes() {
		return nil
	}
	return tx.apply(c)
}

func (tx *Tx) performAll(changes []change) error {
	for i := range changes {
		failpoint.Hit(failpoint.TransactStep)
		if err := tx.perform(changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkIndexKeys refuses an item whose attributes cannot be keys of the table's indexes.
func (t *table) checkIndexKeys(it attr.Item) error {
	for _, ix := range t.indexes {
		if err := ix.checkItem(it); err != nil {
			return err
		}
	}
	return nil
}

// condition fetches the row of a key, and the item in it if that is wanted. It refuses to go on if the condition does not
// hold of the item.
func (tx *Tx) condition(t *table, key []byte, c *expr.Condition, decode bool) (was row, old attr.Item, err error) {
	was, err = tx.row(t, key)
	if err != nil {
		return nil, nil, err
	}
	holds := true
	if c != nil {
		holds, err = c.MatchWithin(was.doc(), tx.work)
	}
	if err == nil && (decode || !holds) {
		old, err = was.decode()
	}
	if err == nil && old != nil {
		err = tx.spendOn(old, len(was))
	}
	switch {
	case err != nil && (fault.Is(err, fault.Invalid) || tx.work.Err() != nil):
		return nil, nil, err
	case err != nil:
		return nil, nil, damaged(err, "an item cannot be decoded")
	case !holds:
		tx.saw(t, key)
		return nil, nil, &ConditionFailedError{Table: t.spec.Name, Old: old}
	}
	return was, old, nil
}

// emptyKeyError is a key attribute, of the table or of an index, with an empty value. It is told from what else is wrong
// with keys because DynamoDB refuses the whole of a transaction for it, and cancels the transaction for the rest.
type emptyKeyError struct {
	error
	what string // "string" or "binary"
}

// Unwrap returns the fault.
func (e *emptyKeyError) Unwrap() error { return e.error }

func errEmptyKey(v attr.Value, format string, args ...any) error {
	return &emptyKeyError{error: invalid(format, args...), what: emptyName(v)}
}

func isEmptyKey(err error) bool {
	_, ok := errors.AsType[*emptyKeyError](err)
	return ok
}
