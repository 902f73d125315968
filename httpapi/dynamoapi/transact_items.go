package dynamoapi

import (
	"errors"
	"fmt"

	"github.com/touchline/touchline/httpapi/dynamoapi/wire"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// transactWriteItems applies all of its actions or none.
type transactWriteItems struct {
	actions  wire.Opt[[]transactAction]
	token    wire.Opt[string] // ClientRequestToken
	capacity wire.Opt[string]
	metrics  wire.Opt[string] // ReturnItemCollectionMetrics
}

// transactAction is an element of TransactItems. Exactly one of its members must be set.
type transactAction map[string]*transactPart

// transactKinds are the members of a transactAction, with the actions as named in permissions.
var transactKinds = []struct{ member, action string }{
	{"Put", "PutItem"}, {"Update", "UpdateItem"}, {"Delete", "DeleteItem"}, {"ConditionCheck", "ConditionCheckItem"},
}

// transactPart is one action. Only members of its kind are read.
type transactPart struct {
	kind      string
	table     wire.Opt[string]
	item      wire.Item // for a put
	key       wire.Item // for the others
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
	for _, k := range transactKinds {
		m.Read(k.member, func(d *wire.Decoder) {
			if *a == nil {
				*a = transactAction{}
			}
			p := &transactPart{kind: k.member}
			(*a)[k.member] = p
			d.Field(k.member, p.members)
		})
	}
}

func (p *transactPart) members(m *wire.Member) {
	m.Text("TableName", &p.table)
	if p.kind == "Put" {
		m.Item("Item", &p.item)
	} else {
		m.Item("Key", &p.key)
	}
	if p.kind == "Update" {
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
	if !c.require("transactItems", r.actions.Set) {
		return
	}
	c.elements("transactItems", len(r.actions.V), maxTransactItems)
	for i := range r.actions.V {
		a, at := r.actions.V[i], fmt.Sprintf("transactItems.%d.member", i+1)
		if p := a["ConditionCheck"]; p != nil {
			p.constrain(c, at+".conditionCheck", "key")
			c.require(at+".conditionCheck.conditionExpression", p.condition.Set)
		}
		if p := a["Put"]; p != nil {
			p.constrain(c, at+".put", "item")
		}
		if p := a["Delete"]; p != nil {
			p.constrain(c, at+".delete", "key")
		}
		if p := a["Update"]; p != nil {
			p.constrain(c, at+".update", "key")
			c.require(at+".update.updateExpression", p.update.Set)
		}
	}
}

func (p *transactPart) constrain(c *constraints, at, name string) {
	c.table(at+".tableName", p.table)
	c.require(at+"."+name, p.subject().Set)
	c.onConditionCheckFailure(at+".returnValuesOnConditionCheckFailure", p.onFailure)
}

func (r *transactWriteItems) touches(_ string, visit func(action, table string)) {
	for _, a := range r.actions.V {
		for _, k := range transactKinds {
			if p := a[k.member]; p != nil {
				visit(k.action, p.table.V)
			}
		}
	}
}

// parts implements parted.
func (r *transactWriteItems) parts() int { return len(r.actions.V) }

func (r *transactWriteItems) run(c *call) error {
	write := store.TransactWrite{Token: r.token.V}
	l := newLedger(r.capacity, r.metrics)
	for _, a := range r.actions.V {
		p, err := a.onlyPart()
		if err != nil {
			return err
		}
		item, err := p.write()
		if err != nil {
			if earlier := c.api.store.CheckWrites(write.Items); earlier != nil {
				return earlier
			}
			return err
		}
		write.Items = append(write.Items, item)
		l.add(c, tableName(p.table.V), p.subject().V)
	}
	write.Repeated = func(t store.Touch) {
		l.units.reread(t)
		l.collections = nil // nothing was written
	}
	err := c.update(write.ChecksOnly(), func(tx *store.Tx) error {
		l.units.watch(tx, true)
		return tx.TransactWrite(write)
	})
	if err != nil {
		return r.withoutOld(err)
	}
	l.write(c.out)
	return nil
}

// onlyPart returns an element's action. It refuses an element without exactly one.
func (a transactAction) onlyPart() (p *transactPart, err error) {
	switch len(a) {
	case 0:
		return nil, errValidation("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
	case 1:
		for _, p = range a {
			return p, nil
		}
	}
	return nil, errValidation("TransactItems can only contain one of Check, Put, Update or Delete")
}

// subject returns a put's item, and the key of other actions.
func (p *transactPart) subject() *wire.Item {
	if p.kind == "Put" {
		return &p.item
	}
	return &p.key
}

// write checks an action and returns it for the store.
func (p *transactPart) write() (out store.WriteItem, err error) {
	expressions := []expression{{"ConditionExpression", p.condition}}
	if p.kind == "Update" {
		expressions = []expression{{"UpdateExpression", p.update}, {"ConditionExpression", p.condition}}
	}
	if err := p.check(expressions); err != nil {
		return out, err
	}
	if err := p.subject().Err; err != nil {
		return out, err
	}
	params, err := p.bind(expressions...)
	if err != nil {
		return out, err
	}
	table := tableName(p.table.V)
	switch p.kind {
	case "Put":
		out.Put = &store.PutItem{Table: table, Item: p.item.V, Condition: p.condition.V, Params: params}
	case "Update":
		out.Update = &store.UpdateItem{Table: table, Key: p.key.V, Update: p.update.V, Condition: p.condition.V, Params: params}
	case "Delete":
		out.Delete = &store.DeleteItem{Table: table, Key: p.key.V, Condition: p.condition.V, Params: params}
	default:
		out.Check = &store.ConditionCheck{Table: table, Key: p.key.V, Condition: p.condition.V, Params: params}
	}
	return out, nil
}

// withoutOld removes the items from the reasons of actions that do not want them.
func (r *transactWriteItems) withoutOld(err error) error {
	canceled, ok := errors.AsType[*store.TransactionCanceledError](err)
	if !ok {
		return err
	}
	for i := range canceled.Reasons {
		for _, p := range r.actions.V[i] {
			if p.onFailure.V != "ALL_OLD" {
				canceled.Reasons[i].Item = nil
			}
		}
	}
	return err
}

// maxTransactItems is the maximum number of actions in a transaction.
const maxTransactItems = 100

// transactGetItems reads items from one snapshot.
type transactGetItems struct {
	gets     wire.Opt[[]wire.Opt[getItem]] // an element without its Get is not set
	capacity wire.Opt[string]
}

func (r *transactGetItems) members(m *wire.Member) {
	wire.Array(m, "TransactItems", maxTransactItems, &r.gets, wire.Objects("TransactGetItem", func(get *wire.Opt[getItem], m *wire.Member) {
		wire.Object(m, "Get", "Get", get, (*getItem).members)
	}))
	m.Text("ReturnConsumedCapacity", &r.capacity)
}

func (r *transactGetItems) constrain(c *constraints) {
	c.returnConsumedCapacity(r.capacity)
	if !c.require("transactItems", r.gets.Set) {
		return
	}
	c.elements("transactItems", len(r.gets.V), maxTransactItems)
	for i, g := range r.gets.V {
		at := fmt.Sprintf("transactItems.%d.member.get", i+1)
		if c.require(at, g.Set) {
			c.table(at+".tableName", g.V.table)
			c.require(at+".key", g.V.key.Set)
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

// transactGet reads items from one snapshot.
func (c *call) transactGet(gets []store.GetItem, used *consumption) (got []attr.Item, err error) {
	for _, get := range gets {
		c.refresh(get.Table, get.Key)
	}
	err = c.view(func(tx *store.Tx) (err error) {
		used.watchReads(tx, func(string) bool { return true }, true)
		got, err = tx.TransactGet(gets)
		return err
	})
	return got, err
}

// responses writes each item in an object, which is empty if there is no item.
func responses(out *wire.Encoder, items []attr.Item) {
	out.NamedArray("Responses")
	for _, it := range items {
		out.Begin()
		if it != nil {
			writeItem(out, "Item", it)
		}
		out.End()
	}
	out.EndArray()
}
