package dynamoapi_test

import "testing"

func TestRecordedAnswers(t *testing.T) {
	runRecorded(t, readTables(t), "testdata/recorded_answers.txt")
}
