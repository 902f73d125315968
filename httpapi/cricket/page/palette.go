package page

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/touchline/touchline/httpapi/page/colour"
)

// kit is a side's pair of colours. The second one is used if both sides wear the same.
type kit struct {
	slug          string // in the class name
	first, second colour.RGB
}

// hues is the number of generated kits for teams without known colours.
const hues = 24

// kits are the known colours of teams, by lower-case name and, for national sides, code. The feed has no
// colours; if it gets them, they belong here.
var kits = map[string][2]colour.RGB{
	"england": {0x1a4fb8, 0xd0103a}, "new zealand": {0x101214, 0x00838f}, "australia": {0xffcd00, 0x00573f},
	"india": {0x0f6fd6, 0xf58220}, "pakistan": {0x00703c, 0x8fc31f}, "sri lanka": {0x13308c, 0xf2b700},
	"west indies": {0x7b0041, 0xf5c400}, "south africa": {0x007a4d, 0xffb81c}, "zimbabwe": {0xd40c1a, 0xffd200},
	"bangladesh": {0x006a4e, 0xf42a41}, "afghanistan": {0x0057b8, 0xd32011}, "ireland": {0x009b48, 0x1b3b8b},
	"scotland": {0x5b2c86, 0xffc20e}, "netherlands": {0xff6a13, 0x21468b}, "nepal": {0xc8102e, 0x003893},
	"united arab emirates": {0xb5121b, 0x00732f}, "oman": {0xc8102e, 0x00843d}, "canada": {0xd80621, 0x303030},
	"united states of america": {0x0a3161, 0xb31942}, "namibia": {0x001489, 0xffcd00}, "kenya": {0x006600, 0xbb0000},
	"papua new guinea": {0xce1126, 0xffcd00}, "hong kong": {0xde2910, 0x1d1d1b}, "uganda": {0xfcdc04, 0xd90000},
	"ghana": {0xce1126, 0xfcd116}, "rwanda": {0x00a1de, 0x20603d}, "bahrain": {0xce1126, 0x303030},
	"saudi arabia": {0x006c35, 0x303030}, "st helena": {0x00247d, 0xc8102e}, "malawi": {0xce1126, 0x339e35},

	"mumbai indians": {0x004ba0, 0xd1ab3e}, "chennai super kings": {0xffcb05, 0x0081e9},
	"royal challengers bangalore": {0xc8102e, 0xd4af37}, "royal challengers bengaluru": {0xc8102e, 0xd4af37},
	"kolkata knight riders": {0x3a225d, 0xf0c75e}, "sunrisers hyderabad": {0xf26522, 0x1b1b1b},
	"rajasthan royals": {0xe11383, 0x254aa5}, "kings xi punjab": {0xd71920, 0x8a8d8f},
	"punjab kings": {0xd71920, 0x8a8d8f}, "delhi daredevils": {0x17449b, 0xef1c25},
	"delhi capitals": {0x17449b, 0xef1c25}, "deccan chargers": {0x2b3a67, 0xc6a664},
	"gujarat titans": {0x1c2c5b, 0xcba65c}, "lucknow super giants": {0x0057e2, 0xf28b00},

	"melbourne renegades": {0xd6001c, 0x1d1d1b}, "melbourne stars": {0x00a843, 0x1d1d1b},
	"hobart hurricanes": {0x6a1b9a, 0x9b8bd6}, "sydney sixers": {0xe6007e, 0x1d1d1b},
	"sydney thunder": {0xa4d233, 0x1d1d1b}, "perth scorchers": {0xf37021, 0x1d1d1b},
	"adelaide strikers": {0x0084d6, 0x1d1d1b}, "brisbane heat": {0x00a3ad, 0x1d1d1b},

	"trinbago knight riders": {0xd50032, 0x1d1d1b}, "st kitts and nevis patriots": {0x00843d, 0xc8102e},
	"barbados royals": {0xe11383, 0x254aa5}, "guyana amazon warriors": {0x006b3f, 0xffd100},
	"jamaica tallawahs": {0xffb81c, 0x007749}, "saint lucia kings": {0x00a3e0, 0x1d1d1b},

	"chattogram challengers": {0xc4122f, 0x1d3f94}, "cumilla warriors": {0x1d3f94, 0xf2b700},
	"dhaka dominators": {0x5b2d8e, 0xe6007e}, "sylhet strikers": {0x00843d, 0xf58220},

	"oval invincibles": {0x00b2a9, 0x1d1d1b}, "manchester originals": {0x6b2fbf, 0xff5c00},
	"southern brave": {0x78be20, 0x1d1d1b}, "birmingham phoenix": {0xff7e2f, 0x1d1d1b},
	"london spirit": {0x003b8e, 0x6ac4dc}, "northern superchargers": {0x6c1da7, 0xff5c00},
	"trent rockets": {0xffd000, 0x1d1d1b}, "welsh fire": {0xd5001c, 0x1d1d1b},

	"kent": {0x15284b, 0xc8a04f}, "lancashire": {0xd2122e, 0x1d3f94}, "surrey": {0x5a3a2e, 0x8a8d8f},
	"yorkshire": {0x00a3e0, 0x0b2c6e}, "warwickshire": {0x0b2c6e, 0xf2b700}, "hampshire": {0x13294b, 0xc9a227},
	"leicestershire": {0x006a4e, 0xc8102e}, "gloucestershire": {0xfdb913, 0x1d3f94}, "sussex": {0x00529b, 0xd2122e},
	"essex": {0xc8102e, 0x0b2c6e}, "somerset": {0x7a0f23, 0x1d1d1b}, "nottinghamshire": {0x00703c, 0xf2b700},
	"derbyshire": {0x6cace4, 0x5a3a2e}, "durham": {0x003c71, 0xffd100}, "glamorgan": {0x003a70, 0xf2b700},
	"middlesex": {0xd9468f, 0x0b2c6e}, "northamptonshire": {0x7b1232, 0xd9a441}, "worcestershire": {0x00684a, 0x1d1d1b},
	"central sparks": {0xef5b8a, 0x303030}, "thunder": {0xd2122e, 0x303030},
	"cape cobras": {0x0072ce, 0xf58220}, "knights": {0xe2231a, 0x1d3f94},
	"haryana": {0x00539b, 0xf58220}, "mumbai": {0x0c2340, 0x4aa3df},
}

// codes are the codes of national sides, for feeds that spell a name differently.
var codes = map[string]string{
	"eng": "england", "nz": "new zealand", "nzl": "new zealand", "aus": "australia", "ind": "india",
	"pak": "pakistan", "sl": "sri lanka", "sri": "sri lanka", "wi": "west indies", "win": "west indies",
	"sa": "south africa", "rsa": "south africa", "zim": "zimbabwe", "ban": "bangladesh", "afg": "afghanistan",
	"ire": "ireland", "sco": "scotland", "ned": "netherlands", "nep": "nepal", "uae": "united arab emirates",
	"usa": "united states of america", "oma": "oman", "nam": "namibia", "png": "papua new guinea",
}

// kitOf returns a team's colours; an unknown team gets a generated pair that never changes.
func kitOf(name, code string) kit {
	key := strings.ToLower(strings.TrimSpace(name))
	key = strings.TrimSuffix(strings.TrimSuffix(key, " women"), " men")
	if _, ok := kits[key]; !ok {
		if full, ok := codes[strings.ToLower(code)]; ok {
			key = full
		}
	}
	if pair, ok := kits[key]; ok {
		return kit{slug: strings.ReplaceAll(key, " ", "-"), first: pair[0], second: pair[1]}
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
