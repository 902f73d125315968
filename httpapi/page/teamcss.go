package page

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// hueColour is the n-th of the colours for unknown teams: equally strong, equally far apart.
func hueColour(n int) RGB {
	angle := 2 * math.Pi * float64(n) / hues
	return lab{0.5, 0.14 * math.Cos(angle), 0.14 * math.Sin(angle)}.rgb()
}

// teamCSS writes the style sheet with a class for each known kit: --slab and --on for a coloured background and the
// text on it, --ink for lines and text on a panel, in light and in dark. Inline styles would need a weaker content
// security policy; a class does not.
func teamCSS() []byte {
	var light, dark bytes.Buffer
	add := func(class string, c RGB) {
		slab, on := Slab(c)
		fmt.Fprintf(&light, ".%s{--slab:%s;--on:%s;--ink:%s}\n", class, slab.Hex(), on.Hex(),
			Readable(c, lightPanel, textContrast).Hex())
		fmt.Fprintf(&dark, ".%s{--ink:%s}\n", class, Readable(c, darkPanel, darkContrast).Hex())
	}
	both := func(k kit) {
		add("t-"+k.slug, k.first)
		add("t-"+k.slug+"-alt", k.second)
	}
	for _, name := range slices.Sorted(maps.Keys(kits)) {
		pair := kits[name]
		both(kit{slug: strings.ReplaceAll(name, " ", "-"), first: pair[0], second: pair[1]})
	}
	for n := range hues {
		both(hueKit(n))
	}
	fmt.Fprintf(&light, "@media (prefers-color-scheme: dark) {\n%s}\n", dark.Bytes())
	return light.Bytes()
}
