package intent

import (
	"strconv"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Subject is one action of a TransactWrite together with the state of its item.
type Subject struct {
	Write   *store.Write
	Known   Known
	Pending []*Entry // of the item, in order
}

const (
	maxActions = 99      // of a cloud transaction; the 100th is its proof
	maxPayload = 4 << 20 // bytes of a cloud transaction
)

// CompileAll returns the entries of one TransactWrite: those of one cloud transaction and, beside it, those of policy state, which
// are sent alone. Actions on tables that do not send yield none, except conditions on rows of the cloud. Errors are Compile's.
func CompileAll(subjects []Subject, env Env) ([]*Entry, error) {
	var out, group []*Entry
	var checks []Check
	for i := range subjects {
		s := &subjects[i]
		if c, ok := checkOf(s.Write); ok {
			checks = append(checks, c)
			continue
		}
		e, err := Compile(s.Write, s.Known, s.Pending, env)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
		case e.Policy == store.PolicyState:
			out = append(out, e)
		default:
			group = append(group, e)
		}
	}
	if len(group) == 0 {
		return out, nil
	}
	if len(group)+len(checks) > 1 {
		if err := checkGroup(group, checks, env); err != nil {
			return nil, err
		}
		group[0].Checks = checks
		for _, e := range group {
			e.Txn = group[0].Seq
		}
	}
	return append(group, out...), nil
}

// checkOf returns the condition of an action that changes nothing: a ConditionCheck, a delete of a missing item, or an update that
// only removes from a missing item. Conditions on tables that the cloud does not have are evaluated locally only.
func checkOf(w *store.Write) (Check, bool) {
	if w.Seq != 0 || w.Request.Condition == "" || w.Spec.Internal || w.Spec.Policy == store.PolicyLocal || w.Spec.Policy == "" {
		return Check{}, false
	}
	c := Check{Table: w.Spec.Name, Key: w.Key}
	_, c.Condition, c.Params = renumber(store.Request{Condition: w.Request.Condition, Params: w.Request.Params}, w.Bound)
	return c, true
}

// checkGroup refuses what cannot be one cloud transaction.
func checkGroup(group []*Entry, checks []Check, env Env) error {
	if !env.Transactions {
		return invalid("The cloud this node sends to has no transactions: TransactItems with more than one action cannot be sent there")
	}
	if n := len(group) + len(checks); n > maxActions {
		return invalid("1 validation error detected: Value at 'TransactItems' failed to satisfy constraint: "+
			"Member must have length less than or equal to %s", strconv.Itoa(maxActions))
	}
	bytes := 0
	for _, e := range group {
		if e.Policy != group[0].Policy {
			return invalid("TransactItems of tables with the policies %s and %s cannot be one transaction", group[0].Policy, e.Policy)
		}
		c := build(e, Known{}, env)
		bytes += attr.Size(c.Item) + attr.Size(c.Key) + attr.Size(c.Values)
	}
	for i := range checks {
		bytes += attr.Size(checks[i].Key) + attr.Size(checks[i].Values)
	}
	if bytes > maxPayload {
		return invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", bytes)
	}
	return nil
}
