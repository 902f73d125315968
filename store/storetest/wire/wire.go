// Package wire speaks DynamoDB's JSON to a store, without HTTP: it makes the store a target of the conformance suite. It
// translates what a request says and judges nothing: what is refused is refused by the store.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// Target is a store that takes DynamoDB's requests. Its methods may be called from any goroutine.
type Target struct {
	s *store.Store
}

// New makes a target of a store.
func New(s *store.Store) *Target { return &Target{s} }

// Do runs an operation. What the store refuses is an *Error.
func (t *Target) Do(ctx context.Context, operation string, request []byte) ([]byte, error) {
	run := map[string]func(context.Context, []byte) (any, error){
		"PutItem":    t.putItem,
		"GetItem":    t.getItem,
		"UpdateItem": t.updateItem,
		"DeleteItem": t.deleteItem,
		"Query":      t.query,
		"Scan":       t.scan,

		"BatchGetItem":       t.batchGet,
		"BatchWriteItem":     t.batchWrite,
		"TransactWriteItems": t.transactWrite,
		"TransactGetItems":   t.transactGet,

		"CreateTable":   t.createTable,
		"UpdateTable":   t.updateTable,
		"DeleteTable":   t.deleteTable,
		"DescribeTable": t.describeTable,
		"ListTables":    t.listTables,
	}[operation]
	if run == nil {
		return nil, fmt.Errorf("%s is not an operation of the store", operation)
	}
	answer, err := run(ctx, request)
	if err != nil {
		return nil, refuse(err)
	}
	return json.Marshal(answer)
}

// Error is a refusal.
type Error struct {
	err  error
	body []byte
}

// Error is the store's.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap gives the store's error.
func (e *Error) Unwrap() error { return e.err }

// Wire gives the body that DynamoDB would send.
func (e *Error) Wire() []byte { return e.body }

// refuse makes the body of a refusal. Errors that tell of the request's outcome are refusals; others go on as they are.
func refuse(err error) error {
	body := map[string]any{"message": err.Error()}
	if failed, ok := errors.AsType[*store.ConditionFailedError](err); ok {
		body["__type"] = "ConditionalCheckFailedException"
		if failed.Old != nil {
			body["Item"] = failed.Old
		}
		return wireError(err, body)
	}
	if canceled, ok := errors.AsType[*store.TransactionCanceledError](err); ok {
		body["__type"], body["CancellationReasons"] = "TransactionCanceledException", reasons(canceled)
		return wireError(err, body)
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	switch name := exception(f); name {
	case "":
		return err
	default:
		body["__type"] = name
		return wireError(err, body)
	}
}

func exception(f *fault.Error) string {
	switch {
	case f.Kind == fault.Invalid:
		return "ValidationException"
	case f.Kind == fault.NotFound:
		return "ResourceNotFoundException"
	case f.Kind == fault.Conflict && f.Code == "table_exists":
		return "ResourceInUseException"
	case f.Code == "idempotent_parameter_mismatch":
		return "IdempotentParameterMismatchException"
	}
	return ""
}

func wireError(err error, body map[string]any) error {
	data, jsonErr := json.Marshal(body)
	if jsonErr != nil {
		return errors.Join(err, jsonErr)
	}
	return &Error{err: err, body: data}
}

// params are the names and values of a request's expressions.
type params struct {
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues values
}

func (p params) params() expr.Params {
	return expr.Params{Names: p.ExpressionAttributeNames, Values: attr.Item(p.ExpressionAttributeValues)}
}

// withoutOld takes the item from an error whose request does not want it.
func withoutOld(err error, wanted string) error {
	failed, ok := errors.AsType[*store.ConditionFailedError](err)
	if !ok || wanted == "ALL_OLD" {
		return err
	}
	return &store.ConditionFailedError{Table: failed.Table}
}
