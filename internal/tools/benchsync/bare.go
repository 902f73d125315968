package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// bare has the SDK's client make the application's own calls, and returns how many writes it made a second.
func (b *bench) bare(ctx context.Context, table string, asked []write, progress io.Writer) (float64, error) {
	db := dynamodb.New(dynamodb.Options{
		Region: "local", BaseEndpoint: aws.String("http://" + b.server.Addr), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
		HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: b.server.Dial, MaxIdleConns: 0, MaxIdleConnsPerHost: 2 * b.set.lanes,
		}},
	})
	_, _ = fmt.Fprintf(progress, "%s: making the items\n", table)
	err := each(ctx, b.set.lanes, asked, func(ctx context.Context, w write) error {
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
	_, _ = fmt.Fprintf(progress, "%s: the bare client writes\n", table)
	started := time.Now()
	err = each(ctx, b.set.lanes, asked, func(ctx context.Context, w write) error {
		if err := clock.Sleep(ctx, clock.Real(), b.latency); err != nil {
			return err
		}
		return bareWrite(ctx, db, table, w)
	})
	return float64(len(asked)) / time.Since(started).Seconds(), err
}

func barePut(ctx context.Context, db *dynamodb.Client, table string, id int) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &table, Item: wire(itemOf(id)), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	return err
}

func bareWrite(ctx context.Context, db *dynamodb.Client, table string, w write) (err error) {
	switch {
	case w.op == 0:
	case w.pair != 0:
		one, two := w.update(table, w.id), w.update(table, w.pair)
		_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Update: &types.Update{TableName: &table, Key: wire(one.Key), UpdateExpression: &one.Update, ExpressionAttributeValues: wire(one.Values)}},
			{Update: &types.Update{TableName: &table, Key: wire(two.Key), UpdateExpression: &two.Update, ExpressionAttributeValues: wire(two.Values)}},
		}})
	case w.op == store.OpUpdate:
		u := w.update(table, w.id)
		_, err = db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &table, Key: wire(u.Key), UpdateExpression: &u.Update, ExpressionAttributeValues: wire(u.Values),
			ReturnValues: types.ReturnValueAllNew,
		})
	case w.op == store.OpPut:
		err = barePut(ctx, db, table, w.id)
	default:
		_, err = db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: wire(keyOf(w.id))})
	}
	return err
}

// wire has an item as the SDK wants it.
func wire(it attr.Item) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(it))
	for name, v := range it {
		out[name] = wireValue(v)
	}
	return out
}

// wireValue knows strings, integers and lists, which are all there are.
func wireValue(v attr.Value) types.AttributeValue {
	if n, ok := v.Int(); ok {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	if v.Kind() == attr.KindL {
		list := make([]types.AttributeValue, 0, len(v.List()))
		for _, inner := range v.List() {
			list = append(list, wireValue(inner))
		}
		return &types.AttributeValueMemberL{Value: list}
	}
	return &types.AttributeValueMemberS{Value: v.Str()}
}
