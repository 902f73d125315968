package main

import (
	"context"
	"os"
	"strings"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

// measureLocal sends the same requests to DynamoDB Local, with its tables on the same disk, and to our server: the same items and the
// same client, each in its own protocol.
func measureLocal(ctx context.Context, b *bench) error {
	folder := b.file("local")
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	defer measure.Remove(folder)
	local, err := ddblocal.StartOnDisk(ctx, folder)
	if err != nil { // not available here, which is no error
		why, _, _ := strings.Cut(err.Error(), "\n")
		b.MissingGroup("local", why)
		return ctx.Err()
	}
	defer local.Kill()
	if err := measure.Fill(ctx, measure.NewClient(local.Addr, 1), b.size.small); err != nil {
		return err
	}
	return b.serve(ctx, -1, func(srv *remote, addr string) error {
		if err := b.compareWith(ctx, local, addr); err != nil {
			return err
		}
		mine, known := measure.MemoryOf(srv.PID())
		theirs, too := measure.MemoryOf(local.PID())
		if !known || !too {
			b.Missing("local/memory", measure.ErrMemory)
			return nil
		}
		// The peak resident memory of each, including pages of files.
		b.Compare("local/memory", measure.Exactly(mine.Peak, "MB"), measure.Exactly(theirs.Peak, "MB"))
		return nil
	})
}

func (b *bench) compareWith(ctx context.Context, local *ddblocal.Instance, addr string) error {
	for _, c := range []struct {
		id  string
		ask Order
	}{
		{"local/get", Order{Kind: "get", Conns: 1}}, {"local/query", Order{Kind: "query", Conns: 1}},
		{"local/put", Order{Kind: "put", Conns: 1}}, {"local/put-64", Order{Kind: "put", Conns: 64}},
	} {
		if !b.Wants(c.id) && !b.Wants("local/memory") {
			continue
		}
		ours, theirs := b.order(c.ask, addr), b.order(c.ask, local.Addr)
		theirs.Local = true
		warm := theirs
		warm.Millis *= 3 // time for Java to compile what it runs often
		if _, err := warm.carryOut(ctx); err != nil {
			return err
		}
		got, err := measure.Interleave(ctx, webRounds(b),
			measure.Side{Run: func() (int, error) { return ours.carryOut(ctx) }},
			measure.Side{Run: func() (int, error) { return theirs.carryOut(ctx) }})
		if err != nil {
			return err
		}
		b.Compare(c.id, measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	}
	return nil
}

// localRequest returns a request of server in DynamoDB's protocol.
func localRequest(kind string, n int, it attr.Item) []byte {
	body := []byte(`{"TableName":"` + measure.TableName + `",`)
	switch kind {
	case "get":
		body = attr.AppendJSON(append(body, `"Key":`...), measure.KeyOf(n))
		return localOperation("GetItem", append(body, '}'))
	case "query":
		from := n % (measure.PerMatch - measure.QueryItems)
		body = append(body, `"KeyConditionExpression":"#m = :m AND ball BETWEEN :a AND :b",`+
			`"ExpressionAttributeNames":{"#m":"match"},"ExpressionAttributeValues":`...)
		body = attr.AppendJSON(body, attr.Item{
			":m": attr.S(measure.MatchOf(n)), ":a": attr.Int(int64(from)), ":b": attr.Int(int64(from + measure.QueryItems - 1)),
		})
		return localOperation("Query", append(body, '}'))
	default:
		body = attr.AppendJSON(append(body, `"Item":`...), it)
		return localOperation("PutItem", append(body, '}'))
	}
}

func localOperation(name string, body []byte) []byte {
	// The signature is not verified, but the key id and region matter.
	return httpRequest("POST", "/", "X-Amz-Target: DynamoDB_20120810."+name+"\r\nX-Amz-Date: 20260101T000000Z\r\n"+
		"Authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=0\r\n", body)
}
