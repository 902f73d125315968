package simcloud

import (
	"errors"
	"maps"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/sync/replica/intent"
)

// action is a Call in progress: bound, aimed at a row, judged.
type action struct {
	call  *intent.Call
	bound expr.Bound
	table *table
	key   string
	was   attr.Item // nil: none
	now   attr.Item // nil: deleted, or a check
}

// Write does one operation for the node or other writer named by. Errors are *intent.Error.
func (c *Cloud) Write(by string, call intent.Call) (attr.Item, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	a := action{call: &call}
	err := c.prepare(&a)
	if err == nil {
		err = a.judge(c.options.MaxItem)
	}
	c.charge(&a, 1)
	if err != nil {
		return nil, asError(err)
	}
	c.perform(&a, by, 0)
	return a.now, nil
}

// prepare refuses faults that do not depend on the item.
func (c *Cloud) prepare(a *action) error {
	if err := c.bind(a); err != nil {
		return err
	}
	if err := c.find(a); err != nil {
		return err
	}
	return a.aim()
}

// bind refuses faults of the request alone.
func (c *Cloud) bind(a *action) (err error) {
	call := a.call
	if call.Op == store.OpPut {
		size, err := attr.Measure(call.Item)
		if err != nil {
			return err
		}
		if size > c.options.MaxItem {
			return tooLarge()
		}
	}
	if call.Op == 0 && call.Condition == "" {
		return invalid("a ConditionCheck needs its ConditionExpression")
	}
	a.bound, err = c.exprs.Bind(expr.Request{Update: call.Update, Condition: call.Condition, Params: call.Params})
	return err
}

func (c *Cloud) find(a *action) (err error) {
	a.table, err = c.table(a.call.Table)
	return err
}

// aim finds the row, and refuses what the table can never accept.
func (a *action) aim() (err error) {
	if a.call.Op == store.OpPut {
		if a.key, err = a.table.itemKey(a.call.Item); err == nil {
			err = a.table.checkIndexes(a.call.Item)
		}
	} else {
		a.key, err = a.table.requestKey(a.call.Key)
	}
	if err != nil || a.bound.Update == nil {
		return err
	}
	for _, name := range a.bound.Update.Attributes() {
		for _, k := range a.table.spec.Key.Attrs() {
			if name == k.Name {
				return invalid("One or more parameter values were invalid: Cannot update attribute %s. "+
					"This attribute is part of the key", name)
			}
		}
	}
	return nil
}

// judge checks the condition and computes the result. most is the size limit of the item.
func (a *action) judge(most int) error {
	a.was = a.table.items[a.key]
	if a.bound.Condition != nil {
		holds, err := a.bound.Condition.Match(expr.Item(a.was))
		if err != nil {
			return err
		}
		if !holds {
			return &intent.Error{
				Class: intent.ConditionFailed, Old: a.was, Err: errors.New("The conditional request failed"), //nolint:staticcheck // DynamoDB's words
			}
		}
	}
	switch a.call.Op {
	case store.OpPut:
		a.now = maps.Clone(a.call.Item)
	case store.OpUpdate:
		return a.update(most)
	}
	return nil
}

func (a *action) update(most int) (err error) {
	base := a.was
	if base == nil {
		if !a.bound.Update.Creates() {
			return nil
		}
		base = a.call.Key
	}
	var item attr.Item
	if a.bound.Update == nil {
		item = maps.Clone(base)
	} else if item, err = a.bound.Update.Apply(base); err != nil {
		return err
	}
	size, err := attr.Measure(item)
	if err != nil {
		return err
	}
	if size > most {
		return tooLarge()
	}
	a.now = item
	return a.table.checkIndexes(item)
}

// perform applies an action after all were judged. The caller holds the lock.
func (c *Cloud) perform(a *action, by string, txn uint64) {
	if a.call.Op == 0 || a.was == nil && a.now == nil {
		return
	}
	c.apply(a.table, a.key, a.call.Op, a.now, by, markOf(a.call), txn)
}

// charge counts write units: one for each kilobyte of the larger image, also for refused writes; twice that in a transaction.
func (c *Cloud) charge(a *action, times float64) {
	if a.table == nil {
		return
	}
	size := max(attr.Size(a.was), attr.Size(a.now), 1)
	c.units += times * float64((size+1023)/1024)
}

// markPrefix is the prefix of the attributes with the marks of nodes.
const markPrefix = "_a_"

// markOf returns the mark under which a call is sent: its condition requires that the node's mark is lower.
func markOf(call *intent.Call) string {
	for placeholder, name := range call.Names {
		node, ok := strings.CutPrefix(name, markPrefix)
		if !ok {
			continue
		}
		if value := lowerThan(call.Condition, placeholder); value != "" {
			return node + " " + call.Values[value].Str()
		}
	}
	return ""
}

// lowerThan returns ":value" from "name < :value" in a condition.
func lowerThan(condition, name string) string {
	_, behind, ok := strings.Cut(condition, name+" < :")
	if !ok {
		return ""
	}
	end := strings.IndexFunc(behind, func(r rune) bool { return r == ' ' || r == ')' })
	if end < 0 {
		end = len(behind)
	}
	return ":" + behind[:end]
}
