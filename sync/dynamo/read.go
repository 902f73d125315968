package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Get implements remote.Cloud.
func (c *Client) Get(ctx context.Context, table string, key attr.Item) (attr.Item, error) {
	out, err := call(ctx, c, "GetItem", []string{table}, c.db.GetItem, &dynamodb.GetItemInput{
		TableName: c.table(table), Key: toItem(key), ConsistentRead: new(true), ReturnConsumedCapacity: total,
	})
	if err != nil {
		return nil, err
	}
	c.usage.read(out.ConsumedCapacity)
	it, err := fromItem(out.Item)
	return it, unreadable("GetItem", err)
}

// Read implements remote.Cloud.
func (c *Client) Read(ctx context.Context, r remote.Reading) (remote.Page, error) {
	if r.KeyCondition == "" {
		return c.scan(ctx, r)
	}
	out, err := call(ctx, c, "Query", []string{r.Table}, c.db.Query, &dynamodb.QueryInput{
		TableName: c.table(r.Table), KeyConditionExpression: new(r.KeyCondition), ConsistentRead: new(r.Consistent),
		ExpressionAttributeNames: r.Names, ExpressionAttributeValues: toItem(r.Values),
		ExclusiveStartKey: toItem(r.After), Limit: limit(r.Limit), ReturnConsumedCapacity: total,
	})
	if err != nil {
		return remote.Page{}, err
	}
	c.usage.read(out.ConsumedCapacity)
	return page("Query", out.Items, out.LastEvaluatedKey)
}

func (c *Client) scan(ctx context.Context, r remote.Reading) (remote.Page, error) {
	out, err := call(ctx, c, "Scan", []string{r.Table}, c.db.Scan, &dynamodb.ScanInput{
		TableName: c.table(r.Table), ConsistentRead: new(r.Consistent), ExclusiveStartKey: toItem(r.After),
		Limit: limit(r.Limit), ReturnConsumedCapacity: total,
	})
	if err != nil {
		return remote.Page{}, err
	}
	c.usage.read(out.ConsumedCapacity)
	return page("Scan", out.Items, out.LastEvaluatedKey)
}

func page(op string, items []map[string]types.AttributeValue, last map[string]types.AttributeValue) (p remote.Page, err error) {
	if p.Items, err = fromItems(items); err == nil {
		p.LastKey, err = fromItem(last)
	}
	if err != nil {
		return remote.Page{}, unreadable(op, err)
	}
	return p, nil
}

func limit(n int) *int32 {
	if n <= 0 {
		return nil
	}
	return new(int32(n))
}
