package dynamoapi_test

import "testing"

// TestTransactWrites: what is refused, what cancels a transaction with which reasons, and what one does.
func TestTransactWrites(t *testing.T) {
	runRecorded(t, recordedTables(t), "testdata/transact_writes.txt")
}
