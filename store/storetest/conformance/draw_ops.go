package conformance

import (
	"fmt"
	"maps"
	"strings"

	"pgregory.net/rapid"
)

// all returns the attributes that a condition may use; some never exist.
func (d draw) all() []string { return append(names(), "pk", "zz") }

// maybeCondition sometimes adds a condition to a write.
func (e *expressions) maybeCondition() {
	if !e.chance(3, "conditioned") {
		return
	}
	e.request["ConditionExpression"] = e.condition(e.all(), 2)
	if e.chance(2, "show") {
		e.request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
	}
}

// addUpdate adds an update and sometimes a condition. An update that only removes gets the condition that the item exists, because DynamoDB
// Local creates an item otherwise.
func (e *expressions) addUpdate() (several, deep bool) {
	text, several, deep := e.update()
	e.request["UpdateExpression"] = text
	if strings.Contains(text, "SET ") || strings.Contains(text, "ADD ") {
		e.maybeCondition()
	} else {
		e.request["ConditionExpression"] = "attribute_exists(pk)"
	}
	return several, deep
}

// replace is a PutItem with an Item, or a DeleteItem with a Key.
func (d draw) replace(what string, of object) (modes string, request object) {
	e := d.expressions(object{"TableName": d.shape.Name, what: of})
	e.maybeCondition()
	if d.chance(2, "old") {
		e.request["ReturnValues"] = "ALL_OLD"
	}
	return "", e.addParameters()
}

func (d draw) update() (modes string, request object) {
	e := d.expressions(object{"TableName": d.shape.Name, "Key": d.key()})
	several, deep := e.addUpdate()
	values := []string{"NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"}
	if deep { // DynamoDB Local returns whole attributes
		values = values[:3]
	}
	e.request["ReturnValues"] = one(d, "return", values...)
	if several {
		modes = "/several"
	}
	return modes, e.addParameters()
}

// maybeProjection sometimes adds a projection, to attributes that an index has.
func (e *expressions) maybeProjection(of []string) {
	if e.chance(4, "projected") {
		e.request["ProjectionExpression"] = e.path(of...)
	}
}

func (d draw) get() (modes string, request object) {
	e := d.expressions(object{"TableName": d.shape.Name, "Key": d.key()})
	e.maybeProjection(d.all())
	return "", e.addParameters()
}

// source is what a Query or Scan reads: its key attributes and the attributes that may be projected and filtered.
type source struct {
	index           string
	partition, sort string
	has             []string
}

func (d draw) source() source {
	sources := []source{
		{"", "pk", "", names()},
		{"all", "g", "h", []string{"n", "o", "s", "v", "l", "m", "w"}},
		{"key", "g", "", []string{"pk"}},
		{"inc", "n", "", []string{"s", "m"}},
	}
	if d.shape.Sort != "" {
		sources[0].sort = "sk"
		sources = append(sources, source{"loc", "pk", "o", []string{"sk"}})
	}
	if d.chance(2, "table") {
		return sources[0]
	}
	return one(d, "source", sources...)
}

func (d draw) query() (modes string, request object) {
	src := d.source()
	e := d.expressions(object{"TableName": d.shape.Name})
	modes = "/all"
	if src.index != "" {
		e.request["IndexName"] = src.index
		modes += "/by=" + src.sort
	}
	partition := object{"S": one(d, "pk", "a", "a", "b")}
	switch src.partition {
	case "g":
		partition = object{"S": one(d, "g", "x", "y")}
	case "n":
		partition = d.number("n")
	}
	key := fmt.Sprintf("%s = %s", e.name(src.partition), e.bind(partition))
	if src.sort != "" && !d.chance(3, "whole") {
		key += " AND " + e.rangeOf(src.sort)
	}
	e.request["KeyConditionExpression"] = key
	e.request["ScanIndexForward"] = !d.chance(2, "descending")
	e.page(src)
	return modes, e.addParameters()
}

func (e *expressions) rangeOf(sort string) string {
	kind := "N"
	if sort == "sk" {
		kind = e.shape.Sort
	}
	v := func() string { return e.bind(e.sortKey(kind)) }
	name := e.name(sort)
	switch operator := one(e.draw, "operator", "=", "<", "<=", ">", ">=", "begins_with"); {
	case operator == "begins_with" && kind != "N":
		return fmt.Sprintf("begins_with(%s, %s)", name, v())
	case operator == "begins_with":
		return fmt.Sprintf("%s BETWEEN %s AND %s", name, e.bind(object{"N": "0"}), e.bind(object{"N": "5"}))
	default:
		return name + " " + operator + " " + v()
	}
}

// page adds what Query and Scan have in common. A filter uses only projected attributes: DynamoDB Local refuses others.
func (e *expressions) page(src source) {
	if e.chance(3, "limit") {
		e.request["Limit"] = rapid.IntRange(1, 4).Draw(e.T, "limit")
	}
	filter := src.has
	if src.index == "key" || src.index == "loc" {
		filter = nil
	}
	if len(filter) > 0 && e.chance(3, "filtered") {
		e.request["FilterExpression"] = e.condition(filter, 1)
	}
	if e.chance(5, "count") {
		e.request["Select"] = "COUNT"
		return
	}
	e.maybeProjection(src.has)
}

func (d draw) scan() (modes string, request object) {
	src := d.source()
	e := d.expressions(object{"TableName": d.shape.Name})
	if src.index != "" {
		e.request["IndexName"] = src.index
	}
	e.page(src)
	if d.chance(3, "segments") {
		e.request["TotalSegments"] = rapid.IntRange(1, 4).Draw(d.T, "segments")
		return "/segments", e.addParameters()
	}
	return "/all", e.addParameters()
}

// distinct returns up to n keys, sometimes with a duplicate. Keys whose number has an exponent are not repeated: DynamoDB Local does not
// always notice that the key of a Put equals that of another action then.
func (d draw) distinct(n int) (keys []object) {
	seen := map[string]bool{}
	for range rapid.IntRange(1, n).Draw(d.T, "keys") {
		k := d.key()
		name := canonical(k)
		if !seen[name] || !strings.Contains(name, "E3") && d.chance(10, "twice") {
			keys = append(keys, k)
			seen[name] = true
		}
	}
	return keys
}

func (d draw) batchGet() (modes string, request object) {
	e := d.expressions(object{"Keys": d.distinct(5)})
	e.maybeProjection(d.all())
	return "/several", object{"RequestItems": object{d.shape.Name: e.addParameters()}}
}

func (d draw) batchWrite() (modes string, request object) {
	var parts []object
	for _, k := range d.distinct(5) {
		if d.chance(2, "delete") {
			parts = append(parts, object{"DeleteRequest": object{"Key": k}})
			continue
		}
		it := d.item()
		maps.Copy(it, k)
		parts = append(parts, object{"PutRequest": object{"Item": it}})
	}
	return "/several", object{"RequestItems": object{d.shape.Name: parts}}
}

func (d draw) transactWrite() (modes string, request object) {
	var parts []object
	for _, k := range d.distinct(4) {
		kind := one(d, "action", "Put", "Update", "Delete", "ConditionCheck")
		e := d.expressions(object{"TableName": d.shape.Name, "Key": k})
		switch kind {
		case "Put":
			it := d.item()
			maps.Copy(it, k)
			e.request = object{"TableName": d.shape.Name, "Item": it}
			e.maybeCondition()
		case "Update":
			e.addUpdate()
		case "Delete":
			e.maybeCondition()
		default:
			e.request["ConditionExpression"] = e.condition(d.all(), 1)
		}
		parts = append(parts, object{kind: e.addParameters()})
	}
	return "/several", object{"TransactItems": parts}
}

func (d draw) transactGet() (modes string, request object) {
	var parts []object
	for _, k := range d.distinct(4) {
		e := d.expressions(object{"TableName": d.shape.Name, "Key": k})
		e.maybeProjection(d.all())
		parts = append(parts, object{"Get": e.addParameters()})
	}
	return "/several", object{"TransactItems": parts}
}
