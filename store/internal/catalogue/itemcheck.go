package catalogue

import (
	"errors"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/refusal"
)

// HasKey reports whether an item has the key attributes of the table in their types.
func (t *Table) HasKey(it attr.Item) bool {
	for _, a := range t.Key.Attrs {
		if it[a.Name].Kind() != a.Type.Kind() {
			return false
		}
	}
	return true
}

// KeyParts returns the attributes of an item that keys of the table and its indexes are made of.
func (t *Table) KeyParts(e attr.Encoded) (attr.Item, error) {
	parts := attr.Item{}
	take := func(attrs []KeyAttr) error {
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

// CheckUpdate refuses an update of a key attribute, also one that would leave its value.
func (t *Table) CheckUpdate(u *expr.Update) error {
	if u == nil {
		return nil
	}
	for _, name := range u.Attributes() {
		for _, a := range t.Key.Attrs {
			if name == a.Name {
				return refusal.Invalid("One or more parameter values were invalid: "+
					"Cannot update attribute %s. This attribute is part of the key", name)
			}
		}
	}
	return nil
}

// CheckUpdated refuses what an update must not make of an item, in the words that DynamoDB has for updates, and gives
// the item's size.
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

// emptyKeyError is a key attribute, of the table or of an index, with an empty value. It is told from what else is wrong
// with keys because DynamoDB refuses the whole of a transaction for it, and cancels the transaction for the rest.
type emptyKeyError struct {
	error
	what string // "string" or "binary"
}

// Unwrap returns the fault.
func (e *emptyKeyError) Unwrap() error { return e.error }

func errEmptyKey(v attr.Value, format string, args ...any) error {
	return &emptyKeyError{error: refusal.Invalid(format, args...), what: emptyName(v)}
}

// IsEmptyKey reports whether a key attribute with an empty value was refused.
func IsEmptyKey(err error) bool {
	_, ok := errors.AsType[*emptyKeyError](err)
	return ok
}
