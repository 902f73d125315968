package wire

import (
	"context"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// write is what PutItem, UpdateItem, DeleteItem and the parts of a TransactWriteItems have in common.
type write struct {
	TableName           string
	Item                attr.Item // of a put
	Key                 attr.Item // of the others
	UpdateExpression    string
	ConditionExpression string
	params
	ReturnValues                        string
	ReturnValuesOnConditionCheckFailure string
}

func (w write) put() store.PutItem {
	return store.PutItem{Table: w.TableName, Item: w.Item, Condition: w.ConditionExpression, Params: w.params.params()}
}

func (w write) update() store.UpdateItem {
	return store.UpdateItem{
		Table: w.TableName, Key: w.Key, Update: w.UpdateExpression, Condition: w.ConditionExpression, Params: w.params.params(),
	}
}

func (w write) delete() store.DeleteItem {
	return store.DeleteItem{Table: w.TableName, Key: w.Key, Condition: w.ConditionExpression, Params: w.params.params()}
}

// run makes the write in a transaction of its own.
func (t *Target) run(ctx context.Context, w write, do func(*store.Tx) (store.Images, error)) (any, error) {
	var im store.Images
	err := t.s.Update(ctx, func(tx *store.Tx) (err error) {
		im, err = do(tx)
		return err
	})
	if err != nil {
		return nil, withoutOld(err, w.ReturnValuesOnConditionCheckFailure)
	}
	var show attr.Item
	switch w.ReturnValues {
	case "ALL_OLD":
		show = im.Old
	case "ALL_NEW":
		show = im.New
	case "UPDATED_OLD":
		show = im.Updated().Old
	case "UPDATED_NEW":
		show = im.Updated().New
	}
	if len(show) == 0 {
		return map[string]any{}, nil
	}
	return map[string]any{"Attributes": show}, nil
}

func (t *Target) putItem(ctx context.Context, request []byte) (any, error) {
	var w write
	if err := read(request, &w); err != nil {
		return nil, err
	}
	return t.run(ctx, w, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Put(w.put())
		return im, err
	})
}

func (t *Target) updateItem(ctx context.Context, request []byte) (any, error) {
	var w write
	if err := read(request, &w); err != nil {
		return nil, err
	}
	return t.run(ctx, w, func(tx *store.Tx) (store.Images, error) { return tx.Update(w.update()) })
}

func (t *Target) deleteItem(ctx context.Context, request []byte) (any, error) {
	var w write
	if err := read(request, &w); err != nil {
		return nil, err
	}
	return t.run(ctx, w, func(tx *store.Tx) (im store.Images, err error) {
		im.Old, err = tx.Delete(w.delete())
		return im, err
	})
}

// get is a GetItem and a part of a TransactGetItems.
type get struct {
	TableName            string
	Key                  attr.Item
	ProjectionExpression string
	ConsistentRead       bool // every read of the store is
	params
}

func (g get) item() store.GetItem {
	return store.GetItem{Table: g.TableName, Key: g.Key, Projection: g.ProjectionExpression, Params: g.params.params()}
}

func (t *Target) getItem(ctx context.Context, request []byte) (any, error) {
	var g get
	if err := read(request, &g); err != nil {
		return nil, err
	}
	answer := map[string]any{}
	err := t.s.View(ctx, func(tx *store.Tx) error {
		it, err := tx.GetItem(g.item())
		if it != nil {
			answer["Item"] = it
		}
		return err
	})
	return answer, err
}
