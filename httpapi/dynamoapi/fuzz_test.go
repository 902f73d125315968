package dynamoapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest/conformance"
)

// FuzzRequest: the answer to any request is JSON, with a status other than a server error.
func FuzzRequest(f *testing.F) {
	corpus.Add(f)
	files, err := conformance.Files()
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		for _, c := range file.Cases {
			for _, s := range c.Steps {
				f.Add(s.Operation, file.Expand(s))
			}
		}
	}
	r := &fuzzed{dir: f.TempDir()}
	f.Cleanup(func() { r.close(f) })
	f.Fuzz(func(t *testing.T, operation, request string) {
		a := r.api(t)
		isAnswered(t, a, operation, request)
	})
}

// isAnswered runs a request, fails if the answer is not JSON or a server error, and returns it.
func isAnswered(t *testing.T, a *dynamoapi.API, operation, request string) string {
	t.Helper()
	answer, err := a.Do(context.Background(), operation, []byte(request))
	if err != nil {
		refused, ok := errors.AsType[*dynamoapi.Error](err)
		if !ok || refused.Status != http.StatusBadRequest {
			t.Fatalf("%s %s: %v: %v", operation, request, err, errors.Unwrap(err))
		}
		answer = refused.Wire()
	}
	silent := err == nil && (operation == "TagResource" || operation == "UntagResource")
	if !json.Valid(answer) && !(silent && len(answer) == 0) {
		t.Fatalf("%s %s: %s", operation, request, answer)
	}
	return string(answer)
}

// fuzzed is a store that is replaced now and then, so that old data does not slow the search.
type fuzzed struct {
	dir string
	s   *store.Store
	n   int
}

// perStore is how many requests each store gets.
const perStore = 500

func (r *fuzzed) api(t testing.TB) *dynamoapi.API {
	t.Helper()
	if r.n++; r.s == nil || r.n%perStore == 0 {
		r.close(t)
		s, err := store.Open(filepath.Join(r.dir, strconv.Itoa(r.n)+".db"), store.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		r.s = s
		a := dynamoapi.New(dynamoapi.Config{Store: s})
		for _, table := range []string{
			`{"TableName":"tab","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],` +
				`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"g","AttributeType":"S"}],` +
				`"GlobalSecondaryIndexes":[{"IndexName":"by-g","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}],` +
				`"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},"BillingMode":"PAY_PER_REQUEST"}`,
			`{"TableName":"one","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"N"}],"BillingMode":"PAY_PER_REQUEST"}`,
		} {
			if _, err := a.Do(context.Background(), "CreateTable", []byte(table)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dynamoapi.New(dynamoapi.Config{Store: r.s})
}

func (r *fuzzed) close(t testing.TB) {
	if r.s == nil {
		return
	}
	if err := r.s.Close(); err != nil {
		t.Error(err)
	}
}
