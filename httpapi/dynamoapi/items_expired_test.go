package dynamoapi_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// DynamoDB shows an item past its time until it is swept. The store hides it at once from everybody else.
func TestExpiredItemsAreShown(t *testing.T) {
	now := time.Now()
	a, s := managed(t, func() time.Time { return now })
	accepted(t, a, "CreateTable", `{"TableName":"tab","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	accepted(t, a, "UpdateTimeToLive", `{"TableName":"tab","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}}`)
	past := strconv.FormatInt(now.Add(-time.Hour).Unix(), 10)
	accepted(t, a, "PutItem", `{"TableName":"tab","Item":{"a":{"S":"gone"},"ttl":{"N":"`+past+`"}}}`)
	reads := map[string]string{
		"GetItem":          `{"TableName":"tab","Key":{"a":{"S":"gone"}}}`,
		"Query":            `{"TableName":"tab","KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"gone"}}}`,
		"Scan":             `{"TableName":"tab"}`,
		"BatchGetItem":     `{"RequestItems":{"tab":{"Keys":[{"a":{"S":"gone"}}]}}}`,
		"TransactGetItems": `{"TransactItems":[{"Get":{"TableName":"tab","Key":{"a":{"S":"gone"}}}}]}`,
		"ExecuteStatement": `{"Statement":"SELECT * FROM tab WHERE a = 'gone'"}`,
	}
	for operation, request := range reads {
		if got := accepted(t, a, operation, request); !strings.Contains(got, past) {
			t.Errorf("%s does not show it: %s", operation, got)
		}
	}
	for more := true; more; {
		var err error
		if more, err = s.Housekeep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for operation, request := range reads {
		if got := accepted(t, a, operation, request); strings.Contains(got, past) {
			t.Errorf("%s shows it when it was swept: %s", operation, got)
		}
	}
}
