package page

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func anyColour(t *rapid.T) RGB { return RGB(rapid.Uint32Range(0, 0xffffff).Draw(t, "colour")) }

func TestReadable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyColour(t)
		on := rapid.SampledFrom([]RGB{lightPanel, darkPanel, night, black, white}).Draw(t, "on")
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

func hexOf(t *testing.T, css, name string) RGB {
	t.Helper()
	m := regexp.MustCompile(name + `:\s*#([0-9a-f]{6})`).FindStringSubmatch(css)
	if m == nil {
		t.Fatalf("no %s in %.80s", name, css)
	}
	n, err := strconv.ParseUint(m[1], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return RGB(n)
}

// The style sheet as it is served, not the functions that made it.
func TestTeamSheetIsReadable(t *testing.T) {
	all, _ := teamCSS()
	light, dark, _ := strings.Cut(string(all), "@media")
	classes := 0
	for line := range strings.Lines(light) {
		if !strings.HasPrefix(line, ".") {
			continue
		}
		classes++
		if got := Contrast(hexOf(t, line, "--slab"), hexOf(t, line, "--on")); got < 7 {
			t.Errorf("%.2f on the slab: %s", got, line)
		}
		if got := Contrast(hexOf(t, line, "--ink"), white); got < 4.5 {
			t.Errorf("%.2f on the light panel: %s", got, line)
		}
	}
	for line := range strings.Lines(dark) {
		if strings.HasPrefix(line, ".") {
			classes--
			if got := Contrast(hexOf(t, line, "--ink"), darkPanel); got < 4.5 {
				t.Errorf("%.2f on the dark panel: %s", got, line)
			}
		}
	}
	if classes != 0 {
		t.Errorf("%d classes have a light side only", classes)
	}
}

// The tokens of page.css: text and accents can be read on what they stand on, and the panels are those of the code.
func TestTokensAreReadable(t *testing.T) {
	raw, err := assetFiles.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, _ := strings.Cut(string(raw), "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "*, *::before")
	for name, css := range map[string]string{"light": light, "dark": dark} {
		get := func(token string) RGB { return hexOf(t, css, "--"+token) }
		for _, pair := range []struct {
			ink, on string
			least   float64
		}{
			{"text", "panel", 7}, {"text", "page", 7}, {"text", "well", 7}, {"soft", "panel", 4.5}, {"soft", "page", 4.5},
			{"soft", "well", 4.5}, {"on-live", "live", 4.5}, {"on-danger", "danger", 4.5}, {"on-edge", "edge", 7},
			{"edge-ink", "panel", 4.5}, {"on-inverse", "inverse", 7},
		} {
			if got := Contrast(get(pair.ink), get(pair.on)); got < pair.least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", name, pair.ink, pair.on, got, pair.least)
			}
		}
	}
	if hexOf(t, light, "--panel") != lightPanel || hexOf(t, dark, "--panel") != darkPanel {
		t.Error("the panels of page.css are not those that team colours are adjusted for")
	}
}

func TestKits(t *testing.T) {
	for _, tc := range []struct{ name, code, want string }{
		{"England", "ENG", "england"}, {"England Women", "ENGW", "england"}, {"", "NZ", "new-zealand"},
		{"Aotearoa", "NZL", "new-zealand"}, {"Mumbai Indians", "MI", "mumbai-indians"},
	} {
		if got := kitOf(tc.name, tc.code).slug; got != tc.want {
			t.Errorf("%s (%s) plays as %s, want %s", tc.name, tc.code, got, tc.want)
		}
	}
	a, b := kitOf("Little Snoring", "LSN"), kitOf("Little Snoring", "LSN")
	if a != b || !strings.HasPrefix(a.slug, "hue-") {
		t.Errorf("an unknown side plays as %v and %v", a, b)
	}
}

// Any two of the sides we know can be told apart, and both can be drawn.
func TestSidesCanBeToldApart(t *testing.T) {
	all, _ := teamCSS()
	sheet := string(all)
	names := slices.Sorted(maps.Keys(kits))
	for _, home := range names {
		for _, away := range names {
			if home == away {
				continue
			}
			h, w := kitOf(home, ""), kitOf(away, "")
			a, b := classes(h, w)
			for _, class := range []string{a, b} {
				if !strings.Contains(sheet, "."+class+"{") {
					t.Fatalf("%s v %s: no class %s", home, away, class)
				}
			}
			first, _ := Slab(h.first)
			second, _ := Slab(w.first)
			if strings.HasSuffix(b, "-alt") {
				second, _ = Slab(w.second)
			}
			if d := difference(first, second); d < 0.08 {
				t.Errorf("%s v %s: %s and %s differ by %.3f", home, away, first.Hex(), second.Hex(), d)
			}
		}
	}
}
