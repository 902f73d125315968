package dynamo

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/sync/replica/intent"
)

// Servers that speak DynamoDB's protocol do not all do what DynamoDB does. Two differences matter to the protocol, and
// both are found out here and nowhere else (ScyllaDB Alternator's list of them: docs/cloud.md).

// Transactions asks whether the server has transactions. The request is one that no server carries out: without any
// operation in it, DynamoDB finds it invalid, and who has no transactions does not know it at all.
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
		case intent.Validation, intent.Denied: // IAM may look before DynamoDB does
			return true, nil
		}
	}
	return false, err
}

// images reports whether the server answers a condition that failed with the item: all that have once done so do.
type images struct{ seen atomic.Bool }

// old fills in the item of a condition that failed, for a server that has never told one: from before it could (ScyllaDB
// 6.0). It is then read, consistently: a little later than the condition was judged, which is as good, for whatever is
// sent next has its own guards.
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
