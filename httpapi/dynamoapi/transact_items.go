package dynamoapi

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// transactWriteItems does all of its actions or none.
type transactWriteItems struct {
	actions  wire.Opt[[]transactAction]
	token    wire.Opt[string] // ClientRequestToken
	capacity wire.Opt[string]
	metrics  wire.Opt[string] // ReturnItemCollectionMetrics
}

// transactAction is an element of TransactItems. Exactly one of its members is to be set.
type transactAction struct {
	put    *transactPart
	update *transactPart
	delete *transactPart
	check  *transactPart
}

// transactPart is one action. It has what its kind has, the others' members are not read.
type transactPart struct {
	table     wire.Opt[string]
	item      wire.Item // of a put
	key       wire.Item // of the others
	update    wire.Opt[string]
	condition wire.Opt[string]
	params
	onFailure wire.Opt[string]
}

func (r *transactWriteItems) members(m *wire.Member) {
	wire.Array(m, "TransactItems", maxTransactItems, &r.actions, wire.Objects("TransactWriteItem", (*transactAction).members))
	m.Text("ClientRequestToken", &r.token)
	m.Text("ReturnConsumedCapacity", &r.capacity)
	m.Text("ReturnItemCollectionMetrics", &r.metrics)
}

func (a *transactAction) members(m *wire.Member) {
	readPart(m, "Put", &a.put)
	readPart(m, "Update", &a.update)
	readPart(m, "Delete", &a.delete)
	readPart(m, "ConditionCheck", &a.check)
}

func readPart(m *wire.Member, kind string, into **transactPart) {
	m.Read(kind, func(d *wire.Decoder) error {
		p := new(transactPart)
		*into = p
		return d.Field(kind, func(m *wire.Member) { p.members(m, kind) })
	})
}

func (p *transactPart) members(m *wire.Member, kind string) {
	m.Text("TableName", &p.table)
	if kind == "Put" {
		m.Item("Item", &p.item)
	} else {
		m.Item("Key", &p.key)
	}
	if kind == "Update" {
		m.Text("UpdateExpression", &p.update)
	}
	m.Text("ConditionExpression", &p.condition)
	m.Text("ReturnValuesOnConditionCheckFailure", &p.onFailure)
	p.params.members(m)
}

func (r *transactWriteItems) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	c.returnItemCollectionMetrics(r.metrics)
	c.length("clientRequestToken", r.token, 1, 36)
	if !c.required("transactItems", r.actions.Set) {
		return
	}
	c.elements("transactItems", len(r.actions.V), maxTransactItems)
	for i := range r.actions.V {
		a, at := &r.actions.V[i], fmt.Sprintf("transactItems.%d.member", i+1)
		if p := a.check; p != nil {
			p.constrain(c, at+".conditionCheck", &p.key, "key")
			c.required(at+".conditionCheck.conditionExpression", p.condition.Set)
		}
		if p := a.put; p != nil {
			p.constrain(c, at+".put", &p.item, "item")
		}
		if p := a.delete; p != nil {
			p.constrain(c, at+".delete", &p.key, "key")
		}
		if p := a.update; p != nil {
			p.constrain(c, at+".update", &p.key, "key")
			c.required(at+".update.updateExpression", p.update.Set)
		}
	}
}

func (p *transactPart) constrain(c *constraints, at string, subject *wire.Item, name string) {
	c.table(at+".tableName", p.table)
	c.required(at+"."+name, subject.Set)
	c.onConditionCheckFailure(at+".returnValuesOnConditionCheckFailure", p.onFailure)
}

func (r *transactWriteItems) touches(_ string, visit func(action, table string)) {
	for i := range r.actions.V {
		a := &r.actions.V[i]
		for _, one := range [...]struct {
			action string
			part   *transactPart
		}{{"PutItem", a.put}, {"UpdateItem", a.update}, {"DeleteItem", a.delete}, {"ConditionCheckItem", a.check}} {
			if one.part != nil {
				visit(one.action, one.part.table.V)
			}
		}
	}
}

// parts implements parted.
func (r *transactWriteItems) parts() int { return len(r.actions.V) }

func (r *transactWriteItems) run(c *call) error {
	write := store.TransactWrite{Token: r.token.V}
	l := newLedger(r.capacity, r.metrics)
	for i := range r.actions.V {
		a := &r.actions.V[i]
		if err := a.only(); err != nil {
			return err
		}
		one, err := a.item()
		if err != nil {
			return cmp.Or(c.api.store.CheckWrites(write.Items), err)
		}
		write.Items = append(write.Items, one)
		a.account(c, l)
	}
	write.Repeated = l.repeated
	err := c.update(write.ChecksOnly(), func(tx *store.Tx) error {
		l.watch(tx, true)
		return tx.TransactWrite(write)
	})
	if err != nil {
		return r.withoutOld(err)
	}
	l.write(c.out)
	return nil
}

// only refuses an element that is not exactly one action.
func (a *transactAction) only() error {
	n := 0
	for _, p := range [...]*transactPart{a.put, a.update, a.delete, a.check} {
		if p != nil {
			n++
		}
	}
	switch n {
	case 0:
		return errValidation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
	case 1:
		return nil
	}
	return errValidation("TransactItems can only contain one of Check, Put, Update or Delete")
}

// part returns the one action that is set.
func (a *transactAction) part() *transactPart {
	for _, p := range [...]*transactPart{a.put, a.update, a.delete} {
		if p != nil {
			return p
		}
	}
	return a.check
}

// item makes the checks of an action and returns it as the store takes it.
func (a *transactAction) item() (out store.WriteItem, err error) {
	p := a.part()
	expressions := []expression{{"ConditionExpression", p.condition}}
	if a.update != nil {
		expressions = []expression{{"UpdateExpression", p.update}, {"ConditionExpression", p.condition}}
	}
	if err := p.check(expressions); err != nil {
		return out, err
	}
	if p.item.Err != nil {
		return out, p.item.Err
	}
	if p.key.Err != nil {
		return out, p.key.Err
	}
	params, err := p.bind(expressions...)
	if err != nil {
		return out, err
	}
	table := tableName(p.table.V)
	switch {
	case a.put != nil:
		out.Put = &store.PutItem{Table: table, Item: p.item.V, Condition: p.condition.V, Params: params}
	case a.update != nil:
		out.Update = &store.UpdateItem{Table: table, Key: p.key.V, Update: p.update.V, Condition: p.condition.V, Params: params}
	case a.delete != nil:
		out.Delete = &store.DeleteItem{Table: table, Key: p.key.V, Condition: p.condition.V, Params: params}
	default:
		out.Check = &store.ConditionCheck{Table: table, Key: p.key.V, Condition: p.condition.V, Params: params}
	}
	return out, nil
}

// account notes the action in a ledger.
func (a *transactAction) account(c *call, l *ledger) {
	p := a.part()
	subject := p.key.V
	if a.put != nil {
		subject = p.item.V
	}
	l.add(c, tableName(p.table.V), subject)
}

// withoutOld takes the items from the reasons of those actions that do not want them.
func (r *transactWriteItems) withoutOld(err error) error {
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if !ok {
		return err
	}
	for i := range canceled.Reasons {
		if r.actions.V[i].part().onFailure.V != "ALL_OLD" {
			canceled.Reasons[i].Item = nil
		}
	}
	return err
}

// maxTransactItems is how many actions a transaction may have.
const maxTransactItems = 100

// transactGetItems reads items as of one instant.
type transactGetItems struct {
	gets     wire.Opt[[]wire.Opt[getItem]] // an element without its Get is not set
	capacity wire.Opt[string]
}

func (r *transactGetItems) members(m *wire.Member) {
	wire.Array(m, "TransactItems", maxTransactItems, &r.gets, wire.Objects("TransactGetItem", getMembers))
	m.Text("ReturnConsumedCapacity", &r.capacity)
}

func getMembers(get *wire.Opt[getItem], m *wire.Member) {
	wire.Object(m, "Get", "Get", get, (*getItem).members)
}

func (r *transactGetItems) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	if !c.required("transactItems", r.gets.Set) {
		return
	}
	c.elements("transactItems", len(r.gets.V), maxTransactItems)
	for i, g := range r.gets.V {
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if c.required(at, g.Set) {
			c.table(at+".tableName", g.V.table)
			c.required(at+".key", g.V.key.Set)
		}
	}
}

func (r *transactGetItems) touches(_ string, visit func(action, table string)) {
	for _, g := range r.gets.V {
		visit("GetItem", g.V.table.V)
	}
}

// parts implements parted.
func (r *transactGetItems) parts() int { return len(r.gets.V) }

func (r *transactGetItems) run(c *call) error {
	var gets []store.GetItem
	for _, g := range r.gets.V {
		get, err := g.V.get()
		if err != nil {
			return err
		}
		gets = append(gets, get)
	}
	used := newConsumption(r.capacity)
	got, err := c.transactGet(gets, used)
	if err != nil {
		return err
	}
	responses(c.out, got)
	used.all(c.out)
	return nil
}

// transactGet reads items as they were together at one moment.
func (c *call) transactGet(gets []store.GetItem, used *consumption) (got []attr.Item, err error) {
	err = c.view(func(tx *store.Tx) (err error) {
		used.watchReads(tx, func(string) bool { return true }, true)
		got, err = tx.TransactGet(gets)
		return err
	})
	return got, err
}

// responses writes items, each in an object of its own, which is empty where there is none.
func responses(out *wire.Encoder, items []attr.Item) {
	out.NamedArray("Responses")
	for _, it := range items {
		out.Begin()
		if it != nil {
			named(out, "Item", it)
		}
		out.End()
	}
	out.EndArray()
}
