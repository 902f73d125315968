package dynamoapi_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
)

// Who sends what takes too much work is in one line of the log, however often it is sent, until ten seconds later.
func TestCostlyRequestsAreNamed(t *testing.T) {
	s := storetest.Open(t)
	key := store.KeySpec{Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}}
	if err := s.CreateTable(t.Context(), store.TableSpec{Name: "tab", Key: key, Policy: store.PolicyLocal, Why: "a test's"}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	a := dynamoapi.New(dynamoapi.Config{Store: s, Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }})
	do(t, a, "PutItem", fmt.Sprintf(`{"TableName":"tab","Item":{"pk":{"S":"p"},"a":{"S":"%s"}}}`, strings.Repeat("ab", 190_000)))
	attack := `{"TableName":"tab","Key":{"pk":{"S":"p"}},"ConditionExpression":"` +
		strings.TrimSuffix(strings.Repeat("size(a) = :v OR ", 98), " OR ") + `","ExpressionAttributeValues":{":v":{"N":"1"}}}`
	for range 3 {
		do(t, a, "DeleteItem", attack)
	}
	now = now.Add(10 * time.Second)
	do(t, a, "DeleteItem", attack)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), log.String())
	}
	for i, more := range []string{"notTold=0", "notTold=2"} {
		for _, want := range []string{"level=WARN", "operation=DeleteItem", "tables=[tab]", "key=", "ms=", more} {
			if !strings.Contains(lines[i], want) {
				t.Errorf("no %s in %s", want, lines[i])
			}
		}
	}
}
