package attr_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/attr"
)

func codeOf(err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return ""
	}
	return f.Code
}

func TestNumberText(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "+0.000": "0", "0e125": "0", "-0.0e-129": "0", "00": "0", ".0": "0", "0.": "0",
		"7": "7", "007": "7", "+7": "7", "7.0": "7", "7.": "7", ".5": "0.5", "-.50": "-0.5",
		"1000": "1000", "1e3": "1000", "1E+3": "1000", "12.34e1": "123.4", "12.34e-3": "0.01234", "0.001e3": "1",
		"1e125":                             "1" + strings.Repeat("0", 125),
		"-1e-130":                           "-0." + strings.Repeat("0", 129) + "1",
		nines:                               nines,
		nines + "e88":                       nines + strings.Repeat("0", 88),
		nines + ".000":                      nines,
		"0." + nines + "e-129":              "0." + strings.Repeat("0", 129) + nines,
		"0.00000" + nines:                   "0.00000" + nines,
		"1" + strings.Repeat("0", 60) + "0": "1" + strings.Repeat("0", 61),
		"123456789.123456789":               "123456789.123456789",
	} {
		v, err := attr.N(text)
		if err != nil || v.Str() != want || v.Kind() != attr.KindN {
			t.Errorf("N(%q) = %q, %v; want %q", text, v.Str(), err, want)
		}
		if again := num(want); again.Str() != want {
			t.Errorf("N(%q) = %q: not canonical", want, again.Str())
		}
	}
}

func TestNumberRefused(t *testing.T) {
	const noNumber = "The parameter cannot be converted to a numeric value"
	if _, err := attr.N(""); err == nil || err.Error() != noNumber {
		t.Errorf("N of nothing: %v", err)
	}
	for text, want := range map[string]string{
		"-": noNumber + ": -", ".": noNumber, "e5": noNumber, "1e": noNumber, "1e+": noNumber, "1 ": noNumber,
		" 1": noNumber, "1_000": noNumber, "1,5": noNumber, "1.2.3": noNumber, "--1": noNumber, "0x10": noNumber,
		"NaN": noNumber, "Infinity": noNumber, "-inf": noNumber, "1e5x": noNumber, "１": noNumber,
		strings.Repeat("1", 39):             "Attempting to store more than 38 significant digits in a Number",
		"1" + strings.Repeat("0", 37) + "1": "Attempting to store more than 38 significant digits in a Number",
		"0." + strings.Repeat("3", 39):      "Attempting to store more than 38 significant digits in a Number",
		"1e126":                             "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"-1e9223372036854775807":            "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"1e9223372036854775808":             noNumber + ": 1e9223372036854775808",
		"0e99999999999999999999":            noNumber,
		"0e126":                             "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"0e-131":                            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
		"-0.0e-131":                         "Number underflow. Attempting to store a number with magnitude smaller than supported range",
		"10e125":                            "Number overflow. Attempting to store a number with magnitude larger than supported range",
		"1e-131":                            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
		"-0.1e-130":                         "Number underflow. Attempting to store a number with magnitude smaller than supported range",
		"1e-9223372036854775808":            "Number underflow. Attempting to store a number with magnitude smaller than supported range",
	} {
		_, err := attr.N(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !fault.Is(err, fault.Invalid) {
			t.Errorf("N(%q): %v; want %q", text, err, want)
		}
	}
}

// Every spelling becomes a text with the same number, and each number has only one text.
func TestNumberCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNumberText().Draw(t, "a"), genNumberText().Draw(t, "b")
		va, vb := num(a), num(b)
		if rat(t, va.Str()).Cmp(rat(t, a)) != 0 {
			t.Fatalf("N(%q) = %q", a, va.Str())
		}
		want := rat(t, a).Cmp(rat(t, b))
		if got, ok := attr.Compare(va, vb); !ok || got != want {
			t.Fatalf("Compare(%s, %s) = %d, %v; want %d", a, b, got, ok, want)
		}
		if attr.Equal(va, vb) != (want == 0) || (va.Str() == vb.Str()) != (want == 0) {
			t.Fatalf("Equal(%s, %s) with texts %q, %q", a, b, va.Str(), vb.Str())
		}
	})
}

func TestInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 42, math.MaxInt64, math.MinInt64} {
		if got, ok := attr.Int(n).Int(); !ok || got != n {
			t.Errorf("Int(%d).Int() = %d, %v", n, got, ok)
		}
		if !attr.Equal(attr.Int(n), num(attr.Int(n).Str())) {
			t.Errorf("Int(%d) is not canonical", n)
		}
	}
	for _, v := range []attr.Value{num("1.5"), num("9223372036854775808"), num("1e100"), attr.S("1"), {}} {
		if got, ok := v.Int(); ok {
			t.Errorf("%s.Int() = %d", v, got)
		}
	}
	if got, ok := num("1e3").Int(); !ok || got != 1000 {
		t.Errorf("1e3 as an integer: %d, %v", got, ok)
	}
}

func TestArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genNumberText().Draw(t, "a"), genNumberText().Draw(t, "b")
		sum, err := attr.Add(num(a), num(b))
		checkResult(t, sum, err, new(big.Rat).Add(rat(t, a), rat(t, b)))
		diff, err := attr.Sub(num(a), num(b))
		checkResult(t, diff, err, new(big.Rat).Sub(rat(t, a), rat(t, b)))
	})
}

// checkResult compares a result with the exact one: equal, or an error because it does not fit.
func checkResult(t *rapid.T, got attr.Value, err error, exact *big.Rat) {
	t.Helper()
	text := exact.FloatString(200) // more decimal places than a sum of two numbers can have
	want, werr := attr.N(text)
	if (err == nil) != (werr == nil) {
		t.Fatalf("error %v, want %v", err, werr)
	}
	if err == nil && !attr.Equal(got, want) {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestArithmeticEdges(t *testing.T) {
	for _, c := range []struct{ a, b, sum, diff string }{
		{"9223372036854775807", "1", "9223372036854775808", "9223372036854775806"},
		{"-9223372036854775808", "-1", "-9223372036854775809", "-9223372036854775807"},
		{"-9223372036854775808", "1", "-9223372036854775807", "-9223372036854775809"},
		{"9223372036854775807", "-9223372036854775808", "-1", "18446744073709551615"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"0", "-9223372036854775808", "-9223372036854775808", "9223372036854775808"},
		{"1e125", "1e125", "2e125", "0"},
		{"9e125", "9e125", "", "0"},
		{"1", "1e-40", "", ""},
		{"99999999999999999999999999999999999999", "1", "1e38", "99999999999999999999999999999999999998"},
	} {
		for _, op := range []struct {
			name string
			do   func(a, b attr.Value) (attr.Value, error)
			want string
		}{{"+", attr.Add, c.sum}, {"-", attr.Sub, c.diff}} {
			got, err := op.do(num(c.a), num(c.b))
			if op.want == "" {
				if !fault.Is(err, fault.Invalid) {
					t.Errorf("%s %s %s = %s, %v; want an error", c.a, op.name, c.b, got, err)
				}
			} else if err != nil || !attr.Equal(got, num(op.want)) {
				t.Errorf("%s %s %s = %s, %v; want %s", c.a, op.name, c.b, got, err, op.want)
			}
		}
	}
	if _, err := attr.Add(attr.S("1"), attr.Int(1)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a string was added: %v", err)
	}
}
