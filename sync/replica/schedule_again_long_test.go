//go:build long

package replica_test

import (
	"testing"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
)

// onLocal starts DynamoDB Local, and keeps the machine's own settings from its clients.
func onLocal(t *testing.T) *ddblocal.Server {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret-of-the-test", "AWS_SESSION_TOKEN": "",
		"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_PROFILE": "",
		"AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_DYNAMODB": "", "HTTP_PROXY": "", "HTTPS_PROXY": "",
	} {
		t.Setenv(name, value)
	}
	server := ddblocal.Start(t)
	// The first table takes a Java that has just started longer than a client waits.
	table := `{"TableName":"first","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
		"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]}`
	_, err := server.Do(t.Context(), "CreateTable", []byte(table))
	must(t, err)
	return server
}

// TestPlainSchedulesOnDynamoDBLocal is TestPlainSchedules against Amazon's own version, which says here that it has no
// transactions.
func TestPlainSchedulesOnDynamoDBLocal(t *testing.T) {
	server := onLocal(t)
	for i, s := range schedules() {
		if s.plain {
			t.Run(s.name, func(t *testing.T) { playPlain(t, s, newLocalStage(t, server, i)) })
		}
	}
}

// TestAgainSchedulesOnDynamoDBLocal is TestAgainSchedules against Amazon's own version.
func TestAgainSchedulesOnDynamoDBLocal(t *testing.T) {
	server := onLocal(t)
	for i, s := range againSchedules() {
		t.Run(s.name, func(t *testing.T) { s.play(newScene(t, newLocalStage(t, server, i))) })
	}
}
