package measure

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/store/attr"
)

// BatchItems is the number of items in a BatchWriteItem, DynamoDB's maximum.
const BatchItems = 25

// NewClient returns the SDK's client with its defaults, except that it does not retry, keeps the given number of connections, and has
// fixed credentials.
func NewClient(addr string, connections int) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + addr),
		Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
		Retryer:     aws.NopRetryer{},
		HTTPClient: transport{awshttp.NewBuildableClient().WithTimeout(time.Minute).WithTransportOptions(
			func(t *http.Transport) {
				t.Proxy = nil
				t.MaxIdleConns, t.MaxIdleConnsPerHost = connections, connections
			})},
	})
}

// transport is the SDK's client, prevented from closing reusable connections. The SDK closes a request's body as soon as the answer
// begins. If net/http has not looked for the end of the body by then, it takes what a closed body's WriteTo returns (smithy-go v1.28.8:
// io.EOF) for a failure to write the request: it closes the connection, and a long answer cannot be read to its end. This happens with
// servers that answer within microseconds, about once in thirty requests if client and server share processors. A body without WriteTo
// avoids it, because the result of Read is understood correctly.
type transport struct{ client aws.HTTPClient }

// Do implements aws.HTTPClient.
func (t transport) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return t.client.Do(r)
}

// SDKItem returns an item in the SDK's form.
func SDKItem(it attr.Item) map[string]types.AttributeValue {
	out, err := attributevalue.UnmarshalMapJSON(attr.AppendJSON(nil, it))
	if err != nil {
		panic(err) // the JSON is valid for both
	}
	return out
}

// Fill creates the table on a server, with the given number of items.
func Fill(ctx context.Context, c *dynamodb.Client, items int) error {
	attribute := func(name string, t types.ScalarAttributeType) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: t}
	}
	key := func(name string, t types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: aws.String(name), KeyType: t}
	}
	_, err := c.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String(TableName), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			attribute("match", types.ScalarAttributeTypeS), attribute("ball", types.ScalarAttributeTypeN),
		},
		KeySchema: []types.KeySchemaElement{key("match", types.KeyTypeHash), key("ball", types.KeyTypeRange)},
	})
	if err == nil {
		err = awaitActive(ctx, c)
	}
	for from := 0; from < items && err == nil; from += BatchItems {
		var batch []map[string]types.AttributeValue
		for n := from; n < min(from+BatchItems, items); n++ {
			batch = append(batch, SDKItem(MakeItem(n, n, 0)))
		}
		err = Batch(batch)(ctx, c)
	}
	return err
}

// awaitActive waits until the table can be used.
func awaitActive(ctx context.Context, c *dynamodb.Client) error {
	return dynamodb.NewTableExistsWaiter(c, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, 20*time.Millisecond
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(TableName)}, 10*time.Second)
}

// Batch returns a call that writes the given items.
func Batch(items []map[string]types.AttributeValue) func(context.Context, *dynamodb.Client) error {
	puts := make([]types.WriteRequest, len(items))
	for i, it := range items {
		puts[i].PutRequest = &types.PutRequest{Item: it}
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{TableName: puts},
		})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = fmt.Errorf("a BatchWriteItem leaves items of %d tables", len(out.UnprocessedItems))
		}
		return err
	}
}
