package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Shape describes the table of a random sequence: partition key pk, and a sort key sk of type S, N or B, or none. It has a global index
// of each projection, all (g, h), key (g) and inc (n), and with a sort key the local index loc (o).
type Shape struct {
	Name string // of the table
	Sort string // type of the sort key; empty: none
}

// CreateTable returns the request that creates the table.
func (s Shape) CreateTable() string {
	type m = map[string]any
	key := func(names ...string) (out []m) {
		for i, name := range names {
			out = append(out, m{"AttributeName": name, "KeyType": []string{"HASH", "RANGE"}[i]})
		}
		return out
	}
	index := func(name string, schema []m, projection m) m {
		return m{"IndexName": name, "KeySchema": schema, "Projection": projection}
	}
	request := m{
		"TableName": s.Name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": key("pk"),
		"GlobalSecondaryIndexes": []m{
			index("all", key("g", "h"), m{"ProjectionType": "ALL"}),
			index("key", key("g"), m{"ProjectionType": "KEYS_ONLY"}),
			index("inc", key("n"), m{"ProjectionType": "INCLUDE", "NonKeyAttributes": []string{"s", "m"}}),
		},
	}
	types := map[string]string{"pk": "S", "g": "S", "h": "N", "n": "N"}
	if s.Sort != "" {
		request["KeySchema"] = key("pk", "sk")
		request["LocalSecondaryIndexes"] = []m{index("loc", key("pk", "o"), m{"ProjectionType": "KEYS_ONLY"})}
		types["sk"], types["o"] = s.Sort, "N"
	}
	var defs []m
	for _, name := range slices.Sorted(maps.Keys(types)) {
		defs = append(defs, m{"AttributeName": name, "AttributeType": types[name]})
	}
	request["AttributeDefinitions"] = defs
	out, err := json.Marshal(request)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// Random sends the same random requests to two targets, which already have the table of the shape, and fails if an answer differs. Known
// differences (see Differences) are ignored or avoided. A failure shows the requests in the format of the suite's files.
func Random(rt *rapid.T, ctx context.Context, shape Shape, local, ours Target) { //nolint:revive // rapid.T goes first, as in all of rapid
	words, err := knownWords()
	if err != nil {
		rt.Fatal(err)
	}
	steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) *Step { return draw{rt, shape}.step() }), 5, 40).Draw(rt, "steps")
	for i, s := range steps {
		want, err := askRandom(ctx, local, s)
		if err != nil {
			rt.Fatalf("DynamoDB Local: %v\n%s", err, s.head)
		}
		got, err := askRandom(ctx, ours, s)
		if err != nil {
			rt.Fatalf("our store: %v\n%s", err, s.head)
		}
		if !words.sameAnswer(want, got, slices.Contains(s.Modes, "several")) {
			// Rapid considers failures with the same text the same, so the details must not be in it.
			rt.Logf("local %s\nours  %s\n%s", want, got, transcript(shape, steps[:i+1]))
			rt.Fatal("the answers differ")
		}
	}
}

// GoString returns what rapid shows of a step.
func (s *Step) GoString() string { return s.head }

// askRandom returns an answer with its numbers in normal form. For Query and Scan it joins all pages.
func askRandom(ctx context.Context, target Target, s *Step) (Answer, error) {
	r := runner{target: target, patterns: newPatterns(nil)}
	a, err := r.send(ctx, s, 1)
	if err != nil || a.Body == "" {
		return a, err
	}
	body, err := decode([]byte(a.Body))
	if err != nil {
		return a, err
	}
	normalNumbers(body)
	tidy(s.Operation, s.Modes, body) // sorting is by text, which has changed
	if i := slices.IndexFunc(s.Modes, func(m string) bool { return strings.HasPrefix(m, "by=") }); i >= 0 {
		orderTies(body, strings.TrimPrefix(s.Modes[i], "by="))
	}
	a.Body = canonical(body)
	return a, nil
}

// orderTies sorts items with the same value of the sorting attribute, whose order DynamoDB leaves open. Without an attribute it sorts all
// items.
func orderTies(body map[string]any, attribute string) {
	items, _ := body["Items"].([]any)
	value := func(i int) string {
		it, _ := items[i].(map[string]any)
		return canonical(it[attribute])
	}
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && value(to) == value(from) {
			to++
		}
		sortAny(items[from:to])
		from = to
	}
}

// transcript formats the requests like a file of the suite.
func transcript(shape Shape, steps []*Step) string {
	var out strings.Builder
	fmt.Fprintf(&out, "table %s\n\ncase found\n", shape.CreateTable())
	for _, s := range steps {
		fmt.Fprintln(&out, s.head)
	}
	return out.String()
}
