package simcloud

import (
	"errors"
	"slices"
	"strings"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
)

const (
	maxActions  = 100
	maxTransact = 4 << 20
)

// GainTransactions gives transactions to a cloud without them, like an update of the service.
func (c *Cloud) GainTransactions() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.options.NoTransactions = false
}

func (c *Cloud) transactions() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.options.NoTransactions
}

// Transact does all operations or none.
func (c *Cloud) Transact(by string, calls []intent.Call, tokenText string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.options.NoTransactions {
		return refuse(intent.Validation, "UnknownOperationException: TransactWriteItems")
	}
	actions := make([]action, len(calls))
	for i := range calls {
		actions[i].call = &calls[i]
	}
	if err := c.bindAll(actions); err != nil {
		return asError(err)
	}
	request := ""
	if tokenText != "" {
		request = requestText(calls)
		if done, err := c.doneBefore(tokenText, request); done || err != nil {
			return err
		}
	}
	if err := c.judgeAll(actions); err != nil {
		for i := range actions {
			c.charge(&actions[i], 2)
		}
		return asError(err)
	}
	c.txn++
	for i := range actions {
		c.charge(&actions[i], 2)
		c.perform(&actions[i], by, c.txn)
	}
	if tokenText != "" {
		c.tokens[tokenText] = token{request: request, at: c.options.Now()}
	}
	return nil
}

// doneBefore looks up a token. A token used with another request says nothing about this one.
func (c *Cloud) doneBefore(text, request string) (bool, error) {
	if len(text) > 36 {
		return false, invalid("clientRequestToken has more than 36 characters")
	}
	t, ok := c.tokens[text]
	switch {
	case !ok:
		return false, nil
	case c.options.Now().Sub(t.at) > tokenMemory:
		delete(c.tokens, text)
		return false, nil
	case t.request != request:
		return false, refuse(intent.Unknown, "IdempotentParameterMismatchException")
	}
	return true, nil
}

// bindAll refuses faults that can be found without a table.
func (c *Cloud) bindAll(actions []action) error {
	if len(actions) == 0 || len(actions) > maxActions {
		return invalid("TransactItems must have 1 to %d members", maxActions)
	}
	bytes := 0
	for i := range actions {
		a := &actions[i]
		if err := c.bind(a); err != nil {
			return err
		}
		bytes += attr.Size(a.call.Key) + attr.Size(a.call.Values)
		if a.call.Op == store.OpPut {
			bytes += attr.Size(a.call.Item)
		}
	}
	if bytes > maxTransact {
		return invalid("Transaction payload size cannot exceed 4MB")
	}
	return nil
}

// judgeAll finds the items and judges all of them before anything is done.
func (c *Cloud) judgeAll(actions []action) error {
	reasons := make([]intent.Reason, len(actions))
	canceled := false
	seen := map[string]bool{}
	for i := range actions {
		a := &actions[i]
		reasons[i].Class = intent.Applied
		if err := c.find(a); err != nil {
			return err
		}
		if err := a.aim(); err != nil {
			if _, whole := errors.AsType[emptyKeyError](err); whole {
				return err
			}
			reasons[i], canceled = reason(err), true
			continue
		}
		id := a.call.Table + "\x00" + a.key
		if seen[id] {
			return invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[id] = true
	}
	for i := range actions {
		if reasons[i].Class != intent.Applied {
			continue
		}
		if err := actions[i].judge(c.options.MaxItem); err != nil {
			reasons[i], canceled = reason(err), true
		}
	}
	if !canceled {
		return nil
	}
	first := slices.IndexFunc(reasons, func(r intent.Reason) bool { return r.Class == intent.Validation || r.Class == intent.TooLarge })
	if first >= 0 { // nothing after the first invalid action is judged
		for i := range reasons[first+1:] {
			reasons[first+1+i] = intent.Reason{Class: intent.Applied}
		}
	}
	return &intent.Error{Class: intent.Canceled, Reasons: reasons, Err: errors.New("TransactionCanceledException")}
}

func reason(err error) intent.Reason {
	e := asError(err)
	return intent.Reason{Class: e.Class, Old: e.Old, Message: e.Err.Error()}
}

// requestText returns a text that is equal for equal requests.
func requestText(calls []intent.Call) string {
	var b strings.Builder
	for i := range calls {
		c := &calls[i]
		b.WriteString(c.Op.String() + "\x00" + c.Table + "\x00" + c.Update + "\x00" + c.Condition + "\x00")
		b.Write(attr.AppendJSON(nil, c.Key))
		b.Write(attr.AppendJSON(nil, c.Item))
		b.Write(attr.AppendJSON(nil, c.Values))
		names := attr.Item{}
		for k, v := range c.Names {
			names[k] = attr.S(v)
		}
		b.Write(attr.AppendJSON(nil, names))
	}
	return b.String()
}
