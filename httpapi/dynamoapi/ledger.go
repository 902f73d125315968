package dynamoapi

import (
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// ledger accounts for the writes of a request about many items. Nobody asks for it as a rule: then it does nothing.
type ledger struct {
	units       *consumption
	collections *collections
	specs       map[string]*store.TableSpec
	entries     []entry
}

// entry is one write.
type entry struct {
	spec     *store.TableSpec // nil: there was no such table when the request began, so that it fails unless one was just made
	key      attr.Item
	old, now attr.Item
	changes  bool // it puts something whatever is there, so that it cannot have left the store as it was
}

func newLedger(capacity, metrics wire.Opt[string]) *ledger {
	l := &ledger{units: newConsumption(capacity), collections: newCollections(metrics)}
	if l.units == nil && l.collections == nil {
		return nil
	}
	l.specs = map[string]*store.TableSpec{}
	return l
}

// add notes a write that is to be done. Its subject is the item or its key.
func (l *ledger) add(c *call, table string, subject attr.Item, changes bool) {
	if l == nil {
		return
	}
	spec, known := l.specs[table]
	if !known {
		if d, err := c.table(table); err == nil {
			spec = &d.Spec
		}
		l.specs[table] = spec
	}
	e := entry{spec: spec, key: attr.Item{}, changes: changes}
	if spec != nil {
		for _, a := range keyAttrs(&spec.Key) {
			if v, ok := subject[a.Name]; ok {
				e.key[a.Name] = v
			}
		}
	}
	l.entries = append(l.entries, e)
}

// around does the writes, and looks at the items before and after it. again tells that the store had done them before,
// for a request with the same token.
func (l *ledger) around(tx *store.Tx, do func() error) (again bool, err error) {
	if l == nil {
		return false, do()
	}
	for i := range l.entries {
		if e := &l.entries[i]; e.spec != nil {
			e.old, _ = tx.Get(e.spec.Name, e.key) // of a key that does not fit, the write itself says so
		}
	}
	seq := tx.Seq()
	if err := do(); err != nil {
		return false, err
	}
	changes := false
	for i := range l.entries {
		e := &l.entries[i]
		changes = changes || e.changes
		if e.spec == nil {
			continue
		}
		if e.now, err = tx.Get(e.spec.Name, e.key); err != nil {
			return false, err
		}
	}
	return changes && tx.Seq() == seq, nil
}

// write writes the members of the answer. What was done again was only read.
func (l *ledger) write(out *wire.Encoder, transact, again bool) {
	if l == nil {
		return
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.spec == nil {
			continue
		}
		if again {
			l.units.read(e.spec, "", attr.Size(e.now), true, transact)
			continue
		}
		l.units.write(e.spec, e.old, e.now, transact)
		l.collections.wrote(e.spec, e.key)
	}
	l.units.all(out)
	l.collections.all(out)
}
