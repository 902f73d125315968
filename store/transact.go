package store

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// DynamoDB's limits for TransactWriteItems and TransactGetItems.
const (
	maxTransactItems = 100
	maxTransactBytes = 4 << 20
)

// ConditionCheck is a condition on an item that the transaction does not change.
type ConditionCheck struct {
	Table     string
	Key       attr.Item
	Condition string
	expr.Params
}

func (c *ConditionCheck) write() write {
	return write{
		op: opCheck, name: c.Table, subject: c.Key, request: Request{Condition: c.Condition, Params: c.Params},
	}
}

// WriteItem is one action of a TransactWrite: exactly one of its fields is set.
type WriteItem struct {
	Put    *PutItem
	Update *UpdateItem
	Delete *DeleteItem
	Check  *ConditionCheck
}

// TransactWrite is up to 100 actions on as many items, in any tables, of which all are done or none. The items put, and
// the keys and values of the other actions, are 4 MB at most.
type TransactWrite struct {
	Items []WriteItem

	// Token is DynamoDB's ClientRequestToken, of up to 36 characters; empty: none. For ten minutes after it was done, the
	// same request with the same token succeeds without being done again.
	Token string

	// AllReasons requests the reason of every action, as PartiQL statements need; otherwise none are returned after the first
	// action that is not valid.
	AllReasons bool

	// Repeated is called instead of doing an action that was done before, with the item of the action as it is now, or
	// of size 0 if there is none: DynamoDB bills a read of it. It makes no call on the transaction; nil: nobody asks. What
	// Touched has set is not called then.
	Repeated func(Touch)
}

// ChecksOnly reports whether the transaction only checks conditions. Store.UpdateRequest then runs it without a turn, and does
// not remember its token.
func (t *TransactWrite) ChecksOnly() bool {
	return !slices.ContainsFunc(t.Items, func(it WriteItem) bool { return it.Check == nil })
}

// TransactionCanceledError says that actions of a TransactWrite or TransactGet could not be done. Nothing was changed;
// the transaction around it may go on. fault.KindOf gives Conflict.
type TransactionCanceledError struct {
	Reasons []CancellationReason // one for each action, in their order
}

// CancellationReason says why an action cancelled the transaction, or (ReasonNone) that it did not.
type CancellationReason struct {
	Code    string    // one of the Reason constants
	Message string    // empty with ReasonNone
	Item    attr.Item // with ReasonConditionFailed the item as it is, expired or not; nil if there is none
}

// The codes of cancellation reasons, in DynamoDB's spelling. It has more, for what cannot happen here.
const (
	ReasonNone            = "None"
	ReasonConditionFailed = "ConditionalCheckFailed"
	ReasonValidation      = "ValidationError"
)

// Error has DynamoDB's words.
func (e *TransactionCanceledError) Error() string {
	codes := make([]string, len(e.Reasons))
	for i, r := range e.Reasons {
		codes[i] = r.Code
	}
	return "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(codes, ", ") + "]"
}

// Unwrap returns the fault that the edges map.
func (e *TransactionCanceledError) Unwrap() error {
	return fault.New(fault.Conflict, "transaction_canceled", "%s", e.Error())
}

// TransactWrite does all of its actions or none. All conditions are judged against the state before it.
//
// What is wrong with the request alone refuses it with fault.Invalid: expressions, items too large or too deep, empty
// key values, two actions on one item. Conditions that do not hold, and what depends on the tables and items, cancel it
// with a TransactionCanceledError that has every reason: keys and index keys of the wrong type, updates that do not fit
// their item or make it too large. The split is the service's; DynamoDB Local draws it elsewhere.
func (tx *Tx) TransactWrite(t TransactWrite) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.core.Leave()
	call := tx.recall()
	if call == nil {
		writes, err := t.writes(tx)
		if err != nil {
			return err
		}
		call = &judged{writes: writes, mark: newMark(t.Token, writes)}
	}
	switch done, err := tx.core.DoneBefore(call.mark); {
	case err != nil:
		return err
	case done:
		return tx.repeat(call.writes, t.Repeated)
	}
	if stands, err := tx.stands(call); err != nil || !stands {
		if call.changes, err = tx.judgeAll(call.writes, t.AllReasons); err != nil {
			return err
		}
	}
	if tx.ahead != nil {
		tx.note(*call)
		return nil
	}
	return tx.do(call)
}

// do makes the changes of a transaction.
func (tx *Tx) do(call *judged) error {
	told, err := tx.compile(call.writes, call.changes, true)
	if err != nil {
		return err
	}
	if err := tx.isTold(told, tx.performAll(call.changes)); err != nil {
		return err
	}
	failpoint.Hit(failpoint.TransactDone)
	return tx.core.Remember(call.mark)
}

// repeat tells of the items that a transaction is about which was done before. A table may be another one since, or none.
func (tx *Tx) repeat(writes []write, tell func(Touch)) error {
	if tell == nil {
		return nil
	}
	for i := range writes {
		w := &writes[i]
		touch := Touch{Table: w.name}
		if w.find(tx) == nil && w.aim() == nil {
			r, err := tx.core.Row(w.table, w.key)
			if err != nil {
				return err
			}
			touch.Old = r.Bytes()
		}
		tell(touch)
	}
	return nil
}

// judgeAll takes the actions from the tables to their changes, and collects the reasons against them.
func (tx *Tx) judgeAll(writes []write, all bool) ([]txn.Change, error) {
	reasons := make(reasons, len(writes))
	for i := range writes {
		w := &writes[i]
		if err := w.find(tx); err != nil {
			return nil, err
		}
		err := w.aim()
		if err == nil {
			err = w.fit()
		}
		if err := reasons.take(i, err); err != nil {
			return nil, err
		}
	}
	if twice(writes) {
		return nil, refusal.Invalid("Transaction request cannot include multiple operations on one item")
	}
	changes := make([]txn.Change, len(writes))
	for i := range writes {
		if reasons[i].Code != "" {
			continue
		}
		var err error
		changes[i], _, err = tx.judge(&writes[i], false)
		if err := reasons.take(i, err); err != nil {
			return nil, err
		}
	}
	return changes, reasons.verdict(all)
}

// reasons are collected while the actions are looked at; those without a code are of actions that nothing is against.
type reasons []CancellationReason

// take makes the error of an action its reason. An error that is none is given back: it is about the whole request, or
// no matter of the request at all.
func (r reasons) take(i int, err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := err.(*ConditionFailedError); ok { //nolint:errorlint // judge gives it as it is
		r[i] = CancellationReason{Code: ReasonConditionFailed, Message: failed.Error(), Item: failed.Old}
		return nil
	}
	if !fault.Is(err, fault.Invalid) || catalogue.IsEmptyKey(err) || isTooMuch(err) {
		return err
	}
	r[i] = CancellationReason{Code: ReasonValidation, Message: err.Error()}
	return nil
}

// verdict is the error of the transaction, nil if there is no reason for one. The service looks no further than to the first
// action that is not valid: those behind it have no reason of their own, unless all are wanted.
func (r reasons) verdict(all bool) error {
	canceled, invalid := false, false
	for i := range r {
		if r[i].Code == "" || invalid {
			r[i] = CancellationReason{Code: ReasonNone}
			continue
		}
		canceled, invalid = true, !all && r[i].Code == ReasonValidation
	}
	if !canceled {
		return nil
	}
	return &TransactionCanceledError{Reasons: r}
}
