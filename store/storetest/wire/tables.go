package wire

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store"
)

type keyElement struct{ AttributeName, KeyType string }

type attribute struct{ AttributeName, AttributeType string }

// indexRequest describes an index.
type indexRequest struct {
	IndexName  string
	KeySchema  []keyElement
	Projection struct {
		ProjectionType   string
		NonKeyAttributes []string
	}
}

// tableRequest describes a table.
type tableRequest struct {
	TableName              string
	KeySchema              []keyElement
	AttributeDefinitions   []attribute
	GlobalSecondaryIndexes []indexRequest
	LocalSecondaryIndexes  []indexRequest
	BillingMode            string
}

func (t *Target) createTable(ctx context.Context, request []byte) (any, error) {
	var r tableRequest
	if err := read(request, &r); err != nil {
		return nil, err
	}
	spec := r.spec()
	return described("TableDescription", store.TableDescription{Spec: spec}), t.s.CreateTable(ctx, spec)
}

func (t *Target) updateTable(ctx context.Context, request []byte) (any, error) {
	var r struct {
		tableRequest
		GlobalSecondaryIndexUpdates []struct {
			Create *indexRequest
			Delete *struct{ IndexName string }
		}
	}
	if err := read(request, &r); err != nil {
		return nil, err
	}
	change := store.TableChange{Table: r.TableName}
	for _, u := range r.GlobalSecondaryIndexUpdates {
		if u.Create != nil {
			change.AddIndexes = append(change.AddIndexes, r.index(*u.Create, false))
		}
		if u.Delete != nil {
			change.DropIndexes = append(change.DropIndexes, u.Delete.IndexName)
		}
	}
	if err := t.s.UpdateTable(ctx, change); err != nil {
		return nil, err
	}
	return t.describe("TableDescription", r.TableName)
}

func (t *Target) deleteTable(ctx context.Context, request []byte) (any, error) {
	var r struct{ TableName string }
	if err := read(request, &r); err != nil {
		return nil, err
	}
	answer, err := t.describe("TableDescription", r.TableName)
	if err != nil {
		return nil, err
	}
	return answer, t.s.DropTable(ctx, r.TableName)
}

// describeTable also does a slice of the store's housekeeping: nobody else does, and whoever asks may be waiting for it.
func (t *Target) describeTable(ctx context.Context, request []byte) (any, error) {
	var r struct{ TableName string }
	if err := read(request, &r); err != nil {
		return nil, err
	}
	if _, err := t.s.Housekeep(ctx); err != nil {
		return nil, err
	}
	return t.describe("Table", r.TableName)
}

func (t *Target) listTables(_ context.Context, request []byte) (any, error) {
	names := []string{}
	for _, spec := range t.s.Tables() {
		names = append(names, spec.Name)
	}
	return map[string]any{"TableNames": names}, read(request, &struct{}{})
}

func (t *Target) describe(as, table string) (any, error) {
	d, err := t.s.Describe(table)
	return described(as, d), err
}

// described is a table as DynamoDB describes it.
func described(as string, d store.TableDescription) any {
	var defs []attribute
	schema := func(k store.KeySpec) []keyElement {
		elements := []keyElement{{k.Partition.Name, "HASH"}}
		attrs := []store.KeyAttr{k.Partition}
		if k.Sort.Name != "" {
			elements, attrs = append(elements, keyElement{k.Sort.Name, "RANGE"}), append(attrs, k.Sort)
		}
		for _, a := range attrs {
			if def := (attribute{a.Name, string(a.Type)}); !slices.Contains(defs, def) {
				defs = append(defs, def)
			}
		}
		return elements
	}
	table := map[string]any{"TableName": d.Spec.Name, "TableStatus": "ACTIVE", "KeySchema": schema(d.Spec.Key)}
	lists := map[bool][]any{}
	for _, ix := range d.Spec.Indexes {
		projection := map[string]any{"ProjectionType": [...]string{"ALL", "KEYS_ONLY", "INCLUDE"}[ix.Projection]}
		if len(ix.Include) > 0 {
			projection["NonKeyAttributes"] = ix.Include
		}
		one := map[string]any{"IndexName": ix.Name, "KeySchema": schema(ix.Key), "Projection": projection}
		if !ix.Local {
			one["IndexStatus"] = statusOf(d, ix.Name)
		}
		lists[ix.Local] = append(lists[ix.Local], one)
	}
	for local, name := range map[bool]string{true: "LocalSecondaryIndexes", false: "GlobalSecondaryIndexes"} {
		if len(lists[local]) > 0 {
			table[name] = lists[local]
		}
	}
	table["AttributeDefinitions"] = defs
	return map[string]any{as: table}
}

func (r tableRequest) spec() store.TableSpec {
	spec := store.TableSpec{Name: r.TableName, Key: r.key(r.KeySchema), Policy: store.PolicyLocal, Why: "a test's"}
	for _, ix := range r.GlobalSecondaryIndexes {
		spec.Indexes = append(spec.Indexes, r.index(ix, false))
	}
	for _, ix := range r.LocalSecondaryIndexes {
		spec.Indexes = append(spec.Indexes, r.index(ix, true))
	}
	return spec
}

func (r tableRequest) index(ix indexRequest, local bool) store.IndexSpec {
	projections := map[string]store.Projection{
		"ALL": store.ProjectAll, "KEYS_ONLY": store.ProjectKeysOnly, "INCLUDE": store.ProjectInclude,
	}
	return store.IndexSpec{
		Name: ix.IndexName, Local: local, Key: r.key(ix.KeySchema),
		Projection: projections[ix.Projection.ProjectionType], Include: ix.Projection.NonKeyAttributes,
	}
}

func (r tableRequest) key(schema []keyElement) (k store.KeySpec) {
	for _, e := range schema {
		a := store.KeyAttr{Name: e.AttributeName}
		for _, d := range r.AttributeDefinitions {
			if d.AttributeName == e.AttributeName && d.AttributeType != "" {
				a.Type = store.KeyType(d.AttributeType[0])
			}
		}
		if e.KeyType == "HASH" {
			k.Partition = a
		} else {
			k.Sort = a
		}
	}
	return k
}

func statusOf(d store.TableDescription, index string) string {
	for _, ix := range d.Indexes {
		if ix.Name == index && ix.Status == store.IndexCreating {
			return "CREATING"
		}
	}
	return "ACTIVE"
}
