//go:build long

package simcloud_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// The simulated cloud answers every random sequence of operations like DynamoDB Local: results, classes of errors, ALL_OLD images,
// reasons of transactions, pages.
func TestAsDynamoDBLocal(t *testing.T) {
	amazon := &local{Server: ddblocal.Start(t), t: t}
	for _, spec := range specs() {
		amazon.create(spec)
	}
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		sim := simcloud.New(simcloud.Options{})
		sim.Create(specs()...)
		d := drawer{T: rt, run: run}
		for step := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			d.step = step
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0, 1:
				calls, token := d.transaction(), d.token()
				got, want := tellError(sim.Transact("n", calls, token)), tellError(amazon.transact(calls, token))
				if got != want && !localSplit(got, want) {
					rt.Fatalf("transaction %s\n%s\n sim: %s\nreal: %s", token, tellCalls(calls), got, want)
				}
			case 2:
				r := d.reading()
				got, err := readAll(sim.Read, r)
				want, errReal := readAll(amazon.read, r)
				if got != want || tellError(err) != tellError(errReal) {
					rt.Fatalf("%+v\n sim: %s %v\nreal: %s %v", r, got, err, want, errReal)
				}
			default:
				call := d.call(false)
				after, err := sim.Write("n", call)
				realAfter, errReal := amazon.write(call)
				if got, want := tellItem(after)+tellError(err), tellItem(realAfter)+tellError(errReal); got != want {
					rt.Fatalf("%s\n sim: %.500s\nreal: %.500s\n%v\n%v", tellCalls([]intent.Call{call}), got, want, err, errReal)
				}
			}
		}
	})
}

func specs() []store.TableSpec {
	key := func(name string, t store.KeyType) store.KeyAttr { return store.KeyAttr{Name: name, Type: t} }
	return []store.TableSpec{
		{Name: "plain", Key: store.KeySpec{Partition: key("pk", store.KeyString)}, Policy: store.PolicyIntent, Why: "test"},
		{
			Name: "sorted", Key: store.KeySpec{Partition: key("pk", store.KeyString), Sort: key("sk", store.KeyNumber)},
			Indexes: []store.IndexSpec{{Name: "byGroup", Key: store.KeySpec{Partition: key("g", store.KeyString)}}},
			Policy:  store.PolicyIntent, Why: "test",
		},
	}
}

func tellItem(it attr.Item) string {
	if it == nil {
		return "none "
	}
	return string(attr.AppendJSON(nil, it)) + " "
}

func tellError(err error) string {
	e, ok := errors.AsType[*intent.Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	out := e.Class.String()
	if e.Class == intent.ConditionFailed {
		out += " " + tellItem(e.Old)
	}
	for _, r := range e.Reasons {
		out += "; " + r.Class.String()
		if r.Class == intent.ConditionFailed {
			out += " " + tellItem(r.Old)
		}
	}
	return out
}

// localSplit recognizes the two differences. An update that does not fit its item is a cancellation reason of the service, but DynamoDB
// Local refuses the whole request (see store/storetest/DIFFERENCES.md). And after an invalid action the service gives no reasons.
func localSplit(sim, other string) bool {
	for _, class := range []string{"; validation", "; too large"} {
		before, _, found := strings.Cut(sim, class)
		if theirs, _, too := strings.Cut(other, class); found && too && before == theirs {
			return true
		}
	}
	return strings.HasPrefix(sim, "canceled") &&
		(strings.Contains(sim, "; validation") && other == "validation" || strings.Contains(sim, "; too large") && other == "too large")
}

func tellCalls(calls []intent.Call) string {
	var b strings.Builder
	for i := range calls {
		c := &calls[i]
		fmt.Fprintf(&b, "%s %s key %.200s item %.200s update %q condition %q values %.300s\n", c.Op, c.Table, tellItem(c.Key),
			tellItem(c.Item), c.Update, c.Condition, tellItem(c.Values))
	}
	return b.String()
}

// readAll reads all pages and returns the items as a set: across partitions DynamoDB has an order of its own.
func readAll(read func(remote.Reading) (remote.Page, error), r remote.Reading) (string, error) {
	var items []string
	for {
		page, err := read(r)
		if err != nil {
			return "", err
		}
		for _, it := range page.Items {
			items = append(items, tellItem(it))
		}
		if r.After = page.LastKey; r.After == nil {
			break
		}
	}
	if r.KeyCondition == "" {
		slices.Sort(items)
	}
	return strings.Join(items, "\n"), nil
}

// local uses DynamoDB Local.
type local struct {
	*ddblocal.Server
	t *testing.T
}

func (l *local) create(spec store.TableSpec) {
	type m = map[string]any
	defs := []m{{"AttributeName": "pk", "AttributeType": "S"}}
	keys := []m{{"AttributeName": "pk", "KeyType": "HASH"}}
	request := m{"TableName": spec.Name, "BillingMode": "PAY_PER_REQUEST"}
	if spec.Key.Sort.Name != "" {
		keys = append(keys, m{"AttributeName": "sk", "KeyType": "RANGE"})
		defs = append(defs, m{"AttributeName": "sk", "AttributeType": "N"}, m{"AttributeName": "g", "AttributeType": "S"})
		request["GlobalSecondaryIndexes"] = []m{{
			"IndexName": "byGroup", "KeySchema": []m{{"AttributeName": "g", "KeyType": "HASH"}},
			"Projection": m{"ProjectionType": "ALL"},
		}}
	}
	request["KeySchema"], request["AttributeDefinitions"] = keys, defs
	if _, err := l.do("CreateTable", request); err != nil {
		l.t.Fatal(err)
	}
}

func (l *local) do(operation string, request any) (map[string]json.RawMessage, error) {
	body, err := json.Marshal(request)
	if err != nil {
		l.t.Fatal(err)
	}
	answer, err := l.Do(l.t.Context(), operation, body)
	if refused, ok := errors.AsType[*ddblocal.Error](err); ok {
		return nil, l.sort(refused)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(answer, &out); err != nil {
		l.t.Fatal(err)
	}
	return out, nil
}

// sort determines the class of a refusal.
func (l *local) sort(refused *ddblocal.Error) error {
	var b struct {
		Item                json.RawMessage
		CancellationReasons []struct {
			Code, Message string
			Item          json.RawMessage
		}
	}
	if err := json.Unmarshal(refused.Wire(), &b); err != nil {
		l.t.Fatal(err)
	}
	text := refused.Error()
	e := &intent.Error{Err: refused}
	switch {
	case strings.HasPrefix(text, "ConditionalCheckFailed"):
		e.Class, e.Old = intent.ConditionFailed, l.item(b.Item)
	case strings.HasPrefix(text, "TransactionCanceled"):
		e.Class = intent.Canceled
		for _, r := range b.CancellationReasons {
			reason := intent.Reason{Class: intent.Applied, Message: r.Message}
			switch {
			case r.Code == "ConditionalCheckFailed":
				reason.Class, reason.Old = intent.ConditionFailed, l.item(r.Item)
			case strings.Contains(r.Message, "Item size"):
				reason.Class = intent.TooLarge
			case r.Code != "None":
				reason.Class = intent.Validation
			}
			e.Reasons = append(e.Reasons, reason)
		}
	case strings.HasPrefix(text, "ResourceNotFound"):
		e.Class = intent.NoTable
	case strings.HasPrefix(text, "IdempotentParameterMismatch"):
		e.Class = intent.Unknown
	case strings.Contains(text, "Item size"):
		e.Class = intent.TooLarge
	case strings.HasPrefix(text, "Validation"):
		e.Class = intent.Validation
	default:
		l.t.Fatal(text)
	}
	return e
}

func (l *local) item(raw json.RawMessage) attr.Item {
	if len(raw) == 0 {
		return nil
	}
	it, err := attr.ParseJSON(raw)
	if err != nil {
		l.t.Fatal(err)
	}
	return it
}

func rawItem(it attr.Item) json.RawMessage { return attr.AppendJSON(nil, it) }

func wire(c *intent.Call) map[string]any {
	m := map[string]any{"TableName": c.Table, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
	if c.Op == store.OpPut {
		m["Item"] = rawItem(c.Item)
	} else {
		m["Key"] = rawItem(c.Key)
	}
	if c.Update != "" {
		m["UpdateExpression"] = c.Update
	}
	if c.Condition != "" {
		m["ConditionExpression"] = c.Condition
	}
	if len(c.Names) > 0 {
		m["ExpressionAttributeNames"] = c.Names
	}
	if len(c.Values) > 0 {
		m["ExpressionAttributeValues"] = rawItem(c.Values)
	}
	return m
}

func (l *local) write(c intent.Call) (attr.Item, error) {
	m := wire(&c)
	operation := map[store.Op]string{store.OpPut: "PutItem", store.OpUpdate: "UpdateItem", store.OpDelete: "DeleteItem"}[c.Op]
	if c.Op == store.OpUpdate {
		m["ReturnValues"] = "ALL_NEW"
	}
	out, err := l.do(operation, m)
	if err != nil {
		return nil, err
	}
	switch c.Op {
	case store.OpPut:
		return c.Item, nil
	case store.OpUpdate:
		return l.item(out["Attributes"]), nil
	}
	return nil, nil
}

func (l *local) transact(calls []intent.Call, token string) error {
	var items []any
	for i := range calls {
		kind := map[store.Op]string{0: "ConditionCheck", store.OpPut: "Put", store.OpUpdate: "Update", store.OpDelete: "Delete"}[calls[i].Op]
		items = append(items, map[string]any{kind: wire(&calls[i])})
	}
	request := map[string]any{"TransactItems": items}
	if token != "" {
		request["ClientRequestToken"] = token
	}
	_, err := l.do("TransactWriteItems", request)
	return err
}

func (l *local) read(r remote.Reading) (page remote.Page, err error) {
	m := map[string]any{"TableName": r.Table, "ConsistentRead": true}
	operation := "Scan"
	if r.KeyCondition != "" {
		operation = "Query"
		m["KeyConditionExpression"], m["ExpressionAttributeValues"] = r.KeyCondition, rawItem(r.Values)
	}
	if r.Limit > 0 {
		m["Limit"] = r.Limit
	}
	if r.After != nil {
		m["ExclusiveStartKey"] = rawItem(r.After)
	}
	out, err := l.do(operation, m)
	if err != nil {
		return page, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(out["Items"], &items); err != nil {
		l.t.Fatal(err)
	}
	for _, raw := range items {
		page.Items = append(page.Items, l.item(raw))
	}
	page.LastKey = l.item(out["LastEvaluatedKey"])
	return page, nil
}
