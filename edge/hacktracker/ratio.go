package hacktracker

import (
	"cmp"
	"strconv"
)

// Ratio is an average as an exact fraction. One of nothing has the denominator 0.
type Ratio struct{ Num, Den int64 }

// Known reports whether there is anything to be an average of.
func (r Ratio) Known() bool { return r.Den > 0 }

// plus adds exactly; what is not known makes the sum so.
func (r Ratio) plus(o Ratio) Ratio { return Ratio{r.Num*o.Den + o.Num*r.Den, r.Den * o.Den} }

// Compare orders ratios; what is not known comes first.
func (r Ratio) Compare(o Ratio) int {
	if !r.Known() || !o.Known() {
		return cmp.Compare(r.Den, min(o.Den, 1))
	}
	return cmp.Compare(r.Num*o.Den, o.Num*r.Den)
}

// thousandths rounds half up, as averages have been since there were scorebooks: 1 of 16 is .063.
func (r Ratio) thousandths() int64 { return (2000*r.Num + r.Den) / (2 * r.Den) }

// String is how scorebooks write averages: .342, 1.020, and --- for what is not known.
func (r Ratio) String() string {
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
func (r Ratio) MarshalJSON() ([]byte, error) {
	if !r.Known() {
		return []byte("null"), nil
	}
	n := r.thousandths()
	return []byte(strconv.FormatInt(n/1000, 10) + "." + strconv.FormatInt(n%1000+1000, 10)[1:]), nil
}
