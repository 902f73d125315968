package fraction_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fraction"
)

// Fractions are rounded and added like exact arithmetic, as text and as JSON.
func TestFraction(t *testing.T) {
	draw := func(t *rapid.T) fraction.Fraction {
		den := rapid.IntRange(1, 2000).Draw(t, "den")
		return fraction.Of(rapid.IntRange(0, 4*den).Draw(t, "num"), den)
	}
	exact := func(f fraction.Fraction) *big.Rat { return big.NewRat(f.Num, f.Den) }
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		sum := a.Plus(b)
		want := new(big.Rat).Add(exact(a), exact(b))
		if exact(sum).Cmp(want) != 0 || a.Compare(b) != exact(a).Cmp(exact(b)) {
			t.Fatalf("%v, %v", a, b)
		}
		raw, err := json.Marshal(sum)
		text := want.FloatString(3) // halves away from zero
		if err != nil || string(raw) != text {
			t.Fatalf("%s, want %s", raw, text)
		}
		if text[0] == '0' {
			text = text[1:]
		}
		if sum.String() != text {
			t.Fatalf("%s, want %s", sum, text)
		}
	})
	none := fraction.Of(1, 0)
	if one := fraction.Of(1, 1); none.Known() || none.Plus(one).Known() || none.Compare(one) != -1 || one.Compare(none) != 1 || none.Compare(none) != 0 || none.String() != "---" {
		t.Error("what is not known")
	}
}
