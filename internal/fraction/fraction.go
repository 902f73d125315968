// Package fraction has averages as exact fractions, which are rounded once, when they are shown.
package fraction

import (
	"math/big"
	"strings"
)

// Fraction is an average as an exact fraction. An average of nothing has denominator 0.
type Fraction struct{ Num, Den int64 }

// Of returns the fraction of two counts.
func Of(num, den int) Fraction { return Fraction{int64(num), int64(den)} }

// IsDefined reports whether the average is defined.
func (r Fraction) IsDefined() bool { return r.Den > 0 }

// Plus adds exactly. If one is undefined, so is the sum.
func (r Fraction) Plus(o Fraction) Fraction {
	return Fraction{r.Num*o.Den + o.Num*r.Den, r.Den * o.Den}
}

// decimal rounds half up, as scorebooks always have: 1 of 16 is 0.063.
func (r Fraction) decimal() string { return big.NewRat(r.Num, r.Den).FloatString(3) }

// String formats an average as in scorebooks: .342, 1.020, and --- if undefined.
func (r Fraction) String() string {
	if !r.IsDefined() {
		return "---"
	}
	return strings.TrimPrefix(r.decimal(), "0")
}

// MarshalJSON implements json.Marshaler: a number with three decimals, or null.
func (r Fraction) MarshalJSON() ([]byte, error) {
	if !r.IsDefined() {
		return []byte("null"), nil
	}
	return []byte(r.decimal()), nil
}
