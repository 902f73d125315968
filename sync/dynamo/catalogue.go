package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/store"
)

// This file holds what only an operator's `migrate --cloud` calls. A node needs no permission for any of it.

// DescribeExpiry returns the attribute that holds the expiry of a table's items, or "" if TTL is off or being switched off.
func (c *Client) DescribeExpiry(ctx context.Context, table string) (string, error) {
	out, err := call(ctx, c, "DescribeTimeToLive", []string{table}, c.db.DescribeTimeToLive,
		&dynamodb.DescribeTimeToLiveInput{TableName: c.table(table)})
	if err != nil {
		return "", fail(err)
	}
	d := out.TimeToLiveDescription
	if d == nil || d.TimeToLiveStatus != types.TimeToLiveStatusEnabled && d.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return "", nil
	}
	return text(d.AttributeName), nil
}

// Create starts creating a table, billed per request, with its indexes and optionally a stream. If the table exists already it
// returns fault.Throttled: look again. Describe reports when the table can be used; set the expiry after that.
func (c *Client) Create(ctx context.Context, spec store.TableSpec, stream bool) error {
	in := &dynamodb.CreateTableInput{
		TableName: c.table(spec.Name), KeySchema: schema(spec.Key), BillingMode: types.BillingModePayPerRequest,
	}
	var keys keyAttrs
	keys.add(spec.Key)
	for _, x := range spec.Indexes {
		keys.add(x.Key)
		if x.Local {
			in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
				IndexName: new(x.Name), KeySchema: schema(x.Key), Projection: projection(x),
			})
			continue
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: new(x.Name), KeySchema: schema(x.Key), Projection: projection(x),
		})
	}
	in.AttributeDefinitions = keys.defs
	if stream {
		in.StreamSpecification = bothImages()
	}
	_, err := call(ctx, c, "CreateTable", []string{spec.Name}, c.db.CreateTable, in)
	return fail(err)
}

// AddIndex starts creating a global index on an existing table. If the table has provisioned capacity, the index gets the same
// capacity as the table: DynamoDB requires a figure, and no other source has one.
func (c *Client) AddIndex(ctx context.Context, spec store.TableSpec, x store.IndexSpec) error {
	var keys keyAttrs
	keys.add(spec.Key)
	keys.add(x.Key)
	create := &types.CreateGlobalSecondaryIndexAction{IndexName: new(x.Name), KeySchema: schema(x.Key), Projection: projection(x)}
	table, err := c.describe(ctx, spec.Name)
	if err != nil {
		return fail(err)
	}
	if p := table.Table.ProvisionedThroughput; p != nil && !onDemand(table.Table) {
		create.ProvisionedThroughput = &types.ProvisionedThroughput{
			ReadCapacityUnits: p.ReadCapacityUnits, WriteCapacityUnits: p.WriteCapacityUnits,
		}
	}
	_, err = call(ctx, c, "UpdateTable", []string{spec.Name}, c.db.UpdateTable, &dynamodb.UpdateTableInput{
		TableName: c.table(spec.Name), AttributeDefinitions: keys.defs,
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: create}},
	})
	return fail(err)
}

// SetExpiry makes the items of a table expire by the given attribute.
func (c *Client) SetExpiry(ctx context.Context, table, attribute string) error {
	_, err := call(ctx, c, "UpdateTimeToLive", []string{table}, c.db.UpdateTimeToLive, &dynamodb.UpdateTimeToLiveInput{
		TableName:               c.table(table),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: new(attribute), Enabled: new(true)},
	})
	return fail(err)
}

// SetStream enables a table's stream with old and new images.
func (c *Client) SetStream(ctx context.Context, table string) error {
	_, err := call(ctx, c, "UpdateTable", []string{table}, c.db.UpdateTable,
		&dynamodb.UpdateTableInput{TableName: c.table(table), StreamSpecification: bothImages()})
	return fail(err)
}

func bothImages() *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: new(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
}

func schema(k store.KeySpec) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, a := range k.PartitionAttrs() {
		out = append(out, types.KeySchemaElement{AttributeName: new(a.Name), KeyType: types.KeyTypeHash})
	}
	for _, a := range k.SortAttrs() {
		out = append(out, types.KeySchemaElement{AttributeName: new(a.Name), KeyType: types.KeyTypeRange})
	}
	return out
}

func projection(x store.IndexSpec) *types.Projection {
	switch x.Projection {
	case store.ProjectKeysOnly:
		return &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}
	case store.ProjectInclude:
		return &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: x.Include}
	}
	return &types.Projection{ProjectionType: types.ProjectionTypeAll}
}

// keyAttrs collects the types of key attributes without repeats.
type keyAttrs struct{ defs []types.AttributeDefinition }

func (k *keyAttrs) add(key store.KeySpec) {
	for _, a := range key.Attrs() {
		known := slices.ContainsFunc(k.defs, func(d types.AttributeDefinition) bool { return text(d.AttributeName) == a.Name })
		if !known {
			k.defs = append(k.defs, types.AttributeDefinition{
				AttributeName: new(a.Name), AttributeType: types.ScalarAttributeType(string(a.Type)),
			})
		}
	}
}
