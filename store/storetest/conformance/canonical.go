package conformance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// canonical formats JSON with sorted names and sets, and long runs of one letter as %{x*400}.
func canonical(v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(normal(v)); err != nil {
		return err.Error()
	}
	return contract(strings.TrimSuffix(out.String(), "\n"))
}

// normal sorts the sets in a JSON value.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, elem := range v {
			v[name] = normal(elem)
		}
		for _, set := range []string{"SS", "NS", "BS"} {
			if members, ok := v[set].([]any); ok && len(v) == 1 {
				sortAny(members)
			}
		}
	case []any:
		for i, elem := range v {
			v[i] = normal(elem)
		}
	}
	return v
}

// sortAny sorts values by their JSON.
func sortAny(list []any) {
	text := func(v any) string {
		out, _ := json.Marshal(v)
		return string(out)
	}
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(text(a), text(b)) })
}

// tidy removes from an answer what differs between targets (times, ids, throughput), and sorts what has no order.
func tidy(operation string, modes []string, answer map[string]any) {
	delete(answer, "ConsumedCapacity") // has a test of its own
	switch operation {
	case "Scan":
		sortItems(answer)
		if answer["LastEvaluatedKey"] != nil {
			// Which items are on a page depends on the target.
			answer["LastEvaluatedKey"] = "some"
			delete(answer, "Items")
		}
	case "Query":
		if slices.Contains(modes, "set") {
			sortItems(answer)
		}
	case "BatchGetItem":
		responses, _ := answer["Responses"].(map[string]any)
		for _, items := range responses {
			if list, ok := items.([]any); ok {
				normal(list)
				sortAny(list)
			}
		}
		if slices.Contains(modes, "count") {
			countKeys(answer)
		}
	case "CreateTable", "UpdateTable", "DeleteTable", "DescribeTable":
		tidyTable(operation, answer)
	}
}

// countKeys reduces an oversized BatchGetItem to the number of items returned and of keys left, because which ones are returned depends
// on the target.
func countKeys(answer map[string]any) {
	responses, _ := answer["Responses"].(map[string]any)
	for table, items := range responses {
		if list, ok := items.([]any); ok {
			responses[table] = len(list)
		}
	}
	rest, _ := answer["UnprocessedKeys"].(map[string]any)
	for _, request := range rest {
		if request, ok := request.(map[string]any); ok {
			keys, _ := request["Keys"].([]any)
			request["Keys"] = len(keys)
		}
	}
}

func sortItems(answer map[string]any) {
	if items, ok := answer["Items"].([]any); ok {
		normal(items)
		sortAny(items)
	}
}

// tidyTable reduces a table's description to its definition and, for DescribeTable, the states: right after a change these depend on how
// fast a target is.
func tidyTable(operation string, answer map[string]any) {
	name, keep := "TableDescription", []string{
		"TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes",
	}
	indexKeep := []string{"IndexName", "KeySchema", "Projection"}
	if operation == "DescribeTable" {
		name, keep, indexKeep = "Table", append(keep, "TableStatus"), append(indexKeep, "IndexStatus")
	}
	table, ok := answer[name].(map[string]any)
	if !ok {
		return
	}
	keepMembers(table, keep)
	if defs, ok := table["AttributeDefinitions"].([]any); ok {
		sortAny(defs)
	}
	for _, kind := range []string{"GlobalSecondaryIndexes", "LocalSecondaryIndexes"} {
		indexes, _ := table[kind].([]any)
		for _, ix := range indexes {
			if ix, ok := ix.(map[string]any); ok {
				keepMembers(ix, indexKeep)
			}
		}
		sortAny(indexes)
	}
}

func keepMembers(v map[string]any, names []string) {
	for name := range v {
		if !slices.Contains(names, name) {
			delete(v, name)
		}
	}
}
