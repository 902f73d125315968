package table

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"strings"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// What becomes of a row that an application cannot decode, because another program, another version or a person wrote it:
//
//	a list, a consumer, a count     leaves it out: Skip, Decode
//	a request for that very row     is answered with an error: Unreadable
//	what is derived from all rows   asks store.Tx.Unreadable before and after, and stays as it was
//
// In each case the store remembers the row, and the Status page names it.

// Skip notes a row that cannot be decoded, which the caller leaves out.
func (p *Plan) Skip(row attr.Item, why error) {
	p.Tx.NoteUnreadable(p.table, row, why)
}

// Unreadable notes a row that cannot be decoded, and fails the plan: the caller needs this very row. what names its kind for people.
func (p *Plan) Unreadable(what string, row attr.Item, why error) {
	p.Tx.NoteUnreadable(p.table, row, why)
	p.Fail(Unreadable(what, why))
}

// Decode decodes the rows that a query or a scan finds, and skips those that cannot be decoded. The list is never nil.
func Decode[T any](p *Plan, found iter.Seq2[attr.Item, error], decode func(row attr.Item) (T, error)) []T {
	all := []T{}
	for row := range p.Rows(found) {
		if v, err := decode(row); err != nil {
			p.Skip(row, err)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// Unreadable returns the error of a request for a row that cannot be decoded. It does not contain the key, which may hold an address or a
// code.
func Unreadable(what string, why error) error {
	return fault.Wrap(why, fault.Unreadable, "unreadable_row",
		"The stored %s cannot be read: its row is in a form that this node does not know. The node's Status page names the row and the reason.", what)
}

// IsUnreadable reports whether an error is that of a row that cannot be decoded.
func IsUnreadable(err error) bool { return fault.Is(err, fault.Unreadable) }

// misfit is package attr's text for a value of another type than its field.
var misfit = regexp.MustCompile(`^a value of type (\S+) does not fit a (\S+)$`)

// Unmarshal decodes the attributes of a row into a struct. Its error says for people which attribute does not fit.
func Unmarshal(row attr.Item, into any) error {
	err := attr.Unmarshal(row, into)
	if err == nil {
		return nil
	}
	path, why, found := strings.Cut(strings.TrimPrefix(err.Error(), "attr: "), ": ")
	if !found {
		return err
	}
	if m := misfit.FindStringSubmatch(why); m != nil {
		why = "it is " + attrWord(m[1]) + ", where " + fieldWord(m[2]) + " belongs"
	}
	return fmt.Errorf("attribute %s: %s", path, why)
}

// attrWord returns the words for an attribute's type.
func attrWord(kind string) string {
	words := map[string]string{"S": "a text", "N": "a number", "B": "binary data", "BOOL": "yes or no", "L": "a list", "M": "an object"}
	return cmp.Or(words[kind], "a set")
}

// fieldWord returns the words for what a field of a Go type takes, given the type's name.
func fieldWord(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	case name == "bool":
		return "yes or no"
	case name == "time.Time":
		return "a time"
	case strings.HasPrefix(name, "map"), strings.HasPrefix(name, "struct"):
		return "an object"
	}
	return "a text" // a string, or a type of the application made of one
}

// JSON decodes a row's attribute that holds a JSON object as text. Its error says for people what is wrong with it.
func JSON(row attr.Item, name string, into any) error {
	v := row[name]
	switch {
	case v.IsZero():
		return fmt.Errorf("attribute %s is missing", name)
	case v.Kind() != attr.KindS:
		return fmt.Errorf("attribute %s is not a text", name)
	case !strings.HasPrefix(strings.TrimSpace(v.Str()), "{"):
		return fmt.Errorf("attribute %s is not a JSON object", name)
	}
	err := json.Unmarshal([]byte(v.Str()), into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("member %s of attribute %s is %s, where %s belongs", wrong.Field, name, jsonWord(wrong.Value), typeWord(wrong.Type))
	}
	if err != nil {
		return fmt.Errorf("attribute %s is not JSON", name)
	}
	return nil
}

// jsonWord returns the words for a JSON value as package json describes it, such as "number 1.5".
func jsonWord(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	words := map[string]string{"string": "a text", "bool": "yes or no", "array": "a list", "object": "an object"}
	if value == "number" {
		return "a number"
	}
	return cmp.Or(words[kind], "the "+value)
}

// typeWord returns the words for what a field of a Go type takes.
func typeWord(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the others are named by their names
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return fieldWord(t.Kind().String())
}
