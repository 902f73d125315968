package catalogue

import (
	"errors"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// HasKey reports whether an item has all key attributes of the table, with the right types.
func (t *Table) HasKey(it attr.Item) bool {
	for _, a := range t.Key.Attrs {
		if it[a.Name].Kind() != a.Kind {
			return false
		}
	}
	return true
}

// KeyParts returns the attributes of an item that the keys of the table and its indexes consist of.
func (t *Table) KeyParts(e attr.Encoded) (attr.Item, error) {
	parts := attr.Item{}
	take := func(attrs []expr.KeyAttr) error {
		for _, a := range attrs {
			v, ok, err := e.Get(a.Name)
			if err != nil {
				return err
			}
			if ok {
				parts[a.Name] = v
			}
		}
		return nil
	}
	err := take(t.Key.Attrs)
	for _, ix := range t.Indexes {
		if err == nil {
			err = take(ix.Key.Attrs)
		}
	}
	return parts, err
}

// CheckUpdate refuses an update of a key attribute, even to its present value.
func (t *Table) CheckUpdate(u *expr.Update) error {
	if u == nil {
		return nil
	}
	for _, name := range u.Attributes() {
		if t.Key.Has(name) {
			return refusal.Invalid("One or more parameter values were invalid: "+
				"Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	return nil
}

// CheckUpdated refuses an invalid result of an update, with DynamoDB's messages for updates, and returns the item's size.
func (t *Table) CheckUpdated(it attr.Item) (size int, err error) {
	size, err = attr.Measure(it)
	if err == nil && size > attr.MaxItemSize {
		err = refusal.Invalid("Item size to update has exceeded the maximum allowed size")
	}
	if err != nil {
		return 0, err
	}
	err = t.CheckIndexKeys(it)
	if empty, ok := errors.AsType[*emptyKeyError](err); ok {
		empty.error = refusal.Invalid("One or more parameter values are not valid. The update expression attempted to update a "+
			"secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain "+
			"an empty %s value.", empty.what)
	}
	return size, err
}

// CheckIndexKeys refuses an item whose attributes cannot be keys of the table's indexes.
func (t *Table) CheckIndexKeys(it attr.Item) error {
	for _, ix := range t.Indexes {
		if err := ix.checkItem(it); err != nil {
			return err
		}
	}
	return nil
}

// emptyKeyError refuses an empty value of a key attribute of the table or an index. It has a type of its own because DynamoDB rejects a
// transaction for it, while other faults of keys cancel the transaction.
type emptyKeyError struct {
	error
	what string // "string" or "binary"
}

// Unwrap returns the fault.
func (e *emptyKeyError) Unwrap() error { return e.error }

func errEmptyKey(v attr.Value, format string, args ...any) error {
	return &emptyKeyError{error: refusal.Invalid(format, args...), what: emptyName(v)}
}

// IsEmptyKey reports whether an error is about an empty value of a key attribute.
func IsEmptyKey(err error) bool {
	_, ok := errors.AsType[*emptyKeyError](err)
	return ok
}
