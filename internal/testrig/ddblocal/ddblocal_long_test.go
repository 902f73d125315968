//go:build long

package ddblocal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/ddblocal"
)

func TestAnswers(t *testing.T) {
	s := ddblocal.Start(t)
	got, err := s.Do(t.Context(), "ListTables", []byte(`{}`))
	if err != nil || string(got) != `{"TableNames":[]}` {
		t.Errorf("ListTables: %s, %v", got, err)
	}
	_, err = s.Do(t.Context(), "GetItem", []byte(`{"TableName":"nobody","Key":{"pk":{"S":"a"}}}`))
	var refused *ddblocal.Error
	if !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "ResourceNotFoundException: ") {
		t.Errorf("GetItem of no table: %v", err)
	}
}

func TestTwoAtOnce(t *testing.T) {
	a, b := ddblocal.Start(t), ddblocal.Start(t)
	table := []byte(`{"TableName":"first","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],` +
		`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`)
	if _, err := a.Do(t.Context(), "CreateTable", table); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Do(t.Context(), "ListTables", []byte(`{}`)); err != nil || string(got) != `{"TableNames":[]}` {
		t.Errorf("the other one's tables: %s, %v", got, err)
	}
}
