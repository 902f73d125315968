package simcloud

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/remote"
)

// maxPage is where DynamoDB ends a page, in bytes of items.
const maxPage = 1 << 20

// Get returns an item, or nil if there is none.
func (c *Cloud) Get(name string, key attr.Item) (attr.Item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(name)
	if err != nil {
		return nil, err
	}
	k, err := t.requestKey(key)
	if err != nil {
		return nil, asError(err)
	}
	return t.items[k], nil
}

// Table returns the state of a table.
func (c *Cloud) Table(name string) (remote.TableState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(name)
	if err != nil {
		return remote.TableState{}, err
	}
	return remote.TableState{ID: t.id, CreatedAt: t.made, RestoredAt: t.back}, nil
}

// Read returns a page of a Query or Scan.
func (c *Cloud) Read(r remote.Reading) (remote.Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(r.Table)
	if err != nil {
		return remote.Page{}, err
	}
	if !r.Consistent {
		t = c.earlier(t)
	}
	after := ""
	if r.After != nil {
		if after, err = t.requestKey(r.After); err != nil {
			return remote.Page{}, asError(err)
		}
	}
	if r.KeyCondition == "" {
		if len(r.Names) > 0 || len(r.Values) > 0 {
			return remote.Page{}, invalid("names and values can only be given with an expression")
		}
		return t.page(t.behind(after, ""), r.Limit), nil
	}
	return c.query(t, &r, after)
}

// StaleBy is how old the answers to reads are that do not ask for a consistent one. In DynamoDB it is mostly below a second, and unbounded.
const StaleBy = 3 * time.Second

// earlier returns a table as it was before the changes of the last seconds. The caller holds the lock.
func (c *Cloud) earlier(t *table) *table {
	from := c.options.Now().Add(-StaleBy)
	old := &table{spec: t.spec, items: maps.Clone(t.items), order: slices.Clone(t.order)}
	for _, e := range slices.Backward(c.log) {
		if !e.At.After(from) {
			break
		}
		if e.Table == t.spec.Name {
			old.set(e.Raw, e.Old)
		}
	}
	return old
}

// query reads one partition. The caller holds the lock.
func (c *Cloud) query(t *table, r *remote.Reading, after string) (remote.Page, error) {
	spec := t.spec.Key
	key := spec.ExprKey()
	bound, err := c.exprs.Bind(expr.Request{KeyCondition: r.KeyCondition, Params: r.Params, Key: &key})
	if err != nil {
		return remote.Page{}, asError(err)
	}
	if err := bound.Key.Check(&key); err != nil {
		return remote.Page{}, asError(err)
	}
	part, err := attr.AppendKey(nil, bound.Key.Partition[0])
	if err != nil {
		return remote.Page{}, invalid("%v", err)
	}
	if after != "" && !strings.HasPrefix(after, string(part)) {
		return remote.Page{}, invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	var keys []string
	for _, k := range t.behind(after, string(part)) {
		if !strings.HasPrefix(k, string(part)) {
			break
		}
		if spec.Sort.Name == "" || bound.Key.Contains(t.items[k][spec.Sort.Name]) {
			keys = append(keys, k)
		}
	}
	return t.page(keys, r.Limit), nil
}

// page returns a page with the items of the given keys. At its limit it returns a LastKey whether or not more items follow, as the
// service does.
func (t *table) page(keys []string, limit int) (page remote.Page) {
	bytes := 0
	for _, k := range keys {
		page.Items = append(page.Items, t.items[k])
		if bytes += attr.Size(t.items[k]); len(page.Items) == limit || bytes > maxPage {
			page.LastKey = t.keyOf(t.items[k])
			break
		}
	}
	return page
}
