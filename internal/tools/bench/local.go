package main

import (
	"context"
	"net"
	"os"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store/attr"
)

// measureLocal asks the same of DynamoDB Local, with its tables on the same disk, and of our server: the same items, the
// same client, each in the protocol that it has.
func measureLocal(ctx context.Context, b *bench) error {
	folder := b.file("local")
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	defer measure.Remove(folder)
	local, err := ddblocal.StartOnDisk(ctx, folder)
	if err != nil {
		return b.withoutLocal(ctx, err)
	}
	defer local.Kill()
	if err := measure.Fill(ctx, measure.NewClient(local.Addr, local.Dial, 1), b.size.small); err != nil {
		return err
	}
	path, err := b.filled(ctx, b.size.small)
	if err != nil {
		return err
	}
	defer measure.Remove(path)
	srv, addr, err := startServer(ctx, -1, path)
	if err != nil {
		return err
	}
	defer srv.end()
	p := peers{b: b, ours: Order{Addr: addr, Items: b.size.small}, local: Order{Addr: local.Addr, Local: true, Items: b.size.small}}
	p.dialOurs, p.dialLocal = new(net.Dialer).DialContext, local.Dial
	if err := p.measure(ctx); err != nil {
		return err
	}
	p.measureMemory(srv.PID(), local.PID())
	return nil
}

// withoutLocal says of the rows why there is no DynamoDB Local here, which is no error.
func (b *bench) withoutLocal(ctx context.Context, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	for _, t := range targets {
		if strings.HasPrefix(t.ID, "local/") {
			b.Missing(t.ID, why)
		}
	}
	return ctx.Err()
}

// peers are the two that are asked.
type peers struct {
	b                   *bench
	ours, local         Order
	dialOurs, dialLocal measure.Dialer
}

func (p *peers) measure(ctx context.Context) error {
	for _, c := range []struct {
		id, kind string
		conns    int
	}{
		{"local/get", "get", 1}, {"local/query", "query", 1}, {"local/put", "put", 1}, {"local/put-64", "put", 64},
	} {
		if !p.b.Wants(c.id) && !p.b.Wants("local/memory") {
			continue
		}
		// Java compiles what it has seen often enough: it is given time for that.
		if _, err := p.side(ctx, p.local, p.dialLocal, c.kind, c.conns, 3*p.b.size.web).Run(); err != nil {
			return err
		}
		got, err := measure.Interleave(ctx, webRounds(p.b),
			p.side(ctx, p.ours, p.dialOurs, c.kind, c.conns, p.b.size.web),
			p.side(ctx, p.local, p.dialLocal, c.kind, c.conns, p.b.size.web))
		if err != nil {
			return err
		}
		p.b.Compare(c.id, measure.Rate(got[0].Wall), measure.Rate(got[1].Wall))
	}
	return nil
}

func (p *peers) side(ctx context.Context, o Order, dial measure.Dialer, kind string, conns int, d time.Duration) measure.Side {
	o.Kind, o.Conns, o.Millis = kind, conns, d.Milliseconds()
	return measure.Side{Run: func() (int, error) { return o.carryOut(ctx, dial) }}
}

// measureMemory compares the most that each ever had resident, the pages of files among it.
func (p *peers) measureMemory(ours, local int) {
	mine, known := measure.MemoryOf(ours)
	theirs, too := measure.MemoryOf(local)
	if !known || !too {
		p.b.Missing("local/memory", measure.ErrMemory)
		return
	}
	p.b.Compare("local/memory", measure.Exactly(mine.Peak, "MB"), measure.Exactly(theirs.Peak, "MB"))
}

// localRequest is what server is asked, in DynamoDB's protocol.
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
	// The signature is not looked at; who signs and for which region is.
	return httpRequest("POST", "/", "X-Amz-Target: DynamoDB_20120810."+name+"\r\nX-Amz-Date: 20260101T000000Z\r\n"+
		"Authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=0\r\n", body)
}
