package dynamoapi

import (
	"errors"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/partiql"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// executeTransaction runs PartiQL statements, all or none.
type executeTransaction struct {
	someStatements
	token    wire.Opt[string] // ClientRequestToken
	capacity wire.Opt[string]
}

func (r *executeTransaction) members(m *wire.Member) {
	readStatements(m, "TransactStatements", "ParameterizedStatement", maxTransactItems, &r.statements)
	m.Text("ClientRequestToken", &r.token)
	m.Text("ReturnConsumedCapacity", &r.capacity)
}

func (r *executeTransaction) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	constrainStatements(c, "transactStatements", r.statements, maxTransactItems)
	c.length("clientRequestToken", r.token, 1, 36)
}

// parts implements parted.
func (r *executeTransaction) parts() int { return len(r.statements.V) }

func (r *executeTransaction) run(c *call) error {
	params := make([][]attr.Value, len(r.statements.V))
	for i := range r.statements.V {
		var err error
		if params[i], err = r.statements.V[i].values(); err != nil {
			return err
		}
	}
	reads := 0
	for i := range r.statements.V {
		read, err := r.statements.V[i].parse()
		if err != nil {
			return numberError(i, err)
		}
		if read.Kind == partiql.Select {
			reads++
		}
	}
	switch reads {
	case len(params):
		return r.reads(c, params)
	case 0:
		return r.writes(c, params)
	}
	return errValidation("ExecuteTransaction API does not support both read and write operations in the same request.")
}

// numberError adds the number of the statement to a validation error.
func numberError(i int, err error) error {
	err = plain(err)
	message := ""
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Invalid {
		message = f.Message
	} else if e, ok := errors.AsType[*Error](err); ok && e.name() == "ValidationException" {
		message = e.Message
	}
	if message == "" {
		return err
	}
	return errValidation("Validation failed in TransactStatements[%d]: %s", i, message)
}

// tables describes the statements' tables. A missing table is nil, and missing is the transaction's error.
func (r *executeTransaction) tables(c *call) (specs []*store.TableSpec, missing error) {
	canceled := &store.TransactionCanceledError{}
	for i := range r.statements.V {
		reason := store.CancellationReason{Code: store.ReasonNone}
		spec, err := r.statements.V[i].tableOf(c)
		if err != nil {
			spec, missing = nil, canceled
			reason = store.CancellationReason{Code: "ResourceNotFound", Message: c.api.refusal(err).Message}
		}
		specs, canceled.Reasons = append(specs, spec), append(canceled.Reasons, reason)
	}
	return specs, missing
}

func (r *executeTransaction) reads(c *call, params [][]attr.Value) error {
	gets := make([]store.GetItem, len(params))
	columns := make([]*partiql.Columns, len(params))
	specs, missing := r.tables(c)
	for i, spec := range specs {
		if spec == nil {
			continue
		}
		read := r.statements.V[i].read
		if read.Index != "" {
			return numberError(i, errValidation("Reads on indices are not supported within transactions."))
		}
		get, single, err := read.SingleItem(params[i], keyOf(spec.Key))
		if err == nil && !single {
			err = errValidation("Select statements within ExecuteTransaction must specify the primary key in the where clause.")
		}
		if err != nil {
			return numberError(i, err)
		}
		gets[i] = store.GetItem{Table: spec.Name, Key: get.Key}
		columns[i] = get.Columns
	}
	if missing != nil {
		return missing
	}
	used := newConsumption(r.capacity)
	got, err := c.transactGet(gets, used)
	if err != nil {
		return err
	}
	for i, it := range got {
		if it != nil {
			got[i] = columns[i].ShownPart(it)
		}
	}
	responses(c.out, got)
	used.all(c.out)
	return nil
}

func (r *executeTransaction) writes(c *call, params [][]attr.Value) error {
	t := store.TransactWrite{Token: r.token.V, AllReasons: true}
	specs, missing := r.tables(c)
	for i, spec := range specs {
		if spec == nil {
			continue
		}
		s := &r.statements.V[i]
		if s.read.Returning != partiql.ReturnNone {
			return numberError(i, errValidation("RETURNING clause is not supported in ExecuteTransaction."))
		}
		w, _, err := s.write(spec, params[i]) // the store reports a bad key
		if err != nil {
			return numberError(i, err)
		}
		t.Items = append(t.Items, w)
	}
	if missing != nil {
		return missing
	}
	used := newConsumption(r.capacity)
	t.Repeated = used.reread
	err := c.update(t.ChecksOnly(), func(tx *store.Tx) error {
		used.watch(tx, true)
		return tx.TransactWrite(t)
	})
	if err != nil {
		return r.translateCancel(err)
	}
	responses(c.out, nil)
	used.all(c.out)
	return nil
}

// translateCancel returns the error with its reasons in PartiQL's words.
func (r *executeTransaction) translateCancel(err error) error {
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if !ok {
		return plain(err)
	}
	out := &store.TransactionCanceledError{Reasons: make([]store.CancellationReason, len(canceled.Reasons))}
	for i, reason := range canceled.Reasons {
		s := &r.statements.V[i]
		switch {
		case reason.Code == store.ReasonValidation && strings.HasPrefix(reason.Message, tooDeep):
			reason.Message = tooDeep
		case reason.Code != store.ReasonConditionFailed:
		case s.read.Kind == partiql.Insert:
			reason = store.CancellationReason{Code: "DuplicateItem", Message: duplicateItem}
		case s.onFailure.V != "ALL_OLD":
			reason.Item = nil
		}
		out.Reasons[i] = reason
	}
	return out
}
