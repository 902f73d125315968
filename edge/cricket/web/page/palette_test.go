package page

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/httpapi/page/colour"
)

func hexOf(t *testing.T, css, name string) colour.RGB {
	t.Helper()
	m := regexp.MustCompile(name + `:\s*#([0-9a-f]{6})`).FindStringSubmatch(css)
	if m == nil {
		t.Fatalf("no %s in %.80s", name, css)
	}
	n, err := strconv.ParseUint(m[1], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return colour.RGB(n)
}

// This tests the style sheet as served, not the functions that make it.
func TestTeamSheetIsReadable(t *testing.T) {
	all, _ := teamCSS()
	light, dark, _ := strings.Cut(string(all), "@media")
	classes := 0
	for line := range strings.Lines(light) {
		if !strings.HasPrefix(line, ".") {
			continue
		}
		classes++
		if got := colour.Contrast(hexOf(t, line, "--slab"), hexOf(t, line, "--on")); got < 7 {
			t.Errorf("%.2f on the slab: %s", got, line)
		}
		if got := colour.Contrast(hexOf(t, line, "--ink"), 0xffffff); got < 4.5 {
			t.Errorf("%.2f on the light panel: %s", got, line)
		}
	}
	for line := range strings.Lines(dark) {
		if strings.HasPrefix(line, ".") {
			classes--
			if got := colour.Contrast(hexOf(t, line, "--ink"), colour.DarkPanel); got < 4.5 {
				t.Errorf("%.2f on the dark panel: %s", got, line)
			}
		}
	}
	if classes != 0 {
		t.Errorf("%d more classes for light screens than for dark ones", classes)
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
	for line := range strings.Lines(kitTable) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if k := kitOf(f[0], ""); k.first.Hex() != "#"+f[1] || k.second.Hex() != "#"+f[2] {
			t.Errorf("%s plays in %s and %s", line, k.first.Hex(), k.second.Hex())
		}
	}
	a, b := kitOf("Little Snoring", "LSN"), kitOf("Little Snoring", "LSN")
	if a != b || !strings.HasPrefix(a.slug, "hue-") {
		t.Errorf("an unknown side plays as %v and %v", a, b)
	}
}

// Any two known sides have distinguishable colours and classes in the style sheet.
func TestSidesAreDistinguishable(t *testing.T) {
	all, _ := teamCSS()
	sheet := string(all)
	kits, _ := knownKits()
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
			first, _ := colour.Slab(h.first)
			second, _ := colour.Slab(w.first)
			if strings.HasSuffix(b, "-alt") {
				second, _ = colour.Slab(w.second)
			}
			if d := colour.Difference(first, second); d < 0.08 {
				t.Errorf("%s v %s: %s and %s differ by %.3f", home, away, first.Hex(), second.Hex(), d)
			}
		}
	}
}
