package wire

import (
	"context"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// keysOf is what a BatchGetItem asks of one table.
type keysOf struct {
	Keys                 []attr.Item
	ProjectionExpression string `json:",omitempty"`
	ConsistentRead       bool   `json:",omitempty"` // every read of the store is
	params
}

func (t *Target) batchGet(ctx context.Context, request []byte) (any, error) {
	var r struct{ RequestItems map[string]keysOf }
	if err := read(request, &r); err != nil {
		return nil, err
	}
	in := store.BatchGet{}
	for table, k := range r.RequestItems {
		in[table] = store.KeysAndAttributes{Keys: k.Keys, Projection: k.ProjectionExpression, Params: k.params.params()}
	}
	var got store.BatchGetResult
	err := t.s.View(ctx, func(tx *store.Tx) (err error) {
		got, err = tx.BatchGet(in)
		return err
	})
	if err != nil {
		return nil, err
	}
	rest := map[string]any{}
	for table, k := range got.Unprocessed {
		one := map[string]any{"Keys": k.Keys}
		if k.Projection != "" {
			one["ProjectionExpression"] = k.Projection
		}
		if len(k.Names) > 0 {
			one["ExpressionAttributeNames"] = k.Names
		}
		rest[table] = one
	}
	responses := map[string][]attr.Item{}
	for table, items := range got.Items {
		responses[table] = append([]attr.Item{}, items...)
	}
	return map[string]any{"Responses": responses, "UnprocessedKeys": rest}, nil
}

func (t *Target) batchWrite(ctx context.Context, request []byte) (any, error) {
	var r struct {
		RequestItems map[string][]struct {
			PutRequest    *struct{ Item attr.Item }
			DeleteRequest *struct{ Key attr.Item }
		}
	}
	if err := read(request, &r); err != nil {
		return nil, err
	}
	in := store.BatchWrite{}
	for table, parts := range r.RequestItems {
		in[table] = []store.WriteRequest{}
		for _, part := range parts {
			var one store.WriteRequest
			if part.PutRequest != nil {
				one.Put = part.PutRequest.Item
			}
			if part.DeleteRequest != nil {
				one.Delete = part.DeleteRequest.Key
			}
			in[table] = append(in[table], one)
		}
	}
	return map[string]any{"UnprocessedItems": map[string]any{}},
		t.s.Update(ctx, func(tx *store.Tx) error { return tx.BatchWrite(in) })
}
