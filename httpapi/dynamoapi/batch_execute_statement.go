package dynamoapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/touchline/touchline/httpapi/dynamoapi/partiql"
	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// maxBatchStatements is how many statements a batch may have.
const maxBatchStatements = 25

// batchExecuteStatement runs independent PartiQL statements, each about one item.
type batchExecuteStatement struct {
	someStatements
	capacity wire.Opt[string]
}

// someStatements are the statements of a request.
type someStatements struct{ statements wire.Opt[[]statement] }

func (r *someStatements) touches(operation string, visit func(action, table string)) {
	for i := range r.statements.V {
		r.statements.V[i].touches(operation, visit)
	}
}

func (r *batchExecuteStatement) members(m *wire.Member) {
	readStatements(m, "Statements", "BatchStatementRequest", maxBatchStatements, &r.statements)
	m.Text("ReturnConsumedCapacity", &r.capacity)
}

// readStatements reads a list of up to most statements; shape is the name of a statement in the model.
func readStatements(m *wire.Member, name, shape string, most int, into *wire.Opt[[]statement]) {
	wire.Array(m, name, most, into, wire.Objects(shape, (*statement).members))
}

func (r *batchExecuteStatement) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	constrainStatements(c, "statements", r.statements, maxBatchStatements)
}

func constrainStatements(c *constraints, at string, all wire.Opt[[]statement], most int) {
	if !c.require(at, all.Set) {
		return
	}
	c.elements(at, len(all.V), most)
	for i := range all.V {
		all.V[i].constrain(c, fmt.Sprintf("%s.%d.member.", at, i+1))
	}
}

// batched is a statement of a batch and its result.
type batched struct {
	*statement
	spec  *store.TableSpec
	read  partiql.Read    // for a SELECT
	write store.WriteItem // for other statements

	bad  error // error found without reading its item
	ran  bool  // it reached its table
	item attr.Item
	err  error
}

func (r *batchExecuteStatement) run(c *call) error {
	all, writes, err := r.prepareAll(c)
	if err != nil {
		return err
	}
	do := c.evaluate
	if writes {
		do = func(fn func(*store.Tx) error) error { return c.update(false, fn) }
	}
	var used *consumption
	err = do(func(tx *store.Tx) error { // may run again when statements have been counted: see store.UpdateRequest
		used = newConsumption(r.capacity)
		if writes {
			used.watch(tx, false)
		}
		for i := range all {
			b := &all[i]
			if b.err = b.bad; b.err == nil {
				b.err = b.perform(tx, used)
			}
			if b.err != nil && c.api.refusal(b.err).Status >= http.StatusInternalServerError {
				return b.err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.answer(c, all)
	used.all(c.out)
	return nil
}

// prepareAll prepares all statements, and reports whether they write.
func (r *batchExecuteStatement) prepareAll(c *call) (all []batched, writes bool, err error) {
	all = make([]batched, len(r.statements.V))
	reads := false
	for i := range all {
		b := &all[i]
		b.statement = &r.statements.V[i]
		b.bad = b.prepare(c)
		if read, err := b.parse(); err == nil {
			reads = reads || read.Kind == partiql.Select
			writes = writes || read.Kind != partiql.Select
		}
	}
	if reads && writes {
		return nil, false, errValidation("Read and write requests together in the same batch is not supported.")
	}
	if twice(all) {
		return nil, false, errValidation("Provided list of item keys contains duplicates")
	}
	return all, writes, nil
}

// prepare checks and compiles a statement as far as possible without its item.
func (b *batched) prepare(c *call) error {
	var params []attr.Value
	var err error
	if b.spec, params, err = b.alone(c); err != nil {
		return err
	}
	if b.statement.read.Kind != partiql.Select {
		var badKey error
		if b.write, badKey, err = b.statement.write(b.spec, params); err == nil {
			err = badKey
		}
		return err
	}
	if err := b.checkIndex(b.spec); err != nil {
		return err
	}
	var single bool
	b.read, single, err = b.statement.read.SingleItem(params, keyOf(b.spec.Key))
	if err == nil && !single {
		return errValidation("Select statements within BatchExecuteStatement must specify the primary key in the where clause.")
	}
	if err == nil && b.consistent.V {
		c.refresh(b.spec.Name, b.read.Key)
	}
	return err
}

// twice reports whether two statements are about the same item.
func twice(all []batched) bool {
	seen := map[string]bool{}
	for i := range all {
		b := &all[i]
		if b.bad != nil {
			continue
		}
		id := b.spec.Name + "\x00" + string(attr.AppendJSON(nil, b.key()))
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// key returns the key of the statement's item.
func (b *batched) key() attr.Item {
	if b.read.Key != nil {
		return b.read.Key
	}
	return keyIn(b.spec, b.write)
}

// keyIn returns the key of the item that a write is about.
func keyIn(spec *store.TableSpec, w store.WriteItem) attr.Item {
	switch {
	case w.Update != nil:
		return w.Update.Key
	case w.Delete != nil:
		return w.Delete.Key
	case w.Check != nil:
		return w.Check.Key
	}
	key := attr.Item{}
	for _, a := range spec.Key.Attrs() {
		key[a.Name] = w.Put.Item[a.Name]
	}
	return key
}

// perform runs a prepared statement.
func (b *batched) perform(tx *store.Tx, used *consumption) (err error) {
	b.ran, b.item = true, nil
	if b.read.Key == nil {
		if b.item, err = b.statement.perform(tx, b.write); err != nil {
			return b.translateError(err)
		}
		return nil
	}
	s := selection{read: b.read, spec: b.spec, consistent: b.consistent.V, used: used}
	_, err = s.run(tx, position{})
	if len(s.items) > 0 {
		b.item = s.items[0]
	}
	return err
}

func (r *batchExecuteStatement) answer(c *call, all []batched) {
	out := c.out
	out.NamedArray("Responses")
	for i := range all {
		b := &all[i]
		out.Begin()
		if b.err != nil {
			b.fault(c, c.api.refusal(plain(b.err)))
		}
		if b.ran {
			out.NamedText("TableName", b.spec.Name)
		}
		if len(b.item) > 0 {
			writeItem(out, "Item", b.item)
		}
		out.End()
	}
	out.EndArray()
}

// fault writes the error of one statement.
func (b *batched) fault(c *call, e *Error) {
	c.out.NamedObject("Error")
	code := strings.TrimSuffix(e.name(), "Exception")
	switch code {
	case "Validation":
		code = "ValidationError"
	case "ConditionalCheckFailed":
		if failed, ok := errors.AsType[*store.ConditionFailedError](b.err); ok && failed.Old != nil {
			writeItem(c.out, "Item", failed.Old)
		}
	}
	c.out.NamedText("Code", code)
	c.out.NamedText("Message", e.Message)
	c.out.End()
}
