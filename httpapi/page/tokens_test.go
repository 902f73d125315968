package page

import (
	"regexp"
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

// The colours in page.css: text and accents are readable on their backgrounds, and the panels match the code.
func TestTokensAreReadable(t *testing.T) {
	raw, err := nodeFiles.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, _ := strings.Cut(string(raw), "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "*, *::before")
	for name, css := range map[string]string{"light": light, "dark": dark} {
		get := func(token string) colour.RGB { return hexOf(t, css, "--"+token) }
		for _, pair := range []struct {
			ink, on string
			least   float64
		}{
			{"text", "panel", 7}, {"text", "page", 7}, {"text", "well", 7}, {"soft", "panel", 4.5}, {"soft", "page", 4.5}, {"text", "shade", 7},
			{"soft", "well", 4.5}, {"on-live", "live", 4.5}, {"on-danger", "danger", 4.5}, {"on-edge", "edge", 7},
			{"edge-ink", "panel", 4.5}, {"on-inverse", "inverse", 7},
		} {
			if got := colour.Contrast(get(pair.ink), get(pair.on)); got < pair.least {
				t.Errorf("%s: %s on %s has %.2f, want %.1f", name, pair.ink, pair.on, got, pair.least)
			}
		}
	}
	if hexOf(t, light, "--panel") != colour.LightPanel || hexOf(t, dark, "--panel") != colour.DarkPanel {
		t.Error("the panels of page.css are not those that team colours are adjusted for")
	}
}
