package expr

import (
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// CodeWork is the fault code of expressions that exceed the budget of their request.
const CodeWork = "too_much_work"

// Work is the budget of a request's expressions, in units, and what they have spent so far. A unit is about a nanosecond on a processor
// of 2020, but it is counted, never measured: a request refused on one machine is refused on all. Only one goroutine may use it. A nil
// Work has no limit.
type Work struct {
	limit, spent int
	next         int // the value of spent at which pause is called or the limit reached
	pause        func(spent int) error
	err          error
}

// stretch is how much is spent between two calls of pause.
const stretch = 1 << 20

// NewWork returns a budget. pause is called with the units spent after about each million; if it returns an error, the evaluation ends.
// nil: no calls.
func NewWork(limit int, pause func(spent int) error) *Work {
	w := &Work{limit: limit, pause: pause}
	w.next = min(stretch, limit+1)
	return w
}

// UnitsSpent returns the units spent.
func (w *Work) UnitsSpent() int {
	if w == nil {
		return 0
	}
	return w.spent
}

// Err returns the error with which Spend failed, nil if it has not.
func (w *Work) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// Spend charges units to the budget. If too few are left, the error has kind Invalid and code CodeWork; an error of pause is returned as it
// is. After either, all later calls fail too.
func (w *Work) Spend(units int) error {
	if w == nil {
		return nil
	}
	if w.spent += units; w.spent < w.next {
		return nil
	}
	return w.stop()
}

func (w *Work) stop() error {
	switch {
	case w.err != nil:
	case w.spent > w.limit:
		w.err = fault.New(fault.Invalid, CodeWork,
			"The expressions of the request take too much work on the items that they look at: ask for less in one request")
	case w.pause != nil:
		w.err = w.pause(w.spent)
	}
	if w.err != nil {
		w.next = w.spent
	} else {
		w.next = min(w.spent+stretch, w.limit+1)
	}
	return w.err
}

// Costs in units, measured by BenchmarkWork.
const (
	perNode   = 16  // a node of a parsed expression
	perName   = 16  // an attribute skipped in an item
	perLook   = 8   // a member of a set or list compared with a value
	perMember = 16  // a member of a set or list joined with another
	perByte   = 256 // a byte of a text being parsed, at worst
	perUnit   = 8   // not a cost: bytes copied or compared for one unit
)

// Costs of an operation for each value within a value.
const (
	comparing = 32
	decoding  = 32
)

// SpendDecoded charges the decoding of an item.
func (w *Work) SpendDecoded(it attr.Item) error { return w.spendOn(attr.M(it), decoding) }

// spendOn charges an operation on a value.
func (w *Work) spendOn(v attr.Value, perValue int) error {
	if w == nil {
		return nil
	}
	values, bytes := attr.Weight(v)
	return w.Spend(values*perValue + bytes/perUnit)
}

// compare is the function compare with its cost charged.
func (s *scope) compare(o op, left, right attr.Value) (bool, error) {
	if o == opContains {
		return s.contains(left, right)
	}
	if err := s.spendOnBoth(left, right); err != nil {
		return false, err
	}
	return compare(o, left, right), nil
}

// spendOnBoth charges a comparison of two values. Values of different types or lengths are not examined; otherwise the comparison
// examines no more than the right one has.
func (s *scope) spendOnBoth(left, right attr.Value) error {
	if s.work == nil || left.Kind() != right.Kind() {
		return nil
	}
	switch left.Kind() {
	case attr.KindL:
		if len(left.List()) != len(right.List()) {
			return nil
		}
	case attr.KindM:
		if len(left.Map()) != len(right.Map()) {
			return nil
		}
	case attr.KindSS, attr.KindNS, attr.KindBS:
		if len(left.Members()) != len(right.Members()) {
			return nil
		}
	default:
		return s.work.Spend(1 + min(len(left.Text()), len(right.Text()))/perUnit)
	}
	return s.work.spendOn(right, comparing)
}
