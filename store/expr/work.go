package expr

import (
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

// CodeWork is the fault code of expressions that take more work than their request may.
const CodeWork = "too_much_work"

// Work is what the expressions of one request may cost, in units, and have cost so far. A unit is about what a processor of
// 2020 does in a nanosecond, but it is counted, never measured: a request that is refused on one machine is refused on all.
// It is used by one goroutine. Of a nil Work as much as it takes may be spent.
type Work struct {
	limit, spent int
	next         int // spent so far that pause is asked, or the limit is reached
	pause        func(spent int) error
	err          error
}

// stretch is how much is spent between two calls of pause.
const stretch = 1 << 20

// NewWork makes a budget. pause is called after each million units or so, with what is spent: an error of it ends the
// evaluation. nil: nobody is asked.
func NewWork(limit int, pause func(spent int) error) *Work {
	w := &Work{limit: limit, pause: pause}
	w.next = min(stretch, limit+1)
	return w
}

// Spent is what has been spent.
func (w *Work) Spent() int {
	if w == nil {
		return 0
	}
	return w.spent
}

// Err is the error by which Spend has failed, nil: it has not.
func (w *Work) Err() error {
	if w == nil {
		return nil
	}
	return w.err
}

// Spend takes units off the budget. It fails when there are not as many, and from then on: kind Invalid, code CodeWork.
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

// What things cost, in units. Measured: see BenchmarkWork.
const (
	perNode   = 16  // of a parsed expression
	perName   = 16  // an attribute stepped over in an item
	perLook   = 8   // a member of a set or list that is held against a value
	perMember = 16  // of a set or list that is joined with another
	perByte   = 256 // of a text that is parsed, at worst
	perUnit   = 8   // bytes that are copied or compared
)

// What is done with a value, by its cost for each value within it.
const (
	comparing = 32
	decoding  = 32
)

// SpendDecoded takes off what the decoding of an item has cost.
func (w *Work) SpendDecoded(it attr.Item) error { return w.spendOn(attr.M(it), decoding) }

// spendOn takes off what it costs to do something with a value.
func (w *Work) spendOn(v attr.Value, perValue int) error {
	if w == nil {
		return nil
	}
	values, bytes := attr.Weight(v)
	return w.Spend(values*perValue + bytes/perUnit)
}

// compare is compare with its cost.
func (s *scope) compare(o op, left, right attr.Value) (bool, error) {
	if o == opContains {
		return s.contains(left, right)
	}
	if err := s.spendOnBoth(left, right); err != nil {
		return false, err
	}
	return compare(o, left, right), nil
}

// spendOnBoth takes off what it costs to compare two values. Of different types or lengths they are not looked into; else no
// more is looked at than the right one has.
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
