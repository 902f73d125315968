package dynamoapi_test

import "testing"

// TestLegacyParameters: what the old parameters mean, and what is refused of them, is what DynamoDB Local makes of them.
func TestLegacyParameters(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/legacy.txt")
}
