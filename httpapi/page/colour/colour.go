// Package colour makes colours readable, as text on the panels of our pages and as backgrounds of scores.
package colour

import (
	"fmt"
	"math"
)

// RGB is an sRGB colour, 0xRRGGBB.
type RGB uint32

// Background and text colours, the same as in the pages' style sheet.
const (
	LightPanel RGB = 0xffffff
	DarkPanel  RGB = 0x121a26
	white      RGB = 0xffffff
	black      RGB = 0x000000
	night      RGB = 0x080c12
)

// Minimum contrast ratios.
const (
	TextContrast  = 4.5 // WCAG AA for text
	DarkContrast  = 6.5 // on the dark panel, where a ratio of 4.5 looks dull
	scoreContrast = 7   // AAA: scores are read from three metres and in the sun
)

// Hex formats c as "#1a4fb8".
func (c RGB) Hex() string { return fmt.Sprintf("#%06x", uint32(c)) }

// channels returns red, green and blue in linear light, 0 to 1.
func (c RGB) channels() (r, g, b float64) {
	return linear(uint8(c >> 16)), linear(uint8(c >> 8)), linear(uint8(c))
}

func fromChannels(r, g, b float64) RGB {
	return RGB(gamma(r))<<16 | RGB(gamma(g))<<8 | RGB(gamma(b))
}

// linear inverts sRGB's transfer function for one channel.
func linear(v uint8) float64 {
	c := float64(v) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

func gamma(c float64) uint8 {
	if c <= 0.0031308 {
		c *= 12.92
	} else {
		c = 1.055*math.Pow(c, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * min(max(c, 0), 1)))
}

// luminance is WCAG's relative luminance, 0 to 1.
func (c RGB) luminance() float64 {
	r, g, b := c.channels()
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// Contrast is WCAG's contrast ratio, 1 to 21.
func Contrast(a, b RGB) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// lab is a colour in OKLab, where equal distances look equally large.
type lab struct{ l, a, b float64 }

func (c RGB) lab() lab {
	r, g, b := c.channels()
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

func (k lab) rgb() RGB {
	l := cube(k.l + 0.3963377774*k.a + 0.2158037573*k.b)
	m := cube(k.l - 0.1055613458*k.a - 0.0638541728*k.b)
	s := cube(k.l - 0.0894841775*k.a - 1.2914855480*k.b)
	return fromChannels(
		4.0767416621*l-3.3077115913*m+0.2309699292*s,
		-1.2684380046*l+2.6097574011*m-0.3413193965*s,
		-0.0041960863*l-0.7034186147*m+1.7076147010*s,
	)
}

func cube(x float64) float64 { return x * x * x }

// Difference returns how different two colours look: 0 is equal, about 0.1 hard to distinguish on a chart, 1 black and white.
func Difference(a, b RGB) float64 {
	x, y := a.lab(), b.lab()
	return math.Hypot(x.l-y.l, math.Hypot(x.a-y.a, x.b-y.b))
}

// Readable changes the lightness of c, keeping its hue, until it has at least the given contrast to the background: darker on a light
// one, lighter on a dark one. It ends at black or white, so on the panels it succeeds for ratios up to 15.
func Readable(c, on RGB, ratio float64) RGB {
	if Contrast(c, on) >= ratio {
		return c
	}
	k := c.lab()
	step := 0.01
	if Contrast(on, white) < Contrast(on, black) {
		step = -step
	}
	for range 100 {
		k.l += step
		k.a *= 0.995 // very light or dark colours allow little saturation
		k.b *= 0.995
		if out := k.rgb(); Contrast(out, on) >= ratio {
			return out
		}
	}
	if step > 0 {
		return white
	}
	return black
}

// Slab returns a background close to c, and a text colour with enough contrast for scores.
func Slab(c RGB) (bg, text RGB) {
	text = white
	if Contrast(c, night) > Contrast(c, white) {
		text = night
	}
	return Readable(c, text, scoreContrast), text
}

// Hue returns the n-th of several colours of equal strength and equal distance.
func Hue(n, of int) RGB {
	angle := 2 * math.Pi * float64(n) / float64(of)
	return lab{0.5, 0.14 * math.Cos(angle), 0.14 * math.Sin(angle)}.rgb()
}
