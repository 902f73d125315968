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

// WriteItem is one action of a TransactWrite. Exactly one of its fields is set.
type WriteItem struct {
	Put    *PutItem
	Update *UpdateItem
	Delete *DeleteItem
	Check  *ConditionCheck
}

// TransactWrite is up to 100 actions on distinct items of any tables, done all or not at all. The items put, and the keys and values of
// the other actions, may have 4 MB in total.
type TransactWrite struct {
	Items []WriteItem

	// Token is DynamoDB's ClientRequestToken, of up to 36 characters; empty: none. For ten minutes after the request was done, the same
	// request with the same token succeeds without being done again.
	Token string

	// AllReasons requests the reason of every action, as PartiQL statements need. By default, actions after the first invalid one get
	// none.
	AllReasons bool

	// Repeated is called for each action of a request that was done before, with the present size of its item, or 0 if there is none:
	// DynamoDB bills a read of it. It must not call the transaction; nil: not called. The function set by OnTouch is not called for such
	// actions.
	Repeated func(Touch)
}

// ChecksOnly reports whether the transaction only checks conditions. Store.UpdateRequest then runs it without a turn, and does not
// remember its token.
func (t *TransactWrite) ChecksOnly() bool {
	return !slices.ContainsFunc(t.Items, func(it WriteItem) bool { return it.Check == nil })
}

// TransactionCanceledError reports that actions of a TransactWrite or TransactGet could not be done. Nothing was changed; the surrounding
// transaction may continue. fault.KindOf returns Conflict.
type TransactionCanceledError struct {
	Reasons []CancellationReason // one for each action, in order
}

// CancellationReason says why an action cancelled the transaction, or with ReasonNone that it did not.
type CancellationReason struct {
	Code    string    // one of the Reason constants
	Message string    // empty for ReasonNone
	Item    attr.Item // for ReasonConditionFailed the present item, expired or not; nil if there is none
}

// The codes of cancellation reasons, in DynamoDB's spelling. DynamoDB has more, which cannot happen here.
const (
	ReasonNone            = "None"
	ReasonConditionFailed = "ConditionalCheckFailed"
	ReasonValidation      = "ValidationError"
)

// Error returns DynamoDB's text.
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
// Faults of the request alone are fault.Invalid: bad expressions, items too large or too deep, empty key values, two actions on one item.
// Failed conditions, and faults that depend on tables and items, are a TransactionCanceledError with all reasons: keys and index keys of
// the wrong type, updates that do not fit their item or make it too large. The line is drawn as by the service; DynamoDB Local draws it
// elsewhere.
func (tx *Tx) TransactWrite(t TransactWrite) error {
	if err := tx.enterWrite(); err != nil {
		return err
	}
	defer tx.core.EndCall()
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
		tx.recordJudged(*call)
		return nil
	}
	return tx.do(call)
}

// do applies the changes of a transaction.
func (tx *Tx) do(call *judged) error {
	noted, err := tx.compile(call.writes, call.changes, true)
	if err != nil {
		return err
	}
	if err := tx.breakIfNoted(noted, tx.performAll(call.changes)); err != nil {
		return err
	}
	failpoint.Hit(failpoint.TransactDone)
	return tx.core.Remember(call.mark)
}

// repeat calls tell for each item of a transaction that was done before. Its table may have been replaced or dropped since.
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

// judgeAll turns the actions into changes, and collects the reasons against them.
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
		if err := reasons.setReason(i, err); err != nil {
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
		changes[i], _, err = tx.computeChange(&writes[i], false)
		if err := reasons.setReason(i, err); err != nil {
			return nil, err
		}
	}
	return changes, reasons.verdict(all)
}

// reasons collects the outcomes of the actions. An empty code means that nothing is wrong with the action.
type reasons []CancellationReason

// setReason makes the error of an action its reason. It returns errors that are not: those about the whole request, and internal ones.
func (r reasons) setReason(i int, err error) error {
	if err == nil {
		return nil
	}
	if failed, ok := err.(*ConditionFailedError); ok { //nolint:errorlint // judge does not wrap it
		r[i] = CancellationReason{Code: ReasonConditionFailed, Message: failed.Error(), Item: failed.Old}
		return nil
	}
	if !fault.Is(err, fault.Invalid) || catalogue.IsEmptyKey(err) || isTooMuch(err) {
		return err
	}
	r[i] = CancellationReason{Code: ReasonValidation, Message: err.Error()}
	return nil
}

// verdict returns the error of the transaction, or nil if no action failed. The service stops at the first invalid action: later ones get
// no reason, unless all are requested.
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
