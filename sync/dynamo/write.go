package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	allOld = types.ReturnValuesOnConditionCheckFailureAllOld
	total  = types.ReturnConsumedCapacityTotal
)

// call makes one SDK request under the client's deadline. Every error it returns is an *intent.Error.
func call[In, Out any](ctx context.Context, c *Client, op string, tables []string,
	do func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), in *In,
) (*Out, error) {
	ctx, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	x := new(exchange)
	began := c.http.times.Now().Mono
	c.usage.asked.Add(1)
	out, err := do(context.WithValue(ctx, exchangeKey{}, x), in)
	if err != nil {
		return nil, c.classify(op, tables, x, c.http.times.Now().Mono-began, err)
	}
	return out, nil
}

// unreadable returns the error for a successful answer that cannot be parsed.
func unreadable(op string, err error) error {
	if err == nil {
		return nil
	}
	return &intent.Error{Class: intent.Unknown, Err: &CallError{Operation: op, Status: 200, Err: err}}
}

// Write implements remote.Cloud.
func (c *Client) Write(ctx context.Context, w intent.Call) (attr.Item, error) {
	switch w.Op {
	case store.OpPut:
		return c.put(ctx, w)
	case store.OpUpdate:
		return c.update(ctx, w)
	case store.OpDelete:
		return nil, c.delete(ctx, w)
	}
	return nil, &intent.Error{Class: intent.Validation, Err: &CallError{
		Operation: "write", Message: "a ConditionCheck is allowed only in a transaction", Code: "ValidationException",
	}}
}

func (c *Client) put(ctx context.Context, w intent.Call) (attr.Item, error) {
	out, err := call(ctx, c, "PutItem", []string{w.Table}, c.db.PutItem, &dynamodb.PutItemInput{
		TableName: c.table(w.Table), Item: toItem(w.Item), ConditionExpression: expression(w.Condition),
		ExpressionAttributeNames: w.Names, ExpressionAttributeValues: toItem(w.Values),
		ReturnValuesOnConditionCheckFailure: allOld, ReturnConsumedCapacity: total,
	})
	if err != nil {
		return nil, c.old(ctx, w, err)
	}
	c.usage.countWrite(out.ConsumedCapacity)
	return w.Item, nil
}

func (c *Client) update(ctx context.Context, w intent.Call) (attr.Item, error) {
	out, err := call(ctx, c, "UpdateItem", []string{w.Table}, c.db.UpdateItem, &dynamodb.UpdateItemInput{
		TableName: c.table(w.Table), Key: toItem(w.Key), UpdateExpression: expression(w.Update),
		ConditionExpression: expression(w.Condition), ExpressionAttributeNames: w.Names,
		ExpressionAttributeValues: toItem(w.Values), ReturnValues: types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: allOld, ReturnConsumedCapacity: total,
	})
	if err != nil {
		return nil, c.old(ctx, w, err)
	}
	c.usage.countWrite(out.ConsumedCapacity)
	it, err := fromItem(out.Attributes)
	return it, unreadable("UpdateItem", err)
}

func (c *Client) delete(ctx context.Context, w intent.Call) error {
	out, err := call(ctx, c, "DeleteItem", []string{w.Table}, c.db.DeleteItem, &dynamodb.DeleteItemInput{
		TableName: c.table(w.Table), Key: toItem(w.Key), ConditionExpression: expression(w.Condition),
		ExpressionAttributeNames: w.Names, ExpressionAttributeValues: toItem(w.Values),
		ReturnValuesOnConditionCheckFailure: allOld, ReturnConsumedCapacity: total,
	})
	if err != nil {
		return c.old(ctx, w, err)
	}
	c.usage.countWrite(out.ConsumedCapacity)
	return nil
}

// Transact implements remote.Cloud.
func (c *Client) Transact(ctx context.Context, calls []intent.Call, token string) error {
	in := &dynamodb.TransactWriteItemsInput{
		TransactItems: make([]types.TransactWriteItem, len(calls)), ReturnConsumedCapacity: total,
	}
	if token != "" {
		in.ClientRequestToken = new(token)
	}
	tables := make([]string, len(calls))
	for i := range calls {
		in.TransactItems[i] = c.member(&calls[i])
		tables[i] = calls[i].Table
	}
	out, err := call(ctx, c, "TransactWriteItems", tables, c.db.TransactWriteItems, in)
	if err != nil {
		return err
	}
	for i := range out.ConsumedCapacity {
		c.usage.countWrite(&out.ConsumedCapacity[i])
	}
	return nil
}

// member returns one operation of a transaction.
func (c *Client) member(w *intent.Call) types.TransactWriteItem {
	table, cond, values := c.table(w.Table), expression(w.Condition), toItem(w.Values)
	switch w.Op {
	case store.OpPut:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: table, Item: toItem(w.Item), ConditionExpression: cond, ExpressionAttributeNames: w.Names,
			ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: allOld,
		}}
	case store.OpUpdate:
		return types.TransactWriteItem{Update: &types.Update{
			TableName: table, Key: toItem(w.Key), UpdateExpression: expression(w.Update), ConditionExpression: cond,
			ExpressionAttributeNames: w.Names, ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: allOld,
		}}
	case store.OpDelete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: table, Key: toItem(w.Key), ConditionExpression: cond, ExpressionAttributeNames: w.Names,
			ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: allOld,
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: table, Key: toItem(w.Key), ConditionExpression: cond, ExpressionAttributeNames: w.Names,
		ExpressionAttributeValues: values, ReturnValuesOnConditionCheckFailure: allOld,
	}}
}

// expression returns nil for an empty expression, which DynamoDB would refuse.
func expression(e string) *string {
	if e == "" {
		return nil
	}
	return new(e)
}
