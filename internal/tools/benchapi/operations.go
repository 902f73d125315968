package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

type (
	item = map[string]types.AttributeValue
	call = func(context.Context, *dynamodb.Client) error
)

// operation is one kind of request.
type operation struct {
	id   string
	what string
	// make returns a request, for keys returned by next.
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

func keyOf(n int) item { return measure.SDKItem(measure.KeyOf(n)) }

// newItem returns a new state of the n-th item, different from the previous one.
func newItem(n int) item { return measure.SDKItem(measure.MakeItem(n, n, rand.IntN(1000))) }

// send returns a call of a request. The client fills in some requests, so each call copies it.
func send[In, Out any](
	in In, do func(*dynamodb.Client, context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), check func(*Out) error,
) call {
	return func(ctx context.Context, c *dynamodb.Client) error {
		once := in
		out, err := do(c, ctx, &once)
		if err == nil && check != nil {
			err = check(out)
		}
		return err
	}
}

func put(next func() int) call {
	return send(dynamodb.PutItemInput{TableName: aws.String(measure.TableName), Item: newItem(next())}, (*dynamodb.Client).PutItem, nil)
}

func putIf(next func() int) call {
	return send(dynamodb.PutItemInput{
		TableName: aws.String(measure.TableName), Item: newItem(next()),
		ConditionExpression:       aws.String("attribute_exists(#m) AND #r >= :least"),
		ExpressionAttributeNames:  map[string]string{"#m": "match", "#r": "runs"},
		ExpressionAttributeValues: measure.SDKItem(attr.Item{":least": attr.Int(0)}),
	}, (*dynamodb.Client).PutItem, nil)
}

func get(next func() int) call {
	return send(dynamodb.GetItemInput{TableName: aws.String(measure.TableName), Key: keyOf(next())}, (*dynamodb.Client).GetItem,
		func(out *dynamodb.GetItemOutput) error {
			if len(out.Item) != 13 {
				return fmt.Errorf("a GetItem gives %d attributes", len(out.Item))
			}
			return nil
		})
}

func query(next func() int) call {
	n := next()
	from := n % (measure.PerMatch - measure.QueryItems)
	return send(dynamodb.QueryInput{
		TableName:                aws.String(measure.TableName),
		KeyConditionExpression:   aws.String("#m = :m AND ball BETWEEN :a AND :b"),
		ExpressionAttributeNames: map[string]string{"#m": "match"},
		ExpressionAttributeValues: measure.SDKItem(attr.Item{
			":m": attr.S(measure.MatchOf(n)), ":a": attr.Int(int64(from)), ":b": attr.Int(int64(from + measure.QueryItems - 1)),
		}),
	}, (*dynamodb.Client).Query, func(out *dynamodb.QueryOutput) error {
		if len(out.Items) != measure.QueryItems {
			return fmt.Errorf("a Query gives %d items", len(out.Items))
		}
		return nil
	})
}

func update(next func() int) call {
	bowler := fmt.Sprintf("bowler-%d", rand.IntN(11))
	return send(dynamodb.UpdateItemInput{
		TableName: aws.String(measure.TableName), Key: keyOf(next()),
		UpdateExpression:          aws.String("SET bowler = :b, #r = #r + :one"),
		ExpressionAttributeNames:  map[string]string{"#r": "runs"},
		ExpressionAttributeValues: measure.SDKItem(attr.Item{":b": attr.S(bowler), ":one": attr.Int(1)}),
	}, (*dynamodb.Client).UpdateItem, nil)
}

func transact(next func() int) call {
	puts := make([]types.TransactWriteItem, 2)
	for i, n := range distinct(next, len(puts)) {
		puts[i].Put = &types.Put{TableName: aws.String(measure.TableName), Item: newItem(n)}
	}
	return send(dynamodb.TransactWriteItemsInput{TransactItems: puts}, (*dynamodb.Client).TransactWriteItems, nil)
}

func batch(next func() int) call {
	var items []item
	for _, n := range distinct(next, measure.BatchItems) {
		items = append(items, newItem(n))
	}
	return measure.Batch(items)
}

// distinct returns count different keys, because an item may be in a request only once.
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

// prepare returns different requests for each client. No two clients use the same item.
func (o operation) prepare(clients, items, requests int) [][]call {
	rnd := rand.New(rand.NewPCG(1, uint64(clients)))
	ready := make([][]call, clients)
	for i := range ready {
		own := func() int { return rnd.IntN(items/clients)*clients + i }
		for range requests {
			ready[i] = append(ready[i], o.make(own))
		}
	}
	return ready
}
