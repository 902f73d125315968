package dynamoapi

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/touchline/touchline/httpapi/dynamoapi/inject"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
)

// ignored returns members of the API's model that nobody reads, by path (as "CreateTable.Tags.Key"), each with the reason why that
// changes no answer. All others are read, or refused by name. At present there are none.
func ignored() map[string]string {
	return map[string]string{}
}

// TestEveryMemberOfTheModel: no member of a request is ignored silently. The members are those of the SDK's structs, at any depth. A
// value of the wrong JSON type reveals which are read: skipped members are not type-checked.
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

// TestEveryOperationCanFail: package inject knows each operation by name.
func TestEveryOperationCanFail(t *testing.T) {
	for _, op := range operations() {
		rules := inject.Rules{Rules: []inject.Rule{{Kind: inject.Throttle, Operations: []string{op.name}}}}
		if problems := rules.Problems(); len(problems) > 0 {
			t.Errorf("%s: %v", op.name, problems)
		}
	}
}

// inputOf returns the struct of an operation's request.
func inputOf(operation string) (reflect.Type, bool) {
	for _, client := range []any{(*dynamodb.Client)(nil), (*dynamodbstreams.Client)(nil)} {
		if m, ok := reflect.TypeOf(client).MethodByName(operation); ok {
			return m.Type.In(2).Elem(), true
		}
	}
	return nil, false
}

// memberWalk walks the members of requests.
type memberWalk struct {
	api       *API
	operation string
	seen      int
	unread    []string
}

// members checks each member of a struct. around embeds the struct's JSON in a request. above are the enclosing structs: some structs of
// the model contain each other.
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

// value stands for types.AttributeValue, which is an interface in the SDK.
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

// held returns what a list, map, pointer or value contains, and the JSON around it; nil if it contains nothing.
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

// wrong returns a value that does not have a member's JSON type.
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

// refuses reports whether decoding a request fails.
func (w *memberWalk) refuses(body string) bool {
	r := w.api.operations[w.operation]()
	return wire.NewDecoder(body).Root(r.members) != nil
}

// TestPartiQLTouches checks the permissions that statements need.
func TestPartiQLTouches(t *testing.T) {
	for name, c := range map[string]struct {
		operation, body string
		want            []string
	}{
		"select":      {"ExecuteStatement", `{"Statement":"SELECT * FROM \"tab\".\"idx\" WHERE a=1"}`, []string{"PartiQLSelect tab"}},
		"insert":      {"ExecuteStatement", `{"Statement":"INSERT INTO tab VALUE {'pk':1}"}`, []string{"PartiQLInsert tab"}},
		"not a thing": {"ExecuteStatement", `{"Statement":"UPDATE tab"}`, nil},
		"batch": {"BatchExecuteStatement", `{"Statements":[{"Statement":"UPDATE one SET a=1 WHERE b=2"},{"Statement":"nonsense"},
			{"Statement":"DELETE FROM two WHERE b=2"}]}`, []string{"PartiQLUpdate one", "PartiQLDelete two"}},
		"transaction": {"ExecuteTransaction", `{"TransactStatements":[{"Statement":"EXISTS(SELECT * FROM one WHERE a=1)"},
			{"Statement":"INSERT INTO two VALUE {'pk':1}"}]}`, []string{"PartiQLSelect one", "PartiQLInsert two"}},
	} {
		r, err := New(Config{}).decode(c.operation, c.body)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r.touches("", func(action, table string) { got = append(got, action+" "+table) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

type noRoomError struct{ error }

func (noRoomError) RetryAfter() time.Duration { return time.Second }

func (e noRoomError) Unwrap() error { return e.error }

// Temporary problems are reported as such, so that clients retry, and not as a failure of the node.
func TestRefusedForNow(t *testing.T) {
	away := fault.New(fault.Unavailable, "budget_entries", "too much waits for the cloud")
	for _, tt := range []struct {
		err    error
		logged bool
	}{{away, true}, {noRoomError{away}, false}} {
		e := new(API).refusal(tt.err)
		if e.Status != http.StatusServiceUnavailable || e.name() != "ServiceUnavailableException" || e.Message != away.Message ||
			(e.cause != nil) != tt.logged {
			t.Errorf("%d %v, cause %v", e.Status, e, e.cause)
		}
	}
}

// Permission is checked for the table that the operation then uses, whatever else an ARN contains.
func TestPermissionIsAskedForWhatIsHit(t *testing.T) {
	arn := "arn:table/allowed/:dynamodb:us-east-1:000000000000:table/secret"
	stream := arn + "/stream/2026-01-01T00:00:00.000"
	for operation, body := range map[string]string{
		"DescribeStream":     `{"StreamArn":"` + stream + `"}`,
		"GetShardIterator":   `{"StreamArn":"` + stream + `","ShardId":"` + strings.Repeat("s", 30) + `","ShardIteratorType":"LATEST"}`,
		"GetRecords":         `{"ShardIterator":"` + opaque(shardIterator{Stream: stream, Made: time.Now()}) + `"}`,
		"TagResource":        `{"ResourceArn":"` + arn + `","Tags":[]}`,
		"UntagResource":      `{"ResourceArn":"` + arn + `","TagKeys":[]}`,
		"ListTagsOfResource": `{"ResourceArn":"` + arn + `"}`,
		"GetItem":            `{"TableName":"` + arn + `","Key":{}}`,
	} {
		r, err := New(Config{}).decode(operation, body)
		if err != nil {
			t.Fatal(err)
		}
		if got := accessOf(operation, r).tables; len(got) != 1 || got[0] != "secret" {
			t.Errorf("%s is allowed by %q", operation, got)
		}
	}
	if table, _, ok := streamOfARN(stream); !ok || table != "secret" {
		t.Errorf("the stream is of %q, %v", table, ok)
	}
}

// A list of empty elements takes at most a few times the memory of its text.
func TestListsOfTheEmpty(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 101_000 // just above the limit of 100,000 elements
	}
	many := func(element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
	numbered := func(format string) string {
		var b []byte
		before, after, _ := strings.Cut(format, "%d")
		for i := range n {
			b = append(strconv.AppendInt(append(b, before...), int64(i), 10), after+","...)
		}
		return strings.TrimSuffix(string(b), ",")
	}
	for name, c := range map[string]struct{ operation, body string }{
		"keys":       {"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[` + many(`{}`) + `]}}}`},
		"get tables": {"BatchGetItem", `{"RequestItems":{` + numbered(`"!%d":{}`) + `}}`},
		"attributes": {"BatchGetItem", `{"RequestItems":{"tab":{"Keys":[{}],"AttributesToGet":[` + numbered(`"%d"`) + `]}}}`},
		"writes":     {"BatchWriteItem", `{"RequestItems":{"tab":[` + many(`{}`) + `]}}`},
		"tables":     {"BatchWriteItem", `{"RequestItems":{` + numbered(`"!%d":[]`) + `}}`},
		"actions":    {"TransactWriteItems", `{"TransactItems":[` + many(`{"Put":{}}`) + `]}`},
		"gets":       {"TransactGetItems", `{"TransactItems":[` + many(`{"Get":{}}`) + `]}`},
		"again":      {"TransactGetItems", `{` + many(`"TransactItems":[{}]`) + `}`},
		"statements": {"BatchExecuteStatement", `{"Statements":[` + many(`{}`) + `]}`},
		"parts":      {"ExecuteTransaction", `{"TransactStatements":[` + many(`{}`) + `]}`},
		"parameters": {"ExecuteStatement", `{"Statement":"x","Parameters":[` + many(`{}`) + `]}`},
		"names":      {"GetItem", `{"ExpressionAttributeNames":{` + numbered(`"#%d":""`) + `}}`},
		"values":     {"PutItem", `{"ExpressionAttributeValues":{` + numbered(`":%d":{}`) + `}}`},
		"expected":   {"PutItem", `{"Expected":{` + numbered(`"%d":{}`) + `}}`},
		"updates":    {"UpdateItem", `{"AttributeUpdates":{` + numbered(`"%d":{}`) + `}}`},
		"filter":     {"Scan", `{"ScanFilter":{` + numbered(`"%d":{}`) + `}}`},
		"in":         {"Scan", `{"ScanFilter":{"a":{"AttributeValueList":[` + many(`{}`) + `]}}}`},
	} {
		var before, behind runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r, err := New(Config{}).decode(c.operation, c.body)
		runtime.ReadMemStats(&behind)
		if _, ok := errors.AsType[*Error](err); err == nil || !ok && !strings.Contains(err.Error(), "100000 elements") {
			t.Errorf("%s: %.200v, %T", name, err, r)
		}
		if took := (behind.TotalAlloc - before.TotalAlloc) >> 20; took > 150 {
			t.Errorf("%s: %d MB for a text of %d MB", name, took, len(c.body)>>20)
		}
		runtime.KeepAlive(r)
	}
}
