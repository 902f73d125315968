package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Table describes a table as it is in the cloud.
type Table struct {
	store.TableSpec        // name, keys, indexes and expiry attribute; no policy
	ID              string // unique to this table, even among tables of the same name; "": the server has no ids
	Status          string // "ACTIVE", "CREATING", ...
	Building        []string
	OnDemand        bool
	Stream          string // "NEW_AND_OLD_IMAGES", ...; "": none
	CreatedAt       time.Time
	RestoredAt      time.Time // for a restored table, the instant of its data; zero: not restored
	RestoredFrom    string    // ARN of the backup or table; "": not restored
}

// Describe returns a table's state; ok is false if it does not exist. It does not read the expiry; DescribeExpiry does.
func (c *Client) Describe(ctx context.Context, table string) (t Table, ok bool, err error) {
	out, err := c.describe(ctx, table)
	if e, is := errors.AsType[*intent.Error](err); is && e.Class == intent.NoTable {
		return Table{}, false, nil
	}
	if err != nil {
		return Table{}, false, fail(err)
	}
	return describedTable(table, out.Table), true, nil
}

func (c *Client) describe(ctx context.Context, table string) (*dynamodb.DescribeTableOutput, error) {
	return call(ctx, c, "DescribeTable", []string{table}, c.db.DescribeTable,
		&dynamodb.DescribeTableInput{TableName: c.table(table)})
}

func describedTable(name string, d *types.TableDescription) Table {
	kinds := map[string]store.KeyType{}
	for _, a := range d.AttributeDefinitions {
		if a.AttributeType != "" {
			kinds[text(a.AttributeName)] = store.KeyType(a.AttributeType[0])
		}
	}
	t := Table{
		TableSpec: store.TableSpec{Name: name, Key: keyOf(d.KeySchema, kinds)},
		ID:        identity(d), Status: string(d.TableStatus),
		OnDemand: onDemand(d),
	}
	for _, g := range d.GlobalSecondaryIndexes {
		t.Indexes = append(t.Indexes, indexOf(text(g.IndexName), false, g.KeySchema, g.Projection, kinds))
		if g.IndexStatus != types.IndexStatusActive && g.IndexStatus != "" {
			t.Building = append(t.Building, text(g.IndexName))
		}
	}
	for _, l := range d.LocalSecondaryIndexes {
		t.Indexes = append(t.Indexes, indexOf(text(l.IndexName), true, l.KeySchema, l.Projection, kinds))
	}
	if s := d.StreamSpecification; s != nil && s.StreamEnabled != nil && *s.StreamEnabled {
		t.Stream = string(s.StreamViewType)
	}
	if d.CreationDateTime != nil {
		t.CreatedAt = *d.CreationDateTime
	}
	if r := d.RestoreSummary; r != nil {
		if r.RestoreDateTime != nil {
			t.RestoredAt = *r.RestoreDateTime
		}
		if t.RestoredFrom = text(r.SourceBackupArn); t.RestoredFrom == "" {
			t.RestoredFrom = text(r.SourceTableArn)
		}
	}
	return t
}

func onDemand(d *types.TableDescription) bool {
	return d.BillingModeSummary != nil && d.BillingModeSummary.BillingMode == types.BillingModePayPerRequest
}

// identity returns the table's id, or its creation time if the server has no ids (DynamoDB Local).
func identity(d *types.TableDescription) string {
	if d.TableId == nil && d.CreationDateTime != nil {
		return "created " + d.CreationDateTime.UTC().Format(time.RFC3339Nano)
	}
	return text(d.TableId)
}

func keyOf(schema []types.KeySchemaElement, kinds map[string]store.KeyType) store.KeySpec {
	var partition, sort []store.KeyAttr
	for _, e := range schema {
		a := store.KeyAttr{Name: text(e.AttributeName), Type: kinds[text(e.AttributeName)]}
		if e.KeyType == types.KeyTypeHash {
			partition = append(partition, a)
		} else {
			sort = append(sort, a)
		}
	}
	return store.NewKeySpec(partition, sort)
}

func indexOf(name string, local bool, schema []types.KeySchemaElement, p *types.Projection, kinds map[string]store.KeyType) store.IndexSpec {
	x := store.IndexSpec{Name: name, Local: local, Key: keyOf(schema, kinds)}
	if p == nil {
		return x
	}
	switch p.ProjectionType {
	case types.ProjectionTypeKeysOnly:
		x.Projection = store.ProjectKeysOnly
	case types.ProjectionTypeInclude:
		x.Projection, x.Include = store.ProjectInclude, p.NonKeyAttributes
	}
	return x
}

// fail converts the error of a call about a table for people. Errors that pass by themselves are fault.Throttled, server errors too.
func fail(err error) error {
	f, ok := errors.AsType[*CallError](err)
	if !ok || f.Code == "" {
		return unavailable(err)
	}
	kind := fault.Invalid
	if e, is := errors.AsType[*intent.Error](err); is {
		switch e.Class {
		case intent.Denied, intent.Credentials:
			kind = fault.Forbidden
		case intent.Throttled, intent.Unknown:
			kind = fault.Throttled
		}
	}
	return fault.Wrap(err, kind, "cloud_refused", "the cloud refuses: %s", f.Error())
}

// Table implements remote.Cloud.
func (c *Client) Table(ctx context.Context, name string) (remote.TableState, error) {
	out, err := c.describe(ctx, name)
	if err != nil {
		return remote.TableState{}, err
	}
	t := describedTable(name, out.Table)
	return remote.TableState{ID: t.ID, CreatedAt: t.CreatedAt, RestoredAt: t.RestoredAt, Key: t.Key}, nil
}
