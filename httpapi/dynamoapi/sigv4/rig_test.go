package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	testID     = "AKIDSCOREBOARD"
	testSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	testBody   = `{"TableName":"Scores","Key":{"id":{"S":"1"}}}`
)

var testNow = time.Date(2026, 6, 9, 10, 0, 15, 500, time.UTC)

func keyring(t testing.TB) *Keyring {
	t.Helper()
	keys, err := NewKeyring(Config{Keys: []Key{{
		ID: testID, Secret: testSecret, Allow: []Grant{{[]string{"Scores"}, []string{"read"}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func verifier(t testing.TB) *Verifier {
	return New(keyring(t), func() time.Time { return testNow })
}

// request returns a request as a server receives it.
func request(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8000/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
	r.Header.Set("Amz-Sdk-Request", "attempt=1;  max=3")
	r.Header.Set("Accept-Encoding", "identity")
	return r
}

// sign signs like the SDK.
func sign(t testing.TB, r *http.Request, body string, at time.Time) {
	t.Helper()
	sum := sha256.Sum256([]byte(body))
	err := signer.NewSigner().SignHTTP(context.Background(), aws.Credentials{AccessKeyID: testID, SecretAccessKey: testSecret},
		r, hex.EncodeToString(sum[:]), "dynamodb", "eu-west-1", at)
	if err != nil {
		t.Fatal(err)
	}
}

func signed(t testing.TB, body string) *http.Request {
	r := request(body)
	sign(t, r, body, testNow)
	return r
}

func verify(v *Verifier, r *http.Request, body string) (*Principal, error) {
	return v.Verify(r, sha256.Sum256([]byte(body)))
}

// refusal returns the short type and message, and checks status and namespace.
func refusal(t testing.TB, err error) string {
	t.Helper()
	r, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("%#v is no refusal", err)
	}
	if r.Status != 400 || !strings.HasPrefix(r.Type, "com.amazon.coral.service#") {
		t.Errorf("%+v", r)
	}
	return r.Error()
}
