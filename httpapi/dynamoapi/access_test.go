package dynamoapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/httpapi/dynamoapi/sigv4"
)

// Whoever may work on one table may not work on another beside it in one request.
func TestEveryTableOfARequestNeedsPermission(t *testing.T) {
	ring, err := sigv4.NewKeyring(sigv4.Config{Keys: []sigv4.Key{{
		ID: "AKIDSOME", Secret: "a secret of a test", Allow: []sigv4.Grant{{Tables: []string{"mine"}, Actions: []string{"*"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, s := managed(t, time.Now)
	api := dynamoapi.New(dynamoapi.Config{Store: s, Verifier: sigv4.New(ring, sigv4.Options{Now: time.Now})})
	for _, table := range []string{"mine", "other"} {
		accepted(t, api, "CreateTable", `{"TableName":"`+table+`","BillingMode":"PAY_PER_REQUEST",`+simple+`}`)
	}
	server := httptest.NewServer(api)
	defer server.Close()
	const key = `{"a":{"S":"x"}}`
	for operation, body := range map[string]string{
		"BatchGetItem":          `{"RequestItems":{"mine":{"Keys":[` + key + `]},"TABLE":{"Keys":[` + key + `]}}}`,
		"BatchWriteItem":        `{"RequestItems":{"mine":[{"PutRequest":{"Item":` + key + `}}],"TABLE":[{"PutRequest":{"Item":` + key + `}}]}}`,
		"TransactGetItems":      `{"TransactItems":[{"Get":{"TableName":"mine","Key":` + key + `}},{"Get":{"TableName":"TABLE","Key":{"a":{"S":"y"}}}}]}`,
		"TransactWriteItems":    `{"TransactItems":[{"Put":{"TableName":"mine","Item":` + key + `}},{"Put":{"TableName":"TABLE","Item":{"a":{"S":"y"}}}}]}`,
		"BatchExecuteStatement": `{"Statements":[{"Statement":"SELECT * FROM mine WHERE a='x'"},{"Statement":"SELECT * FROM \"TABLE\" WHERE a='y'"}]}`,
		"ExecuteTransaction":    `{"TransactStatements":[{"Statement":"SELECT * FROM mine WHERE a='x'"},{"Statement":"SELECT * FROM \"TABLE\" WHERE a='y'"}]}`,
	} {
		got := signed(t, server.URL, operation, strings.ReplaceAll(body, "TABLE", "other"))
		if !strings.Contains(got, "#AccessDeniedException") || !strings.Contains(got, "table/other") {
			t.Errorf("%s: %s", operation, got)
		}
		if strings.HasPrefix(operation, "Batch") && !strings.HasSuffix(operation, "Statement") {
			continue // one table cannot be named twice
		}
		if got := signed(t, server.URL, operation, strings.ReplaceAll(body, "TABLE", "mine")); strings.Contains(got, "__type") {
			t.Errorf("%s: %s", operation, got)
		}
	}
}

// signed sends a request with a signature and returns the body of the answer.
func signed(t *testing.T, url, operation, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	sum := sha256.Sum256([]byte(body))
	keys := aws.Credentials{AccessKeyID: "AKIDSOME", SecretAccessKey: "a secret of a test"}
	if err := signer.NewSigner().SignHTTP(context.Background(), keys, r, hex.EncodeToString(sum[:]), "dynamodb", "us-east-1", time.Now()); err != nil {
		t.Fatal(err)
	}
	res, err := new(http.Client).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
