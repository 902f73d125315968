package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

type object = map[string]any

// draw generates random requests with few keys and few attributes, so that they affect each other.
type draw struct {
	*rapid.T
	shape Shape
}

func one[V any](d draw, label string, of ...V) V { return rapid.SampledFrom(of).Draw(d.T, label) }

// chance is true once in n times, and false when rapid shrinks a failure.
func (d draw) chance(n int, label string) bool { return rapid.IntRange(0, n-1).Draw(d.T, label) == n-1 }

func (d draw) step() *Step {
	makers := map[string]func() (string, object){
		"PutItem":    func() (string, object) { return d.replace("Item", d.item()) },
		"DeleteItem": func() (string, object) { return d.replace("Key", d.key()) },
		"UpdateItem": d.update, "GetItem": d.get, "Query": d.query, "Scan": d.scan,
		"BatchGetItem": d.batchGet, "BatchWriteItem": d.batchWrite,
		"TransactWriteItems": d.transactWrite, "TransactGetItems": d.transactGet,
	}
	operation := one(d, "operation", "PutItem", "PutItem", "PutItem", "UpdateItem", "UpdateItem", "UpdateItem", "UpdateItem",
		"DeleteItem", "GetItem", "Query", "Query", "Query", "Scan", "BatchGetItem", "BatchWriteItem",
		"TransactWriteItems", "TransactWriteItems", "TransactGetItems")
	modes, request := makers[operation]()
	body, err := json.Marshal(request)
	if err != nil {
		d.Fatal(err)
	}
	s := &Step{Operation: operation, Times: 1, Request: string(body), head: operation + modes + " " + string(body)}
	if modes != "" {
		s.Modes = strings.Split(modes[1:], "/")
	}
	return s
}

// key is one of a few keys, sometimes an invalid one.
func (d draw) key() object {
	k := object{"pk": object{"S": one(d, "pk", "a", "a", "a", "b")}}
	if d.shape.Sort != "" {
		k["sk"] = d.sortKey(d.shape.Sort)
	}
	if d.chance(40, "misfit") {
		k[one(d, "what", "pk", "sk", "zz")] = object{"N": "1"}
	}
	return k
}

func (d draw) sortKey(kind string) object {
	switch kind {
	case "N":
		return object{"N": one(d, "sk", "0", "1", "-1", "2.5", "1E3")}
	case "B":
		bytes := one(d, "sk", "a", "ab", "\x00", "\xff", "a\xff")
		return object{"B": base64.StdEncoding.EncodeToString([]byte(bytes))}
	}
	return object{"S": one(d, "sk", "a", "ab", "B", "é", "z")}
}

func (d draw) number(label string) object {
	return object{"N": one(d, label, "0", "1", "2", "-1", "1.5", "100", "1E2", "-3E-2", "12345678901234567890123456789012345678")}
}

// scalar is a value that holds no others.
func (d draw) scalar(label string) object {
	return one(d, label,
		func() object { return d.number(label) },
		func() object { return object{"S": one(d, label, "", "a", "ab", "x", "é")} },
		func() object { return object{"B": one(d, label, "", "YQ==", "YWI=")} },
		func() object { return object{"BOOL": one(d, label, true, false)} },
		func() object { return object{"NULL": true} },
	)()
}

// value is a value of any type.
func (d draw) value(label string) object {
	return one(d, label,
		func() object { return d.scalar(label) },
		func() object {
			return object{"SS": one(d, label, []string{"a"}, []string{"a", "b"}, []string{"b", "c", ""})}
		},
		func() object {
			return object{"NS": one(d, label, []string{"1"}, []string{"1", "2"}, []string{"2", "3.0"})}
		},
		func() object { return object{"BS": one(d, label, []string{"YQ=="}, []string{"YQ==", "YWI="})} },
		func() object { return d.list(label) },
		func() object { return d.document(label) },
	)()
}

func (d draw) list(label string) object {
	list := []object{}
	for range rapid.IntRange(0, 3).Draw(d.T, label) {
		list = append(list, d.scalar(label))
	}
	return object{"L": list}
}

func (d draw) document(label string) object {
	m := object{}
	for _, name := range []string{"x", "y"} {
		if d.chance(2, label) {
			m[name] = d.scalar(label)
		}
	}
	if d.chance(3, label) {
		m["l"] = d.list(label)
	}
	return object{"M": m}
}

// attribute is a typical value of an attribute: keys of indexes usually have their types, others the type that their names suggest.
func (d draw) attribute(name string) object {
	switch name {
	case "g":
		if d.chance(40, "misfit") {
			return one(d, "g", object{"N": "1"}, object{"NULL": true}, object{"BOOL": true}, object{"L": []object{}})
		}
		return object{"S": one(d, "g", "x", "y")}
	case "h", "n", "o":
		return d.number(name)
	case "l":
		return d.list("l")
	case "m":
		return d.document("m")
	}
	return d.value(name)
}

// names returns the attributes that are not keys of the table.
func names() []string { return []string{"g", "h", "n", "o", "s", "v", "l", "m", "w"} }

func (d draw) item() object {
	it := d.key()
	for _, name := range names() {
		if d.chance(2, "has "+name) {
			it[name] = d.attribute(name)
		}
	}
	return it
}

// expressions collects the parameters of a request's expressions.
type expressions struct {
	draw
	request object
	names   map[string]string
	values  object
}

func (d draw) expressions(request object) *expressions {
	return &expressions{draw: d, request: request, names: map[string]string{}, values: object{}}
}

// addParameters adds the parameters to the request.
func (e *expressions) addParameters() object {
	if len(e.names) > 0 {
		e.request["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 {
		e.request["ExpressionAttributeValues"] = e.values
	}
	return e.request
}

func (e *expressions) bind(value object) string {
	name := ":" + strconv.Itoa(len(e.values))
	e.values[name] = value
	return name
}

// name returns an attribute's name, sometimes as a placeholder.
func (e *expressions) name(attribute string) string {
	if !e.chance(4, "placeholder") {
		return attribute
	}
	e.names["#"+attribute] = attribute
	return "#" + attribute
}

// path is an attribute or a part of it, whether that exists or not.
func (e *expressions) path(of ...string) string {
	attribute := one(e.draw, "path", of...)
	switch {
	case attribute == "m" && e.chance(2, "deep"):
		return e.name("m") + one(e.draw, "deep", ".x", ".y", ".l", ".l[0]", ".zz")
	case attribute == "l" && e.chance(2, "deep"):
		return e.name("l") + fmt.Sprintf("[%d]", rapid.IntRange(0, 3).Draw(e.T, "deep"))
	}
	return e.name(attribute)
}
