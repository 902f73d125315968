package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
)

// bare makes the application's own calls with the SDK's client, and returns the number of writes per second.
func (b *bench) bare(ctx context.Context, table string, asked []write) (float64, error) {
	db := measure.NewClient(b.server.Addr, 2*lanes)
	b.Say("%s: making the items", table)
	err := measure.Share(lanes, len(asked), func(i int) error {
		w := asked[i]
		if !w.prepares() {
			return nil
		}
		if err := barePut(ctx, db, table, w.id); err != nil || w.pair == 0 {
			return err
		}
		return barePut(ctx, db, table, w.pair)
	})
	if err != nil {
		return 0, err
	}
	b.Say("%s: the bare client writes", table)
	started := time.Now()
	err = measure.Share(lanes, len(asked), func(i int) error {
		if err := clock.Sleep(ctx, clock.Real(), b.latency); err != nil {
			return err
		}
		return bareWrite(ctx, db, table, asked[i])
	})
	return float64(len(asked)) / time.Since(started).Seconds(), err
}

func barePut(ctx context.Context, db *dynamodb.Client, table string, id int) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table, Item: measure.SDKItem(itemOf(id)), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	return err
}

func bareWrite(ctx context.Context, db *dynamodb.Client, table string, w write) (err error) {
	switch {
	case w.op == 0:
	case w.pair != 0:
		one, two := w.update(table, w.id), w.update(table, w.pair)
		_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: &table, Key: measure.SDKItem(one.Key), UpdateExpression: &one.Update, ExpressionAttributeValues: measure.SDKItem(one.Values)}},
			{Update: &types.Update{TableName: &table, Key: measure.SDKItem(two.Key), UpdateExpression: &two.Update, ExpressionAttributeValues: measure.SDKItem(two.Values)}},
		}})
	case w.op == store.OpUpdate:
		u := w.update(table, w.id)
		_, err = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &table, Key: measure.SDKItem(u.Key), UpdateExpression: &u.Update, ExpressionAttributeValues: measure.SDKItem(u.Values),
			ReturnValues: types.ReturnValueAllNew,
		})
	case w.op == store.OpPut:
		err = barePut(ctx, db, table, w.id)
	default:
		_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: measure.SDKItem(keyOf(w.id))})
	}
	return err
}
