package page

import (
	_ "embed" // for the colours
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync"

	"github.com/touchline/touchline/httpapi/page/colour"
)

// kit is a side's pair of colours. The second one is used if both sides wear the same.
type kit struct {
	slug          string // in the class name
	first, second colour.RGB
}

// hues is the number of generated kits for teams without known colours.
const hues = 24

//go:embed kits.csv
var kitTable string

// knownKits returns the known colours of teams by lower-case name, and the names of national sides by code, for feeds that
// spell a name differently. The feed has no colours; if it gets them, they belong here. A line of the file has a name, the
// two colours, and codes.
var knownKits = sync.OnceValues(func() (of map[string]kit, names map[string]string) {
	of, names = map[string]kit{}, map[string]string{}
	for line := range strings.Lines(kitTable) {
		f := strings.Split(strings.TrimSpace(line), ",")
		of[f[0]] = kit{slug: strings.ReplaceAll(f[0], " ", "-"), first: rgb(f[1]), second: rgb(f[2])}
		for _, code := range f[3:] {
			names[code] = f[0]
		}
	}
	return of, names
})

// rgb reads a colour as in a style sheet.
func rgb(hex string) colour.RGB {
	n, _ := strconv.ParseUint(hex, 16, 32) // TestKits reads the file
	return colour.RGB(n)
}

// kitOf returns a team's colours; an unknown team gets a generated pair that never changes.
func kitOf(name, code string) kit {
	key := strings.ToLower(strings.TrimSpace(name))
	key = strings.TrimSuffix(strings.TrimSuffix(key, " women"), " men")
	kits, names := knownKits()
	for _, known := range []string{key, names[strings.ToLower(code)]} {
		if k, ok := kits[known]; ok {
			return k
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key + "/" + code))
	return hueKit(int(h.Sum32() % hues))
}

// hueKit returns generated kit n: a hue and, as second colour, the opposite one.
func hueKit(n int) kit {
	return kit{slug: fmt.Sprintf("hue-%d", n), first: colour.Hue(n, hues), second: colour.Hue((n+hues/2)%hues, hues)}
}

// alike is the colour difference below which two sides cannot be told apart.
const alike = 0.16

// classes returns the style classes of two sides. The first keeps its colours; the second changes if necessary.
func classes(home, away kit) (a, b string) {
	a, b = "t-"+home.slug, "t-"+away.slug
	h, _ := colour.Slab(home.first)
	w, _ := colour.Slab(away.first)
	other, _ := colour.Slab(away.second)
	if d := colour.Difference(h, w); d < alike && colour.Difference(h, other) > d {
		b += "-alt"
	}
	return a, b
}
