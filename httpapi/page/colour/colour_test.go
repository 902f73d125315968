package colour

import (
	"testing"

	"pgregory.net/rapid"
)

func anyColour(t *rapid.T) RGB { return RGB(rapid.Uint32Range(0, 0xffffff).Draw(t, "colour")) }

func TestReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyColour(t)
		on := rapid.SampledFrom([]RGB{LightPanel, DarkPanel, night, black, white}).Draw(t, "on")
		ratio := rapid.Float64Range(1, 10).Draw(t, "ratio")
		got := Readable(c, on, ratio)
		if Contrast(got, on) < ratio {
			t.Fatalf("%s on %s became %s with %.2f, want %.2f", c.Hex(), on.Hex(), got.Hex(), Contrast(got, on), ratio)
		}
		if Contrast(c, on) >= ratio && got != c {
			t.Fatalf("%s on %s was readable and became %s", c.Hex(), on.Hex(), got.Hex())
		}
	})
}

func TestSlab(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyColour(t)
		if bg, text := Slab(c); Contrast(bg, text) < scoreContrast {
			t.Fatalf("%s: %s on %s has %.2f", c.Hex(), text.Hex(), bg.Hex(), Contrast(bg, text))
		}
	})
}

func TestContrastIsWCAGs(t *testing.T) {
	for _, tc := range []struct {
		a, b RGB
		want float64
	}{{black, white, 21}, {0x777777, white, 4.48}, {0x767676, white, 4.54}, {0xff0000, white, 4.00}, {0x123456, 0x123456, 1}} {
		if got := Contrast(tc.a, tc.b); got < tc.want-0.005 || got > tc.want+0.005 {
			t.Errorf("%s on %s: %.3f, want %.2f", tc.a.Hex(), tc.b.Hex(), got, tc.want)
		}
	}
}

func TestLabThereAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if c := anyColour(t); c.lab().rgb() != c {
			t.Fatalf("%s became %s", c.Hex(), c.lab().rgb().Hex())
		}
	})
}
