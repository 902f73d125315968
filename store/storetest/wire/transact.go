package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/store"
)

// action is a part of a TransactWriteItems.
type action struct{ Put, Update, Delete, ConditionCheck *write }

// item gives the store's form of an action, and whether the item is wanted if its condition fails.
func (a action) item() (out store.WriteItem, wantOld bool) {
	var w *write
	if w = a.Put; w != nil {
		put := w.put()
		out.Put = &put
	}
	if a.Update != nil {
		w = a.Update
		update := w.update()
		out.Update = &update
	}
	if a.Delete != nil {
		w = a.Delete
		del := w.delete()
		out.Delete = &del
	}
	if a.ConditionCheck != nil {
		w = a.ConditionCheck
		out.Check = &store.ConditionCheck{
			Table: w.TableName, Key: w.Key, Condition: w.ConditionExpression, Params: w.params.params(),
		}
	}
	return out, w != nil && w.ReturnValuesOnConditionCheckFailure == "ALL_OLD"
}

func (t *Target) transactWrite(ctx context.Context, request []byte) (any, error) {
	var r struct {
		TransactItems      []action
		ClientRequestToken string
	}
	if err := read(request, &r); err != nil {
		return nil, err
	}
	in := store.TransactWrite{Token: r.ClientRequestToken}
	wanted := make([]bool, len(r.TransactItems))
	for i, a := range r.TransactItems {
		var one store.WriteItem
		one, wanted[i] = a.item()
		in.Items = append(in.Items, one)
	}
	err := t.s.Update(ctx, func(tx *store.Tx) error { return tx.TransactWrite(in) })
	if canceled, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		for i := range canceled.Reasons {
			if !wanted[i] {
				canceled.Reasons[i].Item = nil
			}
		}
	}
	return map[string]any{}, err
}

// reasons are what a refusal tells of each action.
func reasons(canceled *store.TransactionCanceledError) (out []map[string]any) {
	for _, r := range canceled.Reasons {
		one := map[string]any{"Code": r.Code}
		if r.Message != "" {
			one["Message"] = r.Message
		}
		if r.Item != nil {
			one["Item"] = r.Item
		}
		out = append(out, one)
	}
	return out
}

func (t *Target) transactGet(ctx context.Context, request []byte) (any, error) {
	var r struct{ TransactItems []struct{ Get *get } }
	if err := read(request, &r); err != nil {
		return nil, err
	}
	var in []store.GetItem
	for _, part := range r.TransactItems {
		if part.Get == nil {
			return nil, fmt.Errorf("a part of a TransactGetItems without a Get")
		}
		in = append(in, part.Get.item())
	}
	responses := []map[string]any{}
	return map[string]any{"Responses": &responses}, t.s.View(ctx, func(tx *store.Tx) error {
		items, err := tx.TransactGet(in)
		for _, it := range items {
			one := map[string]any{}
			if it != nil {
				one["Item"] = it
			}
			responses = append(responses, one)
		}
		return err
	})
}
