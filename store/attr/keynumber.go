package attr

// The key of a number is a sign byte and, except for zero, the exponent, the digits in pairs, one byte each, and a final 0x00. Each pair
// is stored as 1 to 100, so the final byte is below every pair. 12.5 is 0.125 × 10^2: the sign, the exponent 2 (plus 129), 13 for 12, 51
// for 50, 0. For a negative number all bytes after the sign are inverted, so larger magnitudes come first.
const (
	keyNegative = 0x01
	keyZero     = 0x02
	keyPositive = 0x03
)

func appendKeyNumber(dst []byte, text string) ([]byte, error) {
	d, err := parseDecimal(text)
	if err != nil {
		return dst, err
	}
	if d.n == 0 {
		return append(dst, keyZero), nil
	}
	flip := byte(0)
	if d.neg {
		flip = 0xff
		dst = append(dst, keyNegative)
	} else {
		dst = append(dst, keyPositive)
	}
	dst = append(dst, byte(d.exp-minExponent)^flip)
	for i := 0; i < d.n; i += 2 {
		pair := d.digits[i] * 10
		if i+1 < d.n {
			pair += d.digits[i+1]
		}
		dst = append(dst, (pair+1)^flip)
	}
	return append(dst, flip), nil
}

func readKeyNumber(src []byte) (d decimal, rest []byte, ok bool) {
	if len(src) == 0 {
		return d, nil, false
	}
	flip := byte(0)
	switch src[0] {
	case keyZero:
		return d, src[1:], true
	case keyPositive:
	case keyNegative:
		d.neg = true
		flip = 0xff
	default:
		return d, nil, false
	}
	if len(src) < 2 {
		return d, nil, false
	}
	d.exp = int(src[1]^flip) + minExponent
	for i := 2; i < len(src); i++ {
		b := src[i] ^ flip
		if b == 0 {
			return d, src[i+1:], d.trim()
		}
		if b > 100 || d.n == maxDigits {
			break
		}
		d.digits[d.n], d.digits[d.n+1] = (b-1)/10, (b-1)%10
		d.n += 2
	}
	return d, nil, false
}

// trim removes the zero that fills the last pair. It returns false for digits that were never written: with a leading zero, or two
// trailing ones.
func (d *decimal) trim() bool {
	if d.n == 0 || d.digits[0] == 0 {
		return false
	}
	if d.digits[d.n-1] == 0 {
		d.n--
	}
	return d.digits[d.n-1] != 0
}
