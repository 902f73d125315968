package simcloud

import (
	"strings"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica"
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
func (c *Cloud) Table(name string) (replica.TableState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(name)
	if err != nil {
		return replica.TableState{}, err
	}
	return replica.TableState{ID: t.id, CreatedAt: t.made, RestoredAt: t.back}, nil
}

// Read returns a page of a Query or a Scan.
func (c *Cloud) Read(r replica.Reading) (replica.Page, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	t, err := c.table(r.Table)
	if err != nil {
		return replica.Page{}, err
	}
	after := ""
	if r.After != nil {
		k, err := t.requestKey(r.After)
		if err != nil {
			return replica.Page{}, asError(err)
		}
		after = k.raw()
	}
	if r.KeyCondition == "" {
		if len(r.Names) > 0 || len(r.Values) > 0 {
			return replica.Page{}, invalid("names and values can only be given with an expression")
		}
		p := pager{limit: r.Limit, table: t}
		t.each(after, p.take)
		return p.page, nil
	}
	return c.query(t, &r, after)
}

// query reads one partition. Called with the cloud locked.
func (c *Cloud) query(t *table, r *replica.Reading, after string) (replica.Page, error) {
	spec := t.spec.Key
	key := expr.SimpleKey(
		expr.KeyAttr{Name: spec.Partition.Name, Kind: kindOf(spec.Partition.Type)},
		expr.KeyAttr{Name: spec.Sort.Name, Kind: kindOf(spec.Sort.Type)})
	bound, err := c.exprs.Bind(expr.Request{KeyCondition: r.KeyCondition, Params: r.Params, Key: key})
	if err != nil {
		return replica.Page{}, asError(err)
	}
	if err := bound.Key.Check(key); err != nil {
		return replica.Page{}, asError(err)
	}
	part, err := attr.AppendKey(nil, bound.Key.Partition[0])
	if err != nil {
		return replica.Page{}, invalid("%v", err)
	}
	if after != "" && !strings.HasPrefix(after, string(part)) {
		return replica.Page{}, invalid("The provided starting key is outside query boundaries based on provided conditions")
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
	page  replica.Page
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
