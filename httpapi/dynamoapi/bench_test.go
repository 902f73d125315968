package dynamoapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// BenchmarkRequest runs the operations that matter for speed, without network and disk: items of about 1 KB, in partitions of a
// hundred.
func BenchmarkRequest(b *testing.B) {
	a := open(b)
	const items = 1000
	for n := range items {
		do(b, a, "PutItem", `{"TableName":"tab","Item":`+benchItem(n)+`}`)
	}
	query := func(n int) string {
		from := n % 80
		return fmt.Sprintf(`{"TableName":"tab","KeyConditionExpression":"#p = :p AND sk BETWEEN :a AND :b",`+
			`"ExpressionAttributeNames":{"#p":"pk"},`+
			`"ExpressionAttributeValues":{":p":{"S":"match-%06d"},":a":{"S":"%03d"},":b":{"S":"%03d"}}}`, n/100, from, from+19)
	}
	for _, bm := range []struct {
		name, operation string
		body            func(n int) string
	}{
		{"put", "PutItem", func(n int) string { return `{"TableName":"tab","Item":` + benchItem(n) + `}` }},
		{"put-if", "PutItem", func(n int) string {
			return `{"TableName":"tab","Item":` + benchItem(n) + `,"ConditionExpression":"attribute_exists(#p) AND #r >= :least",` +
				`"ExpressionAttributeNames":{"#p":"pk","#r":"runs"},"ExpressionAttributeValues":{":least":{"N":"0"}}}`
		}},
		{"get", "GetItem", func(n int) string { return `{"TableName":"tab","Key":` + benchKey(n) + `}` }},
		{"query", "Query", query},
		{"query-packed", "Query", query},
		{"update", "UpdateItem", func(n int) string {
			return `{"TableName":"tab","Key":` + benchKey(n) + `,"UpdateExpression":"SET bowler = :b, #r = #r + :one",` +
				`"ExpressionAttributeNames":{"#r":"runs"},"ExpressionAttributeValues":{":b":{"S":"bowler-1"},":one":{"N":"1"}}}`
		}},
		{"transact", "TransactWriteItems", func(n int) string {
			put := func(n int) string { return `{"Put":{"TableName":"tab","Item":` + benchItem(n) + `}}` }
			return `{"TransactItems":[` + put(n) + `,` + put((n+items/2)%items) + `]}`
		}},
		{"batch", "BatchWriteItem", func(n int) string {
			var puts []string
			for i := range 25 {
				puts = append(puts, `{"PutRequest":{"Item":`+benchItem((n+i*37)%items)+`}}`)
			}
			return `{"RequestItems":{"tab":[` + strings.Join(puts, ",") + `]}}`
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			bodies := make([]string, 100)
			for i := range bodies {
				bodies[i] = bm.body(i * 7 % items)
			}
			to := &discard{header: http.Header{}}
			header := http.Header{
				"X-Amz-Target": {"DynamoDB_20120810." + bm.operation}, "Content-Type": {"application/x-amz-json-1.0"},
				"Accept-Encoding": {"identity"},
			}
			if bm.name == "query-packed" {
				header.Set("Accept-Encoding", "gzip")
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(to.header)
				body := bodies[i%len(bodies)]
				r := (&http.Request{
					Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: header, ContentLength: int64(len(body)),
					Body: io.NopCloser(strings.NewReader(body)),
				}).WithContext(b.Context())
				if a.ServeHTTP(to, r); to.status != http.StatusOK {
					b.Fatalf("status %d for %s", to.status, body)
				}
			}
		})
	}
}

func benchKey(n int) string {
	return fmt.Sprintf(`{"pk":{"S":"match-%06d"},"sk":{"S":"%03d"}}`, n/100, n%100)
}

func benchItem(n int) string {
	text := strings.TrimSuffix(benchKey(n), "}") + fmt.Sprintf(`,"bowler":{"S":"bowler-%d"},"rank":{"N":"%d"},"runs":{"N":"%d"}`, n%11, n, n%7)
	for i := range 8 {
		text += fmt.Sprintf(`,"attribute-%d":{"S":"%s"}`, i, strings.Repeat("x", 100))
	}
	return text + "}"
}

// discard is a response that ignores what is written.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
