package dynamoapi_test

import (
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
)

// readTables makes the tables that the recorded reads are about.
func readTables(t *testing.T) *dynamoapi.API {
	t.Helper()
	api := recordedTables(t)
	do(t, api, "CreateTable", `{"TableName":"rangeN","BillingMode":"PAY_PER_REQUEST",
		"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}],
		"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"},{"AttributeName":"b","AttributeType":"N"}]}`)
	return api
}

func TestRecordedGets(t *testing.T) { runRecorded(t, readTables(t), "testdata/recorded_gets.txt") }

func TestRecordedQueries(t *testing.T) {
	runRecorded(t, readTables(t), "testdata/recorded_queries.txt")
}

func TestRecordedScans(t *testing.T) { runRecorded(t, readTables(t), "testdata/recorded_scans.txt") }
