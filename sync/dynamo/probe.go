package dynamo

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/sync/replica/intent"
)

// Servers that speak DynamoDB's protocol do not all do what DynamoDB does. Two differences matter here, and this file alone
// detects them (docs/cloud.md has the list for ScyllaDB Alternator).

// Transactions asks whether the server has transactions, by a request that no server carries out: a transaction without
// operations. DynamoDB finds it invalid; a server without transactions does not know the operation.
func (c *Client) Transactions(ctx context.Context) (bool, error) {
	_, err := call(ctx, c, "TransactWriteItems", nil, c.db.TransactWriteItems,
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{}})
	f, ok := errors.AsType[*CallError](err)
	switch {
	case err == nil:
		return true, nil
	case ok && bare(f.Code) == "UnknownOperation":
		return false, nil
	case ok && f.Code != "" && f.Status < 500:
		switch e, _ := errors.AsType[*intent.Error](err); e.Class {
		case intent.Validation, intent.Denied: // IAM may refuse before DynamoDB validates
			return true, nil
		}
	}
	return false, err
}

// images records whether the server returns the item with a failed condition: a server that did so once always does.
type images struct{ seen atomic.Bool }

// old adds the item to a failed condition if the server has never returned one (ScyllaDB before 6.0). It reads the item
// consistently, slightly later than the condition was evaluated. That is as good, because whatever is sent next has its own
// guards.
func (c *Client) old(ctx context.Context, w intent.Call, err error) error {
	e, ok := errors.AsType[*intent.Error](err)
	switch {
	case !ok || e.Class != intent.ConditionFailed || c.http.official:
		return err
	case e.Old != nil:
		c.images.seen.Store(true)
		return err
	case c.images.seen.Load():
		return err
	}
	key := w.Key
	if key == nil {
		return err
	}
	it, readErr := c.Get(ctx, w.Table, key)
	if readErr != nil {
		return readErr
	}
	filled := *e
	filled.Old = it
	return &filled
}
