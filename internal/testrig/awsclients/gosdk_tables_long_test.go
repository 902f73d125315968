//go:build long

package awsclients_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/touchline/touchline/internal/testrig/wait"
)

const waitLimit = 3 * time.Minute

// define returns a table with keys pk (text) and sk (number), an index on g and a stream.
func define(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("g"), AttributeType: types.ScalarAttributeTypeS},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("byG"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: types.KeyTypeHash}},
		}},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	}
}

// makeTable creates a table and waits for it.
func makeTable(t *testing.T, c *dynamodb.Client, name string) {
	t.Helper()
	if _, err := c.CreateTable(t.Context(), define(name)); err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableExistsWaiter(c, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: &name}, waitLimit); err != nil {
		t.Fatal(err)
	}
}

func TestGoSDKTables(t *testing.T) {
	ctx := t.Context()
	c := client(endpoint(t))
	for n := range 5 {
		makeTable(t, c, fmt.Sprintf("tab-%d", n))
	}
	_, err := c.CreateTable(ctx, define("tab-0"))
	if _, ok := errors.AsType[*types.ResourceInUseException](err); !ok {
		t.Errorf("a table that is there: %v", err)
	}
	var pages [][]string
	for p := dynamodb.NewListTablesPaginator(c, &dynamodb.ListTablesInput{Limit: aws.Int32(2)}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page.TableNames)
	}
	if want := "[[tab-0 tab-1] [tab-2 tab-3] [tab-4]]"; fmt.Sprint(pages) != want {
		t.Errorf("pages of tables: %v, want %s", pages, want)
	}
	got, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab-0")})
	if err != nil {
		t.Fatal(err)
	}
	if got.Table.TableStatus != types.TableStatusActive || got.Table.GlobalSecondaryIndexes[0].IndexStatus != types.IndexStatusActive {
		t.Errorf("states: %s, %s", got.Table.TableStatus, got.Table.GlobalSecondaryIndexes[0].IndexStatus)
	}
	if _, err := c.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("tab-4")}); err != nil {
		t.Fatal(err)
	}
	waiter := dynamodb.NewTableNotExistsWaiter(c, func(o *dynamodb.TableNotExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab-4")}, waitLimit); err != nil {
		t.Error(err)
	}
	_, err = c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab-4")})
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); !ok {
		t.Errorf("a table that is gone: %v", err)
	}
}

// TestGoSDKIndexOfMany adds an index to a table of many items, and continues writing while it is filled.
func TestGoSDKIndexOfMany(t *testing.T) {
	const many, late = 4000, 200
	ctx := t.Context()
	c := client(endpoint(t))
	makeTable(t, c, "tab")
	for from := 0; from < many; from += 25 {
		var puts []types.WriteRequest
		for n := from; n < from+25; n++ {
			it := item(n, map[string]types.AttributeValue{"kind": text("early")})
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		if _, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"tab": puts}}); err != nil {
			t.Fatal(err)
		}
	}
	defs := append(define("").AttributeDefinitions, types.AttributeDefinition{
		AttributeName: aws.String("kind"), AttributeType: types.ScalarAttributeTypeS,
	})
	if _, err := c.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: aws.String("tab"), AttributeDefinitions: defs,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("byKind"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("kind"), KeyType: types.KeyTypeHash}},
		}}},
	}); err != nil {
		t.Fatal(err)
	}
	for n := range late { // some change, some are new
		it := item(many-late/2+n, map[string]types.AttributeValue{"kind": text("late")})
		if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
	awaitIndexes(t, c, "tab")
	for kind, want := range map[string]int32{"early": many - late/2, "late": late} {
		if got := countKind(t, c, kind); got != want {
			t.Errorf("%s: %d, want %d", kind, got, want)
		}
	}
}

// awaitIndexes waits until all indexes of a table can be read.
func awaitIndexes(t *testing.T, c *dynamodb.Client, name string) {
	t.Helper()
	var indexes []types.GlobalSecondaryIndexDescription
	active := func() bool {
		d, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		indexes = d.Table.GlobalSecondaryIndexes
		return !slices.ContainsFunc(indexes, func(ix types.GlobalSecondaryIndexDescription) bool { return ix.IndexStatus != types.IndexStatusActive })
	}
	wait.Until(t, "the indexes of "+name+" are active", active, func() any { return indexes })
}

// countKind counts the items in index byKind, page by page.
func countKind(t *testing.T, c *dynamodb.Client, kind string) (n int32) {
	t.Helper()
	for p := dynamodb.NewQueryPaginator(c, &dynamodb.QueryInput{
		TableName: aws.String("tab"), IndexName: aws.String("byKind"), KeyConditionExpression: aws.String("kind = :k"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":k": text(kind)}, Select: types.SelectCount, Limit: aws.Int32(700),
	}); p.HasMorePages(); {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n += page.Count
	}
	return n
}

func TestGoSDKStreams(t *testing.T) {
	ctx := t.Context()
	e := endpoint(t)
	c, s := client(e), streams(e)
	makeTable(t, c, "tab")
	for n := range 30 {
		item := item(n/3, map[string]types.AttributeValue{"v": number(n)})
		if _, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	table, err := c.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab")})
	if err != nil {
		t.Fatal(err)
	}
	records := readStream(t, s, *table.Table.LatestStreamArn)
	var kinds []string
	byItem := map[string][]string{}
	for _, r := range records {
		kinds = append(kinds, string(r.EventName))
		sk := r.Dynamodb.Keys["sk"].(*streamtypes.AttributeValueMemberN).Value
		byItem[sk] = append(byItem[sk], r.Dynamodb.NewImage["v"].(*streamtypes.AttributeValueMemberN).Value)
	}
	slices.Sort(kinds)
	if got := fmt.Sprint(slices.Compact(slices.Clone(kinds)), len(kinds)); got != "[INSERT MODIFY] 30" {
		t.Errorf("events: %s", got)
	}
	for n := range 10 {
		if got, want := fmt.Sprint(byItem[fmt.Sprint(n)]), fmt.Sprint([]int{3 * n, 3*n + 1, 3*n + 2}); got != want {
			t.Errorf("item %d: %s, want %s", n, got, want)
		}
	}
}

// readStream reads every record: of each shard until it is closed or has no more.
func readStream(t *testing.T, s *dynamodbstreams.Client, arn string) (records []streamtypes.Record) {
	t.Helper()
	d, err := s.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range d.StreamDescription.Shards {
		it, err := s.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			t.Fatal(err)
		}
		for next := it.ShardIterator; next != nil; {
			got, err := s.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next, Limit: aws.Int32(7)})
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, got.Records...)
			if next = got.NextShardIterator; len(got.Records) == 0 {
				break
			}
		}
	}
	return records
}

func number(n int) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// key returns the key of an item in partition p.
func key(sk int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text("p"), "sk": number(sk)}
}

// item returns an item in partition p.
func item(sk int, attributes map[string]types.AttributeValue) map[string]types.AttributeValue {
	it := key(sk)
	maps.Copy(it, attributes)
	return it
}
