package attr

// A number's key: a sign byte, then for all but zero the exponent and the digits, two to a byte, with a 0x00 behind
// them. A pair of digits is 1 to 100, so that the end is below every digit. Of a negative number all bytes behind the
// sign are inverted: the larger magnitude comes first.
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

// trim takes off the zero that filled the last pair. Digits that start with a zero or end in two were never written.
func (d *decimal) trim() bool {
	if d.n == 0 || d.digits[0] == 0 {
		return false
	}
	if d.digits[d.n-1] == 0 {
		d.n--
	}
	return d.digits[d.n-1] != 0
}
