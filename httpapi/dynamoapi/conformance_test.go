package dynamoapi_test

import (
	"context"
	"testing"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/storetest"
	"github.com/touchline/touchline/store/storetest/conformance"
)

// TestConformance holds the API to what DynamoDB Local answered to some thousand requests, or to the note that ours
// differs.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Ours, func(t testing.TB) conformance.Target { return overStore(storetest.Open(t)) })
}

// target is the API over a store whose house somebody keeps: whoever asks for a table may wait for an index of it.
type target struct {
	*dynamoapi.API
	store *store.Store
}

func overStore(s *store.Store) target { return target{dynamoapi.New(dynamoapi.Config{Store: s}), s} }

// Do implements conformance.Target.
func (t target) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	if operation == "DescribeTable" {
		if _, err := t.store.Housekeep(ctx); err != nil {
			return nil, err
		}
	}
	return t.API.Do(ctx, operation, request)
}
