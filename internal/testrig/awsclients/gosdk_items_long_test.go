//go:build long

package awsclients_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/store/attr"
)

// fill puts 40 items into partition p of table tab: n counts, even and g depend on it.
func fill(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	makeTable(t, c, "tab")
	for from := 0; from < 40; from += 20 {
		var puts []types.WriteRequest
		for n := from; n < from+20; n++ {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(n, map[string]types.AttributeValue{
				"n": number(n), "even": &types.AttributeValueMemberBOOL{Value: n%2 == 0}, "g": text(fmt.Sprint("g", n%3)),
				"name": text(fmt.Sprintf("name %02d", n)), "tags": &types.AttributeValueMemberSS{Value: []string{fmt.Sprint("t", n%4)}},
			})}})
		}
		got, err := c.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"tab": puts}})
		if err != nil || len(got.UnprocessedItems) > 0 {
			t.Fatal(err, got)
		}
	}
}

func TestGoSDKPaginators(t *testing.T) {
	ctx := t.Context()
	c := client(endpoint(t))
	fill(t, c)
	var pages []int
	var found []string
	for p := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: aws.String("tab"), Limit: aws.Int32(15), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("p")}, ScanIndexForward: aws.Bool(false),
	}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, len(page.Items))
		found = append(found, names(page.Items)...)
	}
	if fmt.Sprint(pages) != "[15 15 10]" || len(found) != 40 || found[0] != "name 39" || found[39] != "name 00" {
		t.Errorf("a query: %v, %v", pages, found)
	}
	found = nil
	for segment := range int32(3) {
		for p := dynamodb.NewScanPaginator(c, &dynamodb.ScanInput{
			TableName: aws.String("tab"), Limit: aws.Int32(4), Segment: &segment, TotalSegments: aws.Int32(3), IndexName: aws.String("byG"),
		}); p.HasMorePages(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, names(page.Items)...)
		}
	}
	slices.Sort(found)
	if len(slices.Compact(slices.Clone(found))) != 40 || len(found) != 40 {
		t.Errorf("a parallel scan: %v", found)
	}
	keys := []map[string]types.AttributeValue{key(1), key(2), key(99)}
	batch := dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"tab": {Keys: keys}}}
	got, err := c.BatchGetItem(ctx, &batch)
	if err != nil || len(got.Responses["tab"]) != 2 || len(got.UnprocessedKeys) != 0 {
		t.Errorf("a batch of reads: %v, %v", got, err)
	}
}

func names(items []map[string]types.AttributeValue) (out []string) {
	for _, it := range items {
		out = append(out, it["name"].(*types.AttributeValueMemberS).Value)
	}
	return out
}

// filters has the conditions that the expression builder can make, and what they find among the 40.
func filters() map[string]struct {
	of   expression.ConditionBuilder
	want string
} {
	n, name := expression.Name("n"), expression.Name("name")
	v := func(x any) expression.ValueBuilder { return expression.Value(x) }
	type filter = struct {
		of   expression.ConditionBuilder
		want string
	}
	return map[string]filter{
		"equal":        {n.Equal(v(7)), "7"},
		"not equal":    {n.NotEqual(v(7)).And(n.LessThan(v(9))), "0 1 2 3 4 5 6 8"},
		"less":         {n.LessThanEqual(v(2)), "0 1 2"},
		"greater":      {n.GreaterThan(v(38)).Or(n.GreaterThanEqual(v(38))), "38 39"},
		"between":      {n.Between(v(3), v(5)), "3 4 5"},
		"in":           {n.In(v(1), v(11), v(111)), "1 11"},
		"not":          {expression.Not(n.GreaterThan(v(1))), "0 1"},
		"exists":       {expression.AttributeExists(n).And(expression.AttributeNotExists(expression.Name("x.y"))).And(n.Equal(v(1))), "1"},
		"begins with":  {name.BeginsWith("name 3"), "30 31 32 33 34 35 36 37 38 39"},
		"contains":     {expression.Name("tags").Contains("t1").And(n.LessThan(v(10))), "1 5 9"},
		"size":         {expression.Size(name).Equal(v(7)).And(n.Equal(v(4))), "4"},
		"type":         {expression.Name("even").AttributeType(expression.Boolean).And(n.Equal(v(6))), "6"},
		"equal truths": {expression.Name("even").Equal(v(true)).And(n.LessThan(v(5))), "0 2 4"},
	}
}

func TestGoSDKExpressions(t *testing.T) {
	ctx := t.Context()
	c := client(endpoint(t))
	fill(t, c)
	for what, f := range filters() {
		x, err := expression.NewBuilder().WithKeyCondition(expression.KeyEqual(expression.Key("pk"), expression.Value("p"))).
			WithFilter(f.of).WithProjection(expression.NamesList(expression.Name("sk"))).Build()
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String("tab"), KeyConditionExpression: x.KeyCondition(), FilterExpression: x.Filter(),
			ProjectionExpression: x.Projection(), ExpressionAttributeNames: x.Names(), ExpressionAttributeValues: x.Values(),
		})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var found []string
		for _, it := range got.Items {
			found = append(found, it["sk"].(*types.AttributeValueMemberN).Value)
		}
		if strings.Join(found, " ") != f.want {
			t.Errorf("%s: %v, want %s", what, found, f.want)
		}
	}
}

func TestGoSDKUpdates(t *testing.T) {
	ctx := t.Context()
	c := client(endpoint(t))
	fill(t, c)
	x, err := expression.NewBuilder().WithCondition(expression.Name("n").Equal(expression.Value(3))).WithUpdate(
		expression.Set(expression.Name("n"), expression.Name("n").Plus(expression.Value(4))).
			Set(expression.Name("l"), expression.ListAppend(expression.IfNotExists(expression.Name("l"), expression.Value([]int{})), expression.Value([]int{1}))).
			Remove(expression.Name("even")).Add(expression.Name("c"), expression.Value(2)).
			Delete(expression.Name("tags"), expression.Value(&types.AttributeValueMemberSS{Value: []string{"t3"}}))).Build()
	if err != nil {
		t.Fatal(err)
	}
	update := dynamodb.UpdateItemInput{
		TableName: aws.String("tab"), Key: key(3), UpdateExpression: x.Update(), ConditionExpression: x.Condition(),
		ExpressionAttributeNames: x.Names(), ExpressionAttributeValues: x.Values(), ReturnValues: types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	got, err := c.UpdateItem(ctx, &update)
	if err != nil {
		t.Fatal(err)
	}
	want := item(3, map[string]types.AttributeValue{
		"n": number(7), "g": text("g0"), "name": text("name 03"), "c": number(2),
		"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{number(1)}},
	})
	if !reflect.DeepEqual(got.Attributes, want) {
		t.Errorf("an update: %v", got.Attributes)
	}
	_, err = c.UpdateItem(ctx, &update)
	failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	if !ok || !reflect.DeepEqual(failed.Item, want) {
		t.Errorf("the same again: %v", err)
	}
	_, err = c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Delete: &types.Delete{TableName: aws.String("tab"), Key: key(4)}},
		{ConditionCheck: &types.ConditionCheck{
			TableName: aws.String("tab"), Key: key(3), ConditionExpression: x.Condition(), ExpressionAttributeNames: map[string]string{"#0": "n"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":0": number(3)},
		}},
	}})
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(cancelled.CancellationReasons) != 2 || *cancelled.CancellationReasons[0].Code != "None" ||
		*cancelled.CancellationReasons[1].Code != "ConditionalCheckFailed" {
		t.Errorf("a transaction that fails: %v", err)
	}
}

// sheet has a field of each kind that both attributevalue and our attr write.
type sheet struct {
	PK     string            `dynamodbav:"pk"`
	SK     int               `dynamodbav:"sk"`
	Text   string            `dynamodbav:"text"`
	Whole  int64             `dynamodbav:"whole"`
	Float  float64           `dynamodbav:"float"`
	Yes    bool              `dynamodbav:"yes"`
	Data   []byte            `dynamodbav:"data"`
	List   []string          `dynamodbav:"list"`
	Map    map[string]int    `dynamodbav:"map"`
	Nested *sheetPart        `dynamodbav:"nested"`
	None   *sheetPart        `dynamodbav:"none"`
	Left   string            `dynamodbav:"left,omitempty"`
	Hidden string            `dynamodbav:"-"`
	Many   []sheetPart       `dynamodbav:"many"`
	Texts  map[string]string `dynamodbav:"texts"`
}

type sheetPart struct {
	A int
	B []float64 `dynamodbav:"b"`
}

// TestGoSDKValues sends a struct converted by attributevalue, and decodes it with our attr, which must give the same.
func TestGoSDKValues(t *testing.T) {
	ctx := t.Context()
	e := endpoint(t)
	c := client(e)
	makeTable(t, c, "tab")
	in := sheet{
		PK: "p", SK: 1, Text: "é\"\n", Whole: -1 << 62, Float: 0.1, Yes: true, Data: []byte{0, 255}, List: []string{"", "b"},
		Map: map[string]int{"x": 1}, Nested: &sheetPart{A: 2, B: []float64{1.5, -2}}, Many: []sheetPart{{A: 1, B: []float64{}}},
		Texts: map[string]string{},
	}
	made, err := attributevalue.MarshalMap(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: made}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(1)})
	if err != nil {
		t.Fatal(err)
	}
	var out, mine sheet
	if err := attributevalue.UnmarshalMap(got.Item, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("through attributevalue: %+v, %v\nwant %+v", out, err, in)
	}
	stored := ourItem(t, got.Item)
	if err := attr.Unmarshal(stored, &mine); err != nil || !reflect.DeepEqual(in, mine) {
		t.Errorf("through attr: %+v, %v\nwant %+v", mine, err, in)
	}
	if ours, err := attr.Marshal(in); err != nil || !attr.EqualItems(ours, stored) {
		t.Errorf("attr makes of it\n%v, %v\nattributevalue\n%v", ours, err, stored)
	}
}

// ourItem decodes an item of the client with our attr.
func ourItem(t rapid.TB, of map[string]types.AttributeValue) attr.Item {
	t.Helper()
	data, err := json.Marshal(written(reflect.ValueOf(of)))
	if err != nil {
		t.Fatal(err)
	}
	it, err := attr.ParseJSON(data)
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return it
}

// TestGoSDKAnyValue sends random items.
func TestGoSDKAnyValue(t *testing.T) {
	c := client(endpoint(t))
	makeTable(t, c, "tab")
	rapid.Check(t, func(rt *rapid.T) {
		given := item(0, rapid.MapOfN(rapid.StringMatching(`[a-zA-Z. #:é]{1,9}`).Filter(notAKey),
			anyValue(3), 0, 6).Draw(rt, "item"))
		if _, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: given}); err != nil {
			rt.Fatal(err)
		}
		got, err := c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: key(0)})
		if err != nil {
			rt.Fatal(err)
		}
		if want := ourItem(rt, given); !attr.EqualItems(ourItem(rt, got.Item), want) {
			rt.Fatalf("%v came back as %v", want, ourItem(rt, got.Item))
		}
	})
}

// notAKey reports whether an attribute may have any type: keys of the table and its index may not.
func notAKey(name string) bool { return name != "pk" && name != "sk" && name != "g" }

// anyValue generates values of all kinds that nest up to depth levels.
func anyValue(depth int) *rapid.Generator[types.AttributeValue] {
	number := rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,18})?(e-?[0-9]{1,2})?`)
	data := rapid.SliceOfN(rapid.Byte(), 0, 20)
	kinds := []*rapid.Generator[types.AttributeValue]{
		rapid.Map(rapid.String(), text),
		rapid.Map(number, func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }),
		rapid.Map(data, func(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }),
		rapid.Map(rapid.Bool(), func(b bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: b} }),
		rapid.Just[types.AttributeValue](&types.AttributeValueMemberNULL{Value: true}),
		rapid.Map(rapid.SliceOfNDistinct(rapid.String(), 1, 4, rapid.ID), func(s []string) types.AttributeValue {
			return &types.AttributeValueMemberSS{Value: s}
		}),
		rapid.Map(rapid.SliceOfNDistinct(data, 1, 4, func(b []byte) string { return string(b) }), func(s [][]byte) types.AttributeValue {
			return &types.AttributeValueMemberBS{Value: s}
		}),
		rapid.Map(rapid.SliceOfNDistinct(rapid.Int64(), 1, 4, rapid.ID), func(s []int64) types.AttributeValue {
			var texts []string
			for _, n := range s {
				texts = append(texts, fmt.Sprint(n))
			}
			return &types.AttributeValueMemberNS{Value: texts}
		}),
	}
	if depth > 0 {
		deeper := rapid.Deferred(func() *rapid.Generator[types.AttributeValue] { return anyValue(depth - 1) })
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(deeper, 0, 3), func(l []types.AttributeValue) types.AttributeValue {
				return &types.AttributeValueMemberL{Value: l}
			}),
			rapid.Map(rapid.MapOfN(rapid.StringN(1, 5, -1), deeper, 0, 3), func(m map[string]types.AttributeValue) types.AttributeValue {
				return &types.AttributeValueMemberM{Value: m}
			}))
	}
	return rapid.OneOf(kinds...)
}
