package dynamoapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store/storetest"
)

// modelItem is an item of the model's table: pk is one letter, sk and n are small numbers; n -1 means that it is missing.
type modelItem struct {
	pk    string
	sk, n int
}

// modelCond is a condition as text, with its meaning.
type modelCond struct {
	text  string
	holds func(modelItem) bool
}

func modelLeaf(t *rapid.T) modelCond {
	switch rapid.IntRange(0, 9).Draw(t, "leaf") {
	case 0, 1, 2:
		v := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "pk")
		text := rapid.SampledFrom([]string{"pk='%s'", "'%s'=pk", "pk IN ['%s']", "(pk='%s')"}).Draw(t, "form")
		return modelCond{fmt.Sprintf(text, v), func(it modelItem) bool { return it.pk == v }}
	case 3:
		v := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 3, rapid.ID).Draw(t, "pks")
		return modelCond{"pk IN ('" + strings.Join(v, "','") + "')", func(it modelItem) bool { return slices.Contains(v, it.pk) }}
	case 4:
		v := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "pk")
		return modelCond{"pk<>'" + v + "'", func(it modelItem) bool { return it.pk != v }}
	case 5:
		v := rapid.SliceOfNDistinct(rapid.IntRange(0, 5), 1, 3, rapid.ID).Draw(t, "sks")
		var texts []string
		for _, n := range v {
			texts = append(texts, strconv.Itoa(n))
		}
		return modelCond{"sk IN [" + strings.Join(texts, ",") + "]", func(it modelItem) bool { return slices.Contains(v, it.sk) }}
	case 6:
		low := rapid.IntRange(0, 4).Draw(t, "low")
		high := rapid.IntRange(low, 5).Draw(t, "high")
		return modelCond{fmt.Sprintf("sk BETWEEN %d AND %d", low, high), func(it modelItem) bool { return low <= it.sk && it.sk <= high }}
	case 7:
		return modelCond{"n IS MISSING", func(it modelItem) bool { return it.n < 0 }}
	}
	return modelComparison(t)
}

func modelComparison(t *rapid.T) modelCond {
	name := rapid.SampledFrom([]string{"sk", "n"}).Draw(t, "attribute")
	v := rapid.IntRange(0, 5).Draw(t, "value")
	op := rapid.SampledFrom([]string{"=", "<>", "!=", "<", "<=", ">", ">="}).Draw(t, "op")
	holds := func(it modelItem) bool {
		of := it.sk
		if name == "n" {
			of = it.n
		}
		switch {
		case of < 0:
			return op == "<>" || op == "!="
		case op == "=":
			return of == v
		case op == "<":
			return of < v
		case op == "<=":
			return of <= v
		case op == ">":
			return of > v
		case op == ">=":
			return of >= v
		}
		return of != v
	}
	return modelCond{fmt.Sprintf("%s %s %d", name, op, v), holds}
}

func modelCondition(t *rapid.T, depth int) modelCond {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 || kind < 3 {
		return modelLeaf(t)
	}
	a, b := modelCondition(t, depth-1), modelCondition(t, depth-1)
	switch kind {
	case 3, 4, 5:
		return modelCond{"(" + a.text + ") AND (" + b.text + ")", func(it modelItem) bool { return a.holds(it) && b.holds(it) }}
	case 6:
		return modelCond{"(" + a.text + ") OR (" + b.text + ")", func(it modelItem) bool { return a.holds(it) || b.holds(it) }}
	}
	if depth == 1 {
		return modelCond{"(" + a.text + ") = (" + b.text + ")", func(it modelItem) bool { return a.holds(it) == b.holds(it) }}
	}
	return modelCond{"NOT (" + a.text + ")", func(it modelItem) bool { return !a.holds(it) }}
}

// TestPartiQLSelectModel compares the result of a SELECT, page by page, with all items that satisfy its condition, however it is read.
func TestPartiQLSelectModel(t *testing.T) {
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
	mustDo(t, api, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`)
	var all []modelItem
	for i, pk := range []string{"a", "b", "c"} {
		for sk := range 5 {
			it := modelItem{pk, sk, (sk+i)%4 - 1}
			n := ""
			if it.n >= 0 {
				n = fmt.Sprintf(",'n':%d", it.n)
			}
			mustDo(t, api, "ExecuteStatement", executing(fmt.Sprintf("INSERT INTO tab VALUE {'pk':'%s','sk':%d%s}", pk, sk, n)))
			all = append(all, it)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		where := modelCondition(rt, 3)
		limit := rapid.IntRange(0, 4).Draw(rt, "limit")
		var want []string
		for _, it := range all {
			if where.holds(it) {
				want = append(want, fmt.Sprint(it.pk, it.sk))
			}
		}
		got, err := pages(t, api, "SELECT pk, sk FROM tab WHERE "+where.text, limit)
		if err != nil && strings.Contains(err.Error(), "Overlapping conditions") {
			return // a repeated value
		}
		if err != nil && strings.Contains(err.Error(), "Unsupported operator") && strings.Count(where.text, ") = (") > 3 {
			return // each comparison of conditions is written twice, and at most three are accepted
		}
		if err != nil {
			rt.Fatalf("%s: %v", where.text, err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s\ngot  %v\nwant %v", where.text, got, want)
		}
	})
}

// pages reads all pages of a SELECT of pk and sk. No page may exceed the limit.
func pages(t *testing.T, api *dynamoapi.API, text string, limit int) (all []string, err error) {
	var more []string
	if limit > 0 {
		more = []string{fmt.Sprintf(`"Limit":%d`, limit)}
	}
	for token := ""; ; {
		members := more
		if token != "" {
			members = append(members, `"NextToken":"`+token+`"`)
		}
		answer, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing(text, members...)))
		if err != nil {
			return nil, err
		}
		var page struct {
			Items []struct {
				PK struct{ S string } `json:"pk"`
				SK struct{ N string } `json:"sk"`
			}
			NextToken string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, err
		}
		if limit > 0 && len(page.Items) > limit {
			return nil, fmt.Errorf("%d items in a page of %d", len(page.Items), limit)
		}
		for _, it := range page.Items {
			all = append(all, it.PK.S+it.SK.N)
		}
		if token = page.NextToken; token == "" {
			return all, nil
		}
	}
}

// TestPartiQLOrder reads in the requested order, over several pages.
func TestPartiQLOrder(t *testing.T) {
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t)})
	mustDo(t, api, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]}`)
	for _, it := range []string{"'a','sk':1", "'a','sk':2", "'b','sk':1", "'b','sk':2", "'c','sk':9"} {
		mustDo(t, api, "ExecuteStatement", executing("INSERT INTO tab VALUE {'pk':"+it+"}"))
	}
	for text, want := range map[string]string{
		"pk='a'":                                                    "a1 a2",
		"pk='a' ORDER BY sk DESC":                                   "a2 a1",
		"pk='a' ORDER BY pk DESC":                                   "a1 a2",
		"pk IN ['b','a'] ORDER BY pk":                               "a1 a2 b1 b2",
		"pk IN ['b','a'] ORDER BY pk DESC":                          "b1 b2 a1 a2",
		"pk IN ['a','b'] ORDER BY sk DESC":                          "a2 a1 b2 b1",
		"pk='b' OR pk='a' ORDER BY pk, sk DESC":                     "a2 a1 b2 b1",
		"pk IN ['a','b'] AND sk IN [2,1] ORDER BY pk DESC, sk DESC": "b2 b1 a2 a1",
	} {
		for limit := range 4 {
			if got, err := pages(t, api, "SELECT * FROM tab WHERE "+text, limit); err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s, pages of %d: got %v, %v, want %s", text, limit, got, err, want)
			}
		}
	}
}

// TestPartiQLToken uses tokens where they are not valid.
func TestPartiQLToken(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	api := dynamoapi.New(dynamoapi.Config{Store: storetest.Open(t), Now: func() time.Time { return now }})
	mustDo(t, api, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}`)
	for _, pk := range []string{"a", "b", "c"} {
		mustDo(t, api, "ExecuteStatement", executing("INSERT INTO tab VALUE {'pk':'"+pk+"'}"))
	}
	const text = "SELECT * FROM tab WHERE pk<>?"
	param := func(v string) string { return `"Parameters":[{"S":"` + v + `"}]` }
	var page struct{ NextToken string }
	if err := json.Unmarshal([]byte(mustDo(t, api, "ExecuteStatement", executing(text, param("a"), `"Limit":2`))), &page); err != nil {
		t.Fatal(err)
	}
	token := func(v string) string { return `"NextToken":"` + v + `"` }
	if got := mustDo(t, api, "ExecuteStatement", executing(text, param("a"), token(page.NextToken))); got != `{"Items":[{"pk":{"S":"c"}}]}` {
		t.Errorf("the rest is %s", got)
	}
	for name, c := range map[string]struct{ body, want string }{
		"nonsense":            {executing(text, param("a"), token("abc")), "Invalid NextToken"},
		"another version":     {executing(text, param("a"), token("AAAA"+page.NextToken[4:])), "Invalid NextToken"},
		"cut off":             {executing(text, param("a"), token(page.NextToken[:len(page.NextToken)-8])), "Invalid NextToken"},
		"another parameter":   {executing(text, param("b"), token(page.NextToken)), "NextToken does not match request"},
		"another text":        {executing(text+" ", param("a"), token(page.NextToken)), "NextToken does not match request"},
		"an empty token":      {executing(text, param("a"), token("")), "1 validation error detected: Value '' at 'nextToken' failed to satisfy constraint: Member must have length greater than or equal to 1"},
		"no statement at all": {`{}`, "1 validation error detected: Value null at 'statement' failed to satisfy constraint: Member must not be null"},
	} {
		if _, err := api.Do(t.Context(), "ExecuteStatement", []byte(c.body)); err == nil || err.Error() != "ValidationException: "+c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	now = now.Add(time.Hour + time.Second)
	_, err := api.Do(t.Context(), "ExecuteStatement", []byte(executing(text, param("a"), token(page.NextToken))))
	if err == nil || err.Error() != "ValidationException: Given NextToken has already expired" {
		t.Errorf("an old token: %v", err)
	}
}
