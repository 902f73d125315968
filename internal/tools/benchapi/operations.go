package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The items lie in partitions of a hundred, as the balls of an innings do.
const (
	tableName  = "balls"
	perMatch   = 100
	itemText   = 100 // bytes of each of the eight attributes that give an item its size
	queryItems = 20
	batchItems = 25 // DynamoDB takes no more
)

type (
	item = map[string]types.AttributeValue
	call = func(context.Context, *dynamodb.Client) error
)

// operation is one kind of request.
type operation struct {
	id   string
	what string
	// make makes a request of it, from keys that next gives.
	make func(next func() int) call
}

var operations = [...]operation{
	{"put", "PutItem", put},
	{"put-if", "PutItem with a condition", putIf},
	{"get", "GetItem", get},
	{"query", "Query of 20", query},
	{"update", "UpdateItem", update},
	{"transact", "TransactWriteItems of 2", transact},
	{"batch", "BatchWriteItem of 25", batch},
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

func matchOf(n int) string { return fmt.Sprintf("match-%06d", n/perMatch) }

func keyOf(n int) item { return item{"match": text(matchOf(n)), "ball": number(n % perMatch)} }

// makeItem makes the n-th item: about 1 KB in 13 attributes.
func makeItem(n, runs int) item {
	it := item{"bowler": text(fmt.Sprintf("bowler-%d", n%11)), "rank": number(n), "runs": number(runs)}
	maps.Copy(it, keyOf(n))
	for i := range 8 {
		it[fmt.Sprintf("attribute-%d", i)] = text(strings.Repeat("x", itemText))
	}
	return it
}

// runsOf makes two states of an item differ.
func runsOf() int { return rand.IntN(1000) }

func newPut(n int) dynamodb.PutItemInput {
	return dynamodb.PutItemInput{TableName: aws.String(tableName), Item: makeItem(n, runsOf())}
}

// The client writes into some requests what they lack, so each call has a copy.
func put(next func() int) call {
	in := newPut(next())
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		_, err := c.PutItem(ctx, &once)
		return err
	}
}

func putIf(next func() int) call {
	in := newPut(next())
	in.ConditionExpression = aws.String("attribute_exists(#m) AND #r >= :least")
	in.ExpressionAttributeNames = map[string]string{"#m": "match", "#r": "runs"}
	in.ExpressionAttributeValues = item{":least": number(0)}
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		_, err := c.PutItem(ctx, &once)
		return err
	}
}

func get(next func() int) call {
	in := dynamodb.GetItemInput{TableName: aws.String(tableName), Key: keyOf(next())}
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		out, err := c.GetItem(ctx, &once)
		if err == nil && len(out.Item) != 13 {
			err = fmt.Errorf("a GetItem gives %d attributes", len(out.Item))
		}
		return err
	}
}

func query(next func() int) call {
	n := next()
	from := n % (perMatch - queryItems)
	in := dynamodb.QueryInput{
		TableName:                aws.String(tableName),
		KeyConditionExpression:   aws.String("#m = :m AND ball BETWEEN :a AND :b"),
		ExpressionAttributeNames: map[string]string{"#m": "match"},
		ExpressionAttributeValues: item{
			":m": text(matchOf(n)), ":a": number(from), ":b": number(from + queryItems - 1),
		},
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		out, err := c.Query(ctx, &once)
		if err == nil && len(out.Items) != queryItems {
			err = fmt.Errorf("a Query gives %d items", len(out.Items))
		}
		return err
	}
}

func update(next func() int) call {
	n := next()
	in := dynamodb.UpdateItemInput{
		TableName: aws.String(tableName), Key: keyOf(n),
		UpdateExpression:          aws.String("SET bowler = :b, #r = #r + :one"),
		ExpressionAttributeNames:  map[string]string{"#r": "runs"},
		ExpressionAttributeValues: item{":b": text(fmt.Sprintf("bowler-%d", rand.IntN(11))), ":one": number(1)},
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		_, err := c.UpdateItem(ctx, &once)
		return err
	}
}

func transact(next func() int) call {
	puts := make([]types.TransactWriteItem, 2)
	for i, n := range distinct(next, len(puts)) {
		puts[i].Put = &types.Put{TableName: aws.String(tableName), Item: makeItem(n, runsOf())}
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		_, err := c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: puts})
		return err
	}
}

func batch(next func() int) call {
	return writeBatch(distinct(next, batchItems))
}

func writeBatch(items []int) call {
	puts := make([]types.WriteRequest, len(items))
	for i, n := range items {
		puts[i].PutRequest = &types.PutRequest{Item: makeItem(n, runsOf())}
	}
	return func(ctx context.Context, c *dynamodb.Client) error {
		out, err := c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{tableName: puts},
		})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = fmt.Errorf("a BatchWriteItem leaves items of %d tables", len(out.UnprocessedItems))
		}
		return err
	}
}

// distinct returns so many different keys: an item may be in a request once.
func distinct(next func() int, count int) []int {
	seen := make(map[int]bool, count)
	out := make([]int, 0, count)
	for len(out) < count {
		if n := next(); !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// prepared is how many different requests each client has ready.
const prepared = 64

// prepare makes the requests of so many clients. The items of no two of them are the same.
func (o operation) prepare(clients, items int) [][]call {
	rnd := rand.New(rand.NewPCG(1, uint64(clients)))
	ready := make([][]call, clients)
	for i := range ready {
		own := func() int { return rnd.IntN(items/clients)*clients + i }
		for range prepared {
			ready[i] = append(ready[i], o.make(own))
		}
	}
	return ready
}
