package store

import (
	"strconv"

	"github.com/touchline/touchline/store/attr"
)

// CheckWrites refuses what is wrong with actions of a transaction alone, as TransactWrite does before it looks at any table. It is
// for callers that have found a fault in the action behind these: the first one is reported.
func (s *Store) CheckWrites(items []WriteItem) error {
	if len(items) == 0 {
		return nil
	}
	t := TransactWrite{Items: items}
	_, err := t.writes(&Tx{s: s}) // binding asks it for the cache of expressions and the budget alone
	return err
}

// writes returns the actions of a transaction, bound, after refusing what needs no table to be refused. Of several faults
// the one of the first action is reported.
func (t *TransactWrite) writes(tx *Tx) ([]write, error) {
	if err := checkCount(len(t.Items), maxTransactItems, "TransactItems"); err != nil {
		return nil, err
	}
	if err := checkToken(t.Token); err != nil {
		return nil, err
	}
	writes := make([]write, len(t.Items))
	bytes := 0
	for i := range t.Items {
		w, err := t.Items[i].write(i)
		if err != nil {
			return nil, err
		}
		if err := w.checkBare(); err != nil {
			return nil, err
		}
		if err := w.bind(tx); err != nil {
			return nil, err
		}
		bytes += attr.Size(w.subject) + attr.Size(w.request.Params.Values)
		writes[i] = w
	}
	if bytes > maxTransactBytes {
		return nil, invalid("Transaction payload size cannot exceed 4MB. Payload Size: %d", bytes)
	}
	return writes, nil
}

// write returns the one action that is in a WriteItem, the one of the given number from 0.
func (it *WriteItem) write(number int) (w write, err error) {
	n := 0
	if it.Put != nil {
		w, n = it.Put.write(), n+1
	}
	if it.Update != nil {
		w, n = it.Update.write(), n+1
	}
	if it.Delete != nil {
		w, n = it.Delete.write(), n+1
	}
	if it.Check != nil {
		w, n = it.Check.write(), n+1
	}
	switch {
	case n == 0:
		return w, invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
	case n > 1:
		return w, invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	case w.op == opCheck && w.request.Condition == "":
		member := "TransactItems." + strconv.Itoa(number+1) + ".member.ConditionCheck.ConditionExpression"
		return w, errConstraint(member, "Member must not be null")
	}
	return w, nil
}

// twice reports whether two actions are on one item. Those whose key could not be made are left out.
func twice(writes []write) bool {
	seen := make(map[itemID]bool, len(writes))
	for i := range writes {
		if writes[i].key == nil {
			continue
		}
		id := writes[i].id()
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// itemID names an item in the store.
type itemID struct {
	table uint32
	key   string
}

func (w *write) id() itemID { return itemID{w.table.id, string(w.key)} }

// checkCount refuses an empty list and one that is too long, in the words of DynamoDB's checks of members.
func checkCount(n, limit int, member string) error {
	switch {
	case n == 0:
		return errConstraint(member, "Member must have length greater than or equal to 1")
	case n > limit:
		return errConstraint(member, "Member must have length less than or equal to "+strconv.Itoa(limit))
	}
	return nil
}

func errConstraint(member, constraint string) error {
	return invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: %s", member, constraint)
}
