package fraction_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fraction"
)

// Sums are exact, and rounded half up like whole thousandths, as text and as JSON.
func TestFraction(t *testing.T) {
	draw := func(t *rapid.T) fraction.Fraction {
		den := rapid.IntRange(1, 2000).Draw(t, "den")
		return fraction.Of(rapid.IntRange(0, 4*den).Draw(t, "num"), den)
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		num, den := a.Num*b.Den+b.Num*a.Den, a.Den*b.Den
		thousandths := (2000*num + den) / (2 * den)
		text := fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000)
		sum := a.Plus(b)
		raw, err := json.Marshal(sum)
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
	if none.IsDefined() || none.Plus(fraction.Of(1, 1)).IsDefined() || none.String() != "---" {
		t.Error("what is not known")
	}
}
