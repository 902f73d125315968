package attr

import (
	"math"

	"github.com/cockroachdb/apd/v3"
)

// Add returns a + b, exactly. A result with more than 38 digits is an overflow; one outside the range is an overflow or an underflow. An
// operand that is not a number is an error too.
func Add(a, b Value) (Value, error) {
	x, xok := a.Int()
	y, yok := b.Int()
	if xok && yok && (y >= 0 && x <= math.MaxInt64-y || y < 0 && x >= math.MinInt64-y) {
		return Int(x + y), nil
	}
	return exactly(a, b, (*apd.Context).Add)
}

// Sub returns a - b, with the errors of Add.
func Sub(a, b Value) (Value, error) {
	x, xok := a.Int()
	y, yok := b.Int()
	if xok && yok && (y >= 0 && x >= math.MinInt64+y || y < 0 && x <= math.MaxInt64+y) {
		return Int(x - y), nil
	}
	return exactly(a, b, (*apd.Context).Sub)
}

// exactly does arithmetic without rounding. An operand has at most 38 digits, the first of them within 256 places, so 300 digits hold
// every sum.
func exactly(a, b Value, op func(c *apd.Context, d, x, y *apd.Decimal) (apd.Condition, error)) (Value, error) {
	if a.kind != KindN || b.kind != KindN {
		return Value{}, invalid("Incorrect operand type for operator: operands must be numbers")
	}
	var x, y, sum apd.Decimal
	if _, _, err := x.SetString(a.text); err != nil {
		return Value{}, invalid("The parameter cannot be converted to a numeric value: %s", a.text)
	}
	if _, _, err := y.SetString(b.text); err != nil {
		return Value{}, invalid("The parameter cannot be converted to a numeric value: %s", b.text)
	}
	ctx := apd.BaseContext.WithPrecision(300)
	if _, err := op(ctx, &sum, &x, &y); err != nil {
		return Value{}, errOverflow()
	}
	if sum.Reduce(&sum); sum.NumDigits() > maxDigits {
		return Value{}, errOverflow()
	}
	return N(sum.String())
}
