// Package fraction has averages as exact fractions, which are rounded once, when they are shown.
package fraction

import (
	"cmp"
	"strconv"
)

// Fraction is an average as an exact fraction. An average of nothing has denominator 0.
type Fraction struct{ Num, Den int64 }

// Of returns the fraction of two counts.
func Of(num, den int) Fraction { return Fraction{int64(num), int64(den)} }

// Known reports whether the average is defined.
func (r Fraction) Known() bool { return r.Den > 0 }

// Plus adds exactly. If one is undefined, so is the sum.
func (r Fraction) Plus(o Fraction) Fraction {
	return Fraction{r.Num*o.Den + o.Num*r.Den, r.Den * o.Den}
}

// Compare orders fractions; undefined ones come first.
func (r Fraction) Compare(o Fraction) int {
	if !r.Known() || !o.Known() {
		return cmp.Compare(r.Den, min(o.Den, 1))
	}
	return cmp.Compare(r.Num*o.Den, o.Num*r.Den)
}

// thousandths rounds half up, as scorebooks always have: 1 of 16 is .063.
func (r Fraction) thousandths() int64 { return (2000*r.Num + r.Den) / (2 * r.Den) }

// String formats an average as in scorebooks: .342, 1.020, and --- if undefined.
func (r Fraction) String() string {
	if !r.Known() {
		return "---"
	}
	n := r.thousandths()
	text := strconv.FormatInt(n%1000+1000, 10)[1:]
	if n < 1000 {
		return "." + text
	}
	return strconv.FormatInt(n/1000, 10) + "." + text
}

// MarshalJSON implements json.Marshaler: a number with three decimals, or null.
func (r Fraction) MarshalJSON() ([]byte, error) {
	if !r.Known() {
		return []byte("null"), nil
	}
	n := r.thousandths()
	return []byte(strconv.FormatInt(n/1000, 10) + "." + strconv.FormatInt(n%1000+1000, 10)[1:]), nil
}
