// Package fraction has averages as exact fractions, rounded once, where they are shown.
package fraction

import (
	"cmp"
	"strconv"
)

// Fraction is an average as an exact fraction. One of nothing has the denominator 0.
type Fraction struct{ Num, Den int64 }

// Of is a fraction of counts.
func Of(num, den int) Fraction { return Fraction{int64(num), int64(den)} }

// Known reports whether there is anything to be an average of.
func (r Fraction) Known() bool { return r.Den > 0 }

// Plus adds exactly; what is not known makes the sum so.
func (r Fraction) Plus(o Fraction) Fraction {
	return Fraction{r.Num*o.Den + o.Num*r.Den, r.Den * o.Den}
}

// Compare orders fractions; what is not known comes first.
func (r Fraction) Compare(o Fraction) int {
	if !r.Known() || !o.Known() {
		return cmp.Compare(r.Den, min(o.Den, 1))
	}
	return cmp.Compare(r.Num*o.Den, o.Num*r.Den)
}

// thousandths rounds half up, as averages have been since there were scorebooks: 1 of 16 is .063.
func (r Fraction) thousandths() int64 { return (2000*r.Num + r.Den) / (2 * r.Den) }

// String is how scorebooks write averages: .342, 1.020, and --- for what is not known.
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

// MarshalJSON implements json.Marshaler: a number of three decimals, or null.
func (r Fraction) MarshalJSON() ([]byte, error) {
	if !r.Known() {
		return []byte("null"), nil
	}
	n := r.thousandths()
	return []byte(strconv.FormatInt(n/1000, 10) + "." + strconv.FormatInt(n%1000+1000, 10)[1:]), nil
}
