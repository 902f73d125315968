package dynamoapi

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
)

// ignored are the members of the API's model that nobody reads, by their path (as "CreateTable.Tags.Key"), each with the
// reason why that changes no answer. All others are read, or refused by name. At present there are none.
func ignored() map[string]string {
	return map[string]string{}
}

// TestEveryMemberOfTheModel: no member of a request is dropped in silence. The members are those of the SDK's structs, at any
// depth. A value of the wrong JSON type shows which of them are looked at: nobody minds the type of what is stepped over.
func TestEveryMemberOfTheModel(t *testing.T) {
	w := memberWalk{api: New(Config{})}
	for _, op := range operations() {
		input, ok := inputOf(op.name)
		if !ok {
			t.Errorf("the SDK has no operation %s", op.name)
			continue
		}
		w.operation = op.name
		w.members(op.name, input, nil, func(inner string) string { return inner })
	}
	if w.seen < 300 {
		t.Errorf("%d members were found: the walk is broken", w.seen)
	}
	list := ignored()
	for _, path := range w.unread {
		if list[path] == "" {
			t.Errorf("%s is dropped in silence: read it, refuse it, or give a reason", path)
		}
		delete(list, path)
	}
	for path := range list {
		t.Errorf("%s is on the list of ignored members, but it is read or there is no such member", path)
	}
}

// inputOf is the struct of an operation's request.
func inputOf(operation string) (reflect.Type, bool) {
	for _, client := range []any{(*dynamodb.Client)(nil), (*dynamodbstreams.Client)(nil)} {
		if m, ok := reflect.TypeOf(client).MethodByName(operation); ok {
			return m.Type.In(2).Elem(), true
		}
	}
	return nil, false
}

// memberWalk goes through the members of requests.
type memberWalk struct {
	api       *API
	operation string
	seen      int
	unread    []string
}

// members looks at each member of a struct, which stands in the request that around makes of it. Above are the structs
// around it: those of the model hold each other.
func (w *memberWalk) members(path string, of reflect.Type, above []reflect.Type, around func(inner string) string) {
	for field := range fieldsOf(of) {
		at := path + "." + field.Name
		inside := func(inner string) string { return around(fmt.Sprintf("{%q:%s}", field.Name, inner)) }
		w.seen++
		if !w.refuses(inside(wrong(field.Type))) {
			w.unread = append(w.unread, at)
			continue
		}
		inner := field.Type
		for inner.Kind() != reflect.Struct {
			next, wrap := held(inner)
			if next == nil {
				break
			}
			outer := inside
			inner, inside = next, func(text string) string { return outer(fmt.Sprintf(wrap, text)) }
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() && !slices.Contains(above, inner) {
			w.members(at, inner, append(above, of), inside)
		}
	}
}

// fieldsOf returns the members of a struct. A value is a struct of all its types.
func fieldsOf(of reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for f := range of.Fields() {
			if f.IsExported() && !yield(f) {
				return
			}
		}
	}
}

// value is types.AttributeValue, which in the SDK is an interface.
type value struct {
	S, N string
	B    []byte
	SS   []string
	NS   []string
	BS   [][]byte
	BOOL bool
	NULL bool
	M    map[string]string // as deep as the walk goes
	L    []string
}

// held returns what a list, a map, a pointer or a value holds, and the JSON around it; nil for what holds nothing.
func held(of reflect.Type) (inner reflect.Type, wrap string) {
	switch {
	case of == reflect.TypeFor[types.AttributeValue]():
		return reflect.TypeFor[value](), "%s"
	case of.Kind() == reflect.Pointer:
		return of.Elem(), "%s"
	case of.Kind() == reflect.Slice:
		return of.Elem(), "[%s]"
	case of.Kind() == reflect.Map:
		return of.Elem(), `{"k":%s}`
	}
	return nil, ""
}

// wrong is a value that is not of a member's JSON type.
func wrong(of reflect.Type) string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == reflect.TypeFor[time.Time]() { // a number
		return `{"x":[]}`
	}
	switch of.Kind() {
	case reflect.Struct, reflect.Map, reflect.Interface:
		return "1"
	case reflect.Slice:
		if of.Elem().Kind() != reflect.Uint8 {
			return "1"
		}
	}
	return `{"x":[]}`
}

// refuses reports whether reading a request fails.
func (w *memberWalk) refuses(body string) bool {
	r := w.api.operations[w.operation]()
	return wire.NewDecoder(body).Root(r.members) != nil
}
