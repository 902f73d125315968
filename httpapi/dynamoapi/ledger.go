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
	spec *store.TableSpec // nil: there is no such table, and the request will fail
	key  attr.Item
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
func (l *ledger) add(c *call, table string, subject attr.Item) {
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
	e := entry{spec: spec, key: attr.Item{}}
	if spec != nil {
		for _, a := range spec.Key.Attrs() {
			if v, ok := subject[a.Name]; ok {
				e.key[a.Name] = v
			}
		}
	}
	l.entries = append(l.entries, e)
}

// watch counts the writes that follow, and notes the collections that they wrote to.
func (l *ledger) watch(tx *store.Tx, transact bool) {
	if l == nil {
		return
	}
	l.units.watch(tx, transact)
	for i := range l.entries {
		l.collections.wrote(l.entries[i].spec, l.entries[i].key)
	}
}

// repeated counts an action of a transaction that was done before. It wrote to nothing.
func (l *ledger) repeated(t store.Touch) {
	if l == nil {
		return
	}
	l.units.reread(t)
	l.collections = nil
}

// write writes the members of the answer.
func (l *ledger) write(out *wire.Encoder) {
	if l == nil {
		return
	}
	l.units.all(out)
	l.collections.all(out)
}
