package simcloud

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/remote"
)

// maxPage is where DynamoDB ends a page, in bytes of its items.
const maxPage = 1 << 20

// Get reads an item; nil: there is none.
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
	return t.get(k).image(), nil
}

// Table returns which table a name stands for.
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

// Read returns a page of a Query or a Scan.
func (c *Cloud) Read(r remote.Reading) (remote.Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(r.Table)
	if err != nil {
		return remote.Page{}, err
	}
	after := ""
	if r.After != nil {
		k, err := t.requestKey(r.After)
		if err != nil {
			return remote.Page{}, asError(err)
		}
		after = k.raw()
	}
	if r.KeyCondition == "" {
		if len(r.Names) > 0 || len(r.Values) > 0 {
			return remote.Page{}, invalid("names and values can only be given with an expression")
		}
		p := pager{limit: r.Limit, table: t}
		t.each(after, p.take)
		return p.page, nil
	}
	return c.query(t, &r, after)
}

// query reads one partition. Called with the cloud locked.
func (c *Cloud) query(t *table, r *remote.Reading, after string) (remote.Page, error) {
	spec := t.spec.Key
	key := expr.SimpleKey(
		expr.KeyAttr{Name: spec.Partition.Name, Kind: kindOf(spec.Partition.Type)},
		expr.KeyAttr{Name: spec.Sort.Name, Kind: kindOf(spec.Sort.Type)})
	bound, err := c.exprs.Bind(expr.Request{KeyCondition: r.KeyCondition, Params: r.Params, Key: key})
	if err != nil {
		return remote.Page{}, asError(err)
	}
	if err := bound.Key.Check(key); err != nil {
		return remote.Page{}, asError(err)
	}
	part, err := attr.AppendKey(nil, bound.Key.Partition[0])
	if err != nil {
		return remote.Page{}, invalid("%v", err)
	}
	if after != "" && !strings.HasPrefix(after, string(part)) {
		return remote.Page{}, invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	p := pager{limit: r.Limit, table: t}
	rows := t.parts[string(part)]
	if rows == nil {
		return p.page, nil
	}
	for _, k := range rows.order {
		raw := string(part) + k
		if after != "" && raw <= after || spec.Sort.Name != "" && !bound.Key.Contains(rows.rows[k].item[spec.Sort.Name]) {
			continue
		}
		if !p.take(raw, rows.rows[k]) {
			break
		}
	}
	return p.page, nil
}

// pager collects a page. At its limit it gives a LastKey whether something follows or not, as the service does.
type pager struct {
	limit int
	table *table
	page  remote.Page
	bytes int
}

func (p *pager) take(_ string, r *row) bool {
	p.page.Items = append(p.page.Items, r.item)
	p.bytes += r.size
	if p.limit > 0 && len(p.page.Items) == p.limit || p.bytes > maxPage {
		p.page.LastKey = p.table.keyOf(r)
		return false
	}
	return true
}
