package threefc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// Stamps holds the creation and update times of a record, in the format of the rows.
type Stamps struct {
	CreatedAt string `json:"createdAt,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`

	raw string // data as read
	sk  string // sort key as read: a goal is updated under its existing key
	by  string // signature of what was counted into the row, as read
}

func (s *Stamps) stamps() *Stamps { return s }

// stamped constrains record types: the fields are stored in the row's data, the stamps beside it in the envelope.
type stamped[T any] interface {
	*T
	stamps() *Stamps
}

// compact encodes JSON as the original system does: without spaces, and with <, > and & unescaped.
func compact(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimRight(out.Bytes(), "\n")), err
}

// encode returns the row of a record.
func encode[T any, P stamped[T]](k attr.Item, v T) (attr.Item, error) {
	at := *P(&v).stamps()
	*P(&v).stamps() = Stamps{}
	data, err := compact(v)
	if err == nil {
		data, err = withOthers(data, at.raw)
	}
	if err != nil {
		return nil, fmt.Errorf("encode a %s: %w", entityOf(k), err)
	}
	it := maps.Clone(k)
	it["entityType"], it["data"] = attr.S(entityOf(k)), attr.S(data)
	it["createdAt"], it["updatedAt"] = attr.S(at.CreatedAt), attr.S(at.UpdatedAt)
	if at.by != "" {
		it[derived.By] = attr.S(at.by)
	}
	if more, ok := any(v).(interface{ conditionAttrs() attr.Item }); ok {
		maps.Copy(it, more.conditionAttrs())
	}
	return it, nil
}

// withOthers adds to data those members of raw that this version does not know.
func withOthers(data, raw string) (string, error) {
	if raw == "" {
		return data, nil
	}
	var ours, all map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(data), &ours), json.Unmarshal([]byte(raw), &all)); err != nil {
		return "", err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		_, known := ours[name]
		return known || name == "createdAt" || name == "updatedAt"
	})
	if len(all) == 0 {
		return data, nil
	}
	rest, err := compact(all)
	return strings.TrimSuffix(data, "}") + "," + strings.TrimPrefix(rest, "{"), err
}

// decode returns the record of a row. It ignores members that this version does not know.
func decode[T any, P stamped[T]](it attr.Item) (v T, err error) {
	if err := table.JSON(it, "data", &v); err != nil {
		return v, err
	}
	*P(&v).stamps() = Stamps{it["createdAt"].Str(), it["updatedAt"].Str(), it["data"].Str(), it["sk"].Str(), it[derived.By].Str()}
	return v, nil
}

// plan is a transaction's work. Until its first error, a record that could not be read is empty; after it, change returns no writes.
type plan struct {
	*Service
	table.Plan
}

func (s *Service) plan(tx *store.Tx) *plan { return &plan{s, s.Plan(tx)} }

// must reads a record that must exist.
func must[T any](p *plan, read func(tx *store.Tx, id string) (*T, error), id string) *T {
	v, err := read(p.Tx, id)
	if p.Fail(err); v == nil || err != nil {
		v = new(T)
	}
	return v
}

// many reads the records of another one.
func many[T any](p *plan, read func(tx *store.Tx, of string) ([]T, error), of string) []T {
	all, err := read(p.Tx, of)
	p.Fail(err)
	return all
}

// optional reads a record; nil if there is none or the row holds another entity. A row that cannot be decoded is an error.
func optional[T any, P stamped[T]](p *plan, k attr.Item) *T {
	it := p.Get(k)
	if it == nil || it["entityType"].Str() != entityOf(k) {
		return nil
	}
	v, err := decode[T, P](it)
	if err != nil {
		p.Unreadable(nameOf(k), it, err)
	}
	return &v
}

// readable is optional for one of many records: a row that cannot be decoded is skipped.
func readable[T any, P stamped[T]](p *plan, k attr.Item) *T {
	it := p.Get(k)
	if it == nil || it["entityType"].Str() != entityOf(k) {
		return nil
	}
	v, err := decode[T, P](it)
	if err != nil {
		p.Skip(it, err)
		return nil
	}
	return &v
}

// isEmpty reports whether a partition has no rows of a prefix, readable or not.
func (p *plan) isEmpty(pk, prefix string) bool {
	for range p.Rows(p.Tx.QueryAll(p.QueryUnder(pk, prefix))) {
		return false
	}
	return p.Err() == nil
}

// requireRecord reads a record that must exist; format and args name it in the error.
func requireRecord[T any, P stamped[T]](p *plan, k attr.Item, format string, args ...any) *T {
	v := optional[T, P](p, k)
	if v == nil {
		p.Fail(notFound("", format+" was not found.", args...))
		v = new(T)
	}
	return v
}

// scan reads the records with sort key sk in all partitions with a prefix, without those that cannot be decoded. It passes over their other
// rows, such as a game's goals.
func scan[T any, P stamped[T]](p *plan, prefix, sk string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		q, pk := store.Scan{Table: p.Table, Prefix: prefix, Limit: 1}, ""
		for more := p.Err() == nil; more; {
			page, err := p.Tx.Scan(q)
			p.Fail(err)
			q.StartKey, more = page.LastKey, page.LastKey != nil
			for _, first := range page.Items {
				if first["pk"].Str() == pk { // another program's row sorts after ours
					continue
				}
				pk = first["pk"].Str()
				q.StartKey = key(pk, "~") // after all our sort keys, which begin with capitals
				if v := readable[T, P](p, key(pk, sk)); v != nil && !yield(v) {
					return
				}
			}
		}
	}
}

// list reads the records of a partition whose sort keys have a prefix, in key order, without those that cannot be decoded.
func list[T any, P stamped[T]](p *plan, pk, prefix string) []T {
	all := []T{}
	for it := range p.Rows(p.Tx.QueryAll(p.QueryUnder(pk, prefix))) {
		if it["entityType"].Str() != entityOf(it) {
			continue
		}
		v, err := decode[T, P](it)
		if err != nil {
			p.Skip(it, err)
			continue
		}
		all = append(all, v)
	}
	return all
}

// absent is the condition for creating a row.
const absent = "attribute_not_exists(pk)"

// add creates a record, on condition that its key is free.
func add[T any, P stamped[T]](p *plan, k attr.Item, v T) {
	put[T, P](p, k, v, table.IfTrue(absent, nil))
}

// put writes a record under a condition.
func put[T any, P stamped[T]](p *plan, k attr.Item, v T, only table.If) {
	it, err := encode[T, P](k, v)
	p.Fail(err)
	p.Write(p.Put(it, only))
}

// replace writes v over was, on condition that was has not changed since it was read. It keeps was's creation time and the members that
// this version does not know. If was is nil, it creates v.
func replace[T any, P stamped[T]](p *plan, k attr.Item, was *T, v T) {
	if was == nil {
		add[T, P](p, k, v)
		return
	}
	at, old := P(&v).stamps(), P(was).stamps()
	at.CreatedAt, at.raw, at.by = old.CreatedAt, old.raw, cmp.Or(at.by, old.by)
	put[T, P](p, k, v, unchangedSince(*old))
}

// remove deletes a record on condition that it has not changed since it was read.
func (p *plan) remove(k attr.Item, was Stamps) { p.Write(p.Delete(k, unchangedSince(was))) }

// unchangedSince is the condition that a record has not changed since it was read.
func unchangedSince(was Stamps) table.If {
	return table.IfTrue("updatedAt = :updated AND #data = :data", attr.Item{":updated": attr.S(was.UpdatedAt), ":data": attr.S(was.raw)})
}

// theOne is the condition that a row still is the one that was read, not deleted and created again.
const theOne = "attribute_exists(pk) AND createdAt = :made"

// checkParent checks that the parent of the writes still is the one that was read.
func (p *plan) checkParent(k attr.Item, of Stamps) {
	p.Write(p.Check(k, table.IfTrue(theOne, attr.Item{":made": attr.S(of.CreatedAt)})))
}

// begin is under for a new child. It also updates the parent, so that a concurrent deletion of the parent at any node is refused.
func (p *plan) begin(k attr.Item, of Stamps, at string) {
	only := table.IfTrue(theOne, attr.Item{":made": attr.S(of.CreatedAt), ":at": attr.S(at)})
	p.Write(p.Update(k, "SET updatedAt = :at", only))
}

// Change is the effect of a request: the ids of the records it creates, and its writes, for one transaction.
type Change struct {
	IDs    map[string]string
	At     time.Time // when it happened; zero: it has no such time
	Writes []store.WriteItem
}

func (p *plan) change(ids ...string) (Change, error) {
	if p.Err() != nil {
		return Change{}, p.Err()
	}
	c := Change{IDs: map[string]string{}, Writes: p.Writes}
	for i := 0; i+1 < len(ids); i += 2 {
		c.IDs[ids[i]] = ids[i+1]
	}
	return c, nil
}
