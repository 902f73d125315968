//go:build long

package simcloud_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// drawer draws operations that affect each other: few keys, few attributes, the forms that the replicator sends.
type drawer struct {
	*rapid.T
	run, step int
	inTxn     bool // DynamoDB Local refuses the whole request for invalid keys, the service has reasons
}

func (d drawer) n(most int, what string) int { return rapid.IntRange(0, most).Draw(d.T, what) }

func (d drawer) key(table string) attr.Item {
	key := attr.Item{"pk": attr.S(fmt.Sprintf("run%d-%d", d.run, d.n(2, "pk")))}
	if table == "sorted" {
		key["sk"] = attr.Int(int64(d.n(3, "sk")))
	}
	if !d.inTxn && d.n(60, "bad key") == 0 {
		delete(key, "pk")
	}
	return key
}

func (d drawer) value() attr.Value {
	switch d.n(6, "value") {
	case 0:
		return attr.S("x")
	case 1:
		return attr.M(attr.Item{"b": attr.Int(int64(d.n(3, "b")))})
	case 2:
		v, _ := attr.SS("a", "b")
		return v
	case 3:
		return attr.L(attr.Int(1), attr.S("l"))
	}
	return attr.Int(int64(d.n(5, "number")))
}

func (d drawer) item(table string) attr.Item {
	it := d.key(table)
	for _, name := range []string{"n", "m", "s", "_c", "_n", "_a_x"} {
		if d.n(2, "has") > 0 {
			it[name] = d.value()
		}
	}
	switch d.n(30, "odd") {
	case 0:
		it["big"] = attr.S(strings.Repeat("x", 300_000+d.n(1, "size")*110_000))
	case 1:
		it["g"] = d.value()
	}
	return it
}

func (d drawer) table() string {
	if !d.inTxn && d.n(80, "no table") == 0 {
		return "nobody"
	}
	return rapid.SampledFrom([]string{"plain", "sorted"}).Draw(d.T, "table")
}

// condition draws a condition, and adds the values that it and its update need.
func (d drawer) condition(values attr.Item) string {
	use := func(name string, v attr.Value) string {
		values[name] = v
		return name
	}
	switch d.n(8, "condition") {
	case 0:
		return ""
	case 1:
		return "attribute_not_exists(pk)"
	case 2:
		return "attribute_exists(pk) AND attribute_not_exists(#c)"
	case 3:
		return "attribute_not_exists(#a) OR #a < " + use(":mark", attr.Int(int64(d.n(5, "mark"))))
	case 4:
		return "(n = " + use(":cn", attr.Int(int64(d.n(5, "cn")))) + ") AND (attribute_not_exists(#a) OR #a < " +
			use(":mark", attr.Int(3)) + ")"
	case 5:
		return "#c = " + use(":c", d.value())
	case 6:
		return "size(s) > " + use(":size", attr.Int(1)) + " OR contains(s, " + use(":in", attr.S("a")) + ")"
	case 7:
		return "m.b = " + use(":mb", attr.Int(1)) + " OR NOT begins_with(s, " + use(":with", attr.S("x")) + ")"
	}
	return "attribute_exists(pk)"
}

func (d drawer) update(values attr.Item) string {
	values[":v"] = d.value()
	switch d.n(8, "update") {
	case 0:
		return "SET n = n + :v"
	case 1:
		return "SET m.b = :v"
	case 2:
		return "ADD n :v"
	case 3:
		delete(values, ":v")
		return "REMOVE m.b, s"
	case 4:
		return "DELETE s :v"
	case 5:
		return "SET n = if_not_exists(n, :zero) + :v, #c = if_not_exists(#c, :v)" + d.zero(values)
	case 6:
		return "SET s = list_append(s, :v)"
	case 7:
		return "SET g = :v"
	}
	return "SET n = :v ADD #n :one" + d.one(values)
}

func (d drawer) zero(values attr.Item) string {
	values[":zero"] = attr.Int(0)
	return ""
}

func (d drawer) one(values attr.Item) string {
	values[":one"] = attr.Int(1)
	return ""
}

func (d drawer) call(check bool) intent.Call {
	c := intent.Call{Table: d.table(), Params: expr.Params{Values: attr.Item{}}}
	if c.Table == "nobody" { // which of two faults is reported does not matter
		return intent.Call{Op: store.OpDelete, Table: c.Table, Key: attr.Item{"pk": attr.S("x")}}
	}
	kinds := []store.Op{store.OpPut, store.OpUpdate, store.OpUpdate, store.OpUpdate, store.OpDelete}
	if check {
		kinds = append(kinds, 0)
	}
	c.Op = rapid.SampledFrom(kinds).Draw(d.T, "op")
	c.Condition = d.condition(c.Values)
	if c.Op == 0 && c.Condition == "" {
		c.Condition = "attribute_exists(pk)"
	}
	switch c.Op {
	case store.OpPut:
		c.Item = d.item(c.Table)
	case store.OpUpdate:
		c.Key, c.Update = d.key(c.Table), d.update(c.Values)
		if strings.HasPrefix(c.Update, "REMOVE") || strings.HasPrefix(c.Update, "DELETE") { // DynamoDB Local creates a missing item
			if c.Condition != "" {
				c.Condition = " AND (" + c.Condition + ")"
			}
			c.Condition = "attribute_exists(pk)" + c.Condition
		}
	default:
		c.Key = d.key(c.Table)
	}
	for name, stands := range map[string]string{"#c": "_c", "#n": "_n", "#a": "_a_x"} {
		if strings.Contains(c.Condition+c.Update, name) {
			if c.Names == nil {
				c.Names = map[string]string{}
			}
			c.Names[name] = stands
		}
	}
	if len(c.Values) == 0 {
		c.Values = nil
	}
	return c
}

// transaction draws one action per item: the service refuses two on one item before it examines any.
func (d drawer) transaction() []intent.Call {
	d.inTxn = true
	var calls []intent.Call
	seen := map[string]bool{}
	for range 1 + d.n(3, "actions") {
		c := d.call(true)
		key := c.Key
		if c.Op == store.OpPut {
			key = c.Item
		}
		id := c.Table + key["pk"].Str() + " " + key["sk"].Str()
		if !seen[id] {
			calls = append(calls, c)
		}
		seen[id] = true
	}
	return calls
}

func (d drawer) token() string {
	if d.n(1, "token") == 0 {
		return ""
	}
	return fmt.Sprintf("run%d-%d", d.run, d.n(2, "which"))
}

func (d drawer) reading() remote.Reading {
	r := remote.Reading{Table: d.table(), Limit: d.n(3, "limit"), Consistent: true}
	r.KeyCondition = "pk = :pk"
	r.Values = attr.Item{":pk": attr.S(fmt.Sprintf("run%d-%d", d.run, d.n(2, "pk")))}
	if r.Table == "sorted" && d.n(1, "range") == 0 {
		r.KeyCondition += " AND sk >= :sk"
		r.Values[":sk"] = attr.Int(int64(d.n(3, "sk")))
	}
	return r
}
