package page

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/touchline/touchline/httpapi/page/colour"
)

// teamCSS returns the style sheets with a class per known kit: --slab and --on for a coloured background and its text,
// --ink for lines and text on a panel, in light and dark mode. Inline styles would need a weaker content security policy;
// classes do not. all is for pages with any teams; of has one style sheet per kit, by slug, for match pages, which have
// two. They are built once and never changed.
var teamCSS = sync.OnceValues(func() (all []byte, of map[string][]byte) {
	of = map[string][]byte{}
	var light, dark bytes.Buffer
	add := func(k kit) {
		l, d := kitCSS(k)
		light.Write(l)
		dark.Write(d)
		of[k.slug] = fmt.Appendf(nil, "%s%s%s}\n", l, inDark, d)
	}
	kits, _ := knownKits()
	for _, name := range slices.Sorted(maps.Keys(kits)) {
		add(kits[name])
	}
	for n := range hues {
		add(hueKit(n))
	}
	fmt.Fprintf(&light, "%s%s}\n", inDark, dark.Bytes())
	return light.Bytes(), of
})

const inDark = "@media (prefers-color-scheme: dark) {\n"

func kitCSS(k kit) (light, dark []byte) {
	for i, c := range []colour.RGB{k.first, k.second} {
		class := "t-" + k.slug + []string{"", "-alt"}[i]
		slab, on := colour.Slab(c)
		light = fmt.Appendf(light, ".%s{--slab:%s;--on:%s;--ink:%s}\n", class, slab.Hex(), on.Hex(),
			colour.Readable(c, colour.LightPanel, colour.TextContrast).Hex())
		dark = fmt.Appendf(dark, ".%s{--ink:%s}\n", class, colour.Readable(c, colour.DarkPanel, colour.DarkContrast).Hex())
	}
	return light, dark
}

// kitFile returns the style sheet of the kit in a class name.
func kitFile(class string) string {
	return "kit-" + strings.TrimSuffix(strings.TrimPrefix(class, "t-"), "-alt") + ".css"
}
