package simcloud

import (
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// Foreign is a writer that knows nothing of us: the original backend, a console, a Lambda. It writes without guards; its writes are
// effects By its name.
type Foreign struct {
	Cloud *Cloud
	Name  string
}

// Put replaces a whole item, including nodes' metadata.
func (f Foreign) Put(table string, item attr.Item) error {
	_, err := f.Cloud.Write(f.Name, intent.Call{Op: store.OpPut, Table: table, Item: item})
	return err
}

// Update changes or creates an item.
func (f Foreign) Update(table string, key attr.Item, update string, params expr.Params) error {
	_, err := f.Cloud.Write(f.Name, intent.Call{Op: store.OpUpdate, Table: table, Key: key, Update: update, Params: params})
	return err
}

// Delete removes an item.
func (f Foreign) Delete(table string, key attr.Item) error {
	_, err := f.Cloud.Write(f.Name, intent.Call{Op: store.OpDelete, Table: table, Key: key})
	return err
}

// Expire deletes items past their TTL at the given instant, as DynamoDB does some time later, and returns their number. An instant before
// now simulates a late service; one after now, a service whose clock is ahead of the nodes'.
func (c *Cloud) Expire(at time.Time) (expired int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.tables)) {
		t := c.tables[name]
		if t.spec.TTL == "" {
			continue
		}
		var gone []string
		for _, key := range t.order {
			if s, ok := t.items[key][t.spec.TTL].Int(); ok && s <= at.Unix() {
				gone = append(gone, key)
			}
		}
		for _, k := range gone {
			c.apply(t, k, store.OpDelete, nil, "ttl", "", 0)
		}
		expired += len(gone)
	}
	return expired
}

// Restore returns the named tables (none: all) to their state at an instant, with new ids, like a point-in-time recovery under the same
// names. The log continues: what is undone is an effect By "restore".
func (c *Cloud) Restore(at time.Time, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Forget {
		panic("simcloud: a cloud that keeps no log cannot be restored")
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(c.tables))
	}
	first := slices.IndexFunc(c.log, func(e Effect) bool { return e.At.After(at) })
	undo := []Effect(nil)
	if first >= 0 {
		undo = slices.Clone(c.log[first:])
	}
	for _, e := range slices.Backward(undo) {
		if !slices.Contains(names, e.Table) {
			continue
		}
		t := c.tables[e.Table]
		k, err := t.requestKey(e.Key)
		if err != nil {
			panic(err)
		}
		if e.Old == nil {
			c.apply(t, k, store.OpDelete, nil, "restore", "", 0)
		} else {
			c.apply(t, k, store.OpPut, e.Old, "restore", "", 0)
		}
	}
	for _, name := range names {
		c.calls++
		c.tables[name].id, c.tables[name].back = c.newTable(c.tables[name].spec).id, at
	}
}
