package dynamoapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkGetRecords reads a page of 1,000 records with both images of some 1 KB altogether, behind as many of another
// table.
func BenchmarkGetRecords(b *testing.B) {
	a, _ := managed(b, time.Now)
	arn := streamed(b, a, "tab", "NEW_AND_OLD_IMAGES")
	accepted(b, a, "CreateTable", `{"TableName":"other","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	for i := range 1000 {
		for _, table := range []string{"other", "tab"} {
			accepted(b, a, "PutItem", fmt.Sprintf(`{"TableName":"%s","Item":{"a":{"S":"1"},"n":{"N":"%d"},"text":{"S":"%s"}}}`, table, i, strings.Repeat("x", 480)))
		}
	}
	body := []byte(`{"ShardIterator":` + quoted(iterator(b, a, arn, "TRIM_HORIZON", "")) + `}`)
	b.ReportAllocs()
	for b.Loop() {
		answer, err := a.Do(b.Context(), "GetRecords", body)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(answer)))
	}
}
