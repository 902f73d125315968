package attr

import "strconv"

// decimal is a decoded number: 0.ddd × 10^exp, where the first and last digits are not zero. 12.5 has the digits 1 2 5 and exp 2. No
// digits mean zero.
type decimal struct {
	neg    bool
	n      int
	exp    int
	digits [maxDigits]byte // values 0 to 9, not characters
}

// expClamp limits the exponent: far outside DynamoDB's range, far inside an int.
const expClamp = 1 << 26

// parseDecimal parses a number in any spelling that DynamoDB accepts: 1, -0.50, +1e3, .5E-2.
func parseDecimal(text string) (decimal, error) {
	var d decimal
	i := 0
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		d.neg = text[i] == '-'
		i++
	}
	i, long, ok := d.readDigits(text, i)
	exp := 0
	if ok && i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		exp, i, ok = readExponent(text, i+1)
	}
	if text == "" {
		return decimal{}, badNumber("The parameter cannot be converted to a numeric value")
	}
	if !ok || i != len(text) {
		return decimal{}, badNumber("The parameter cannot be converted to a numeric value: %s", text)
	}
	if d.n == 0 { // zero has no magnitude, but the service checks the range of its written exponent
		zero := decimal{exp: exp + 1}
		return decimal{}, zero.check(false)
	}
	d.exp += exp
	return d, d.check(long)
}

// check refuses numbers that do not fit DynamoDB's digits and range.
func (d *decimal) check(long bool) error {
	switch {
	case long:
		return badNumber("Attempting to store more than 38 significant digits in a Number")
	case d.exp > maxExponent:
		return errOverflow()
	case d.exp < minExponent:
		return badNumber("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	}
	return nil
}

func errOverflow() error {
	return badNumber("Number overflow. Attempting to store a number with magnitude larger than supported range")
}

// readDigits reads digits and the point. It returns where they end, whether there are more significant digits than fit, and whether there
// is a digit at all. Zeros are kept back until a later digit shows that they are significant.
func (d *decimal) readDigits(text string, i int) (end int, long, ok bool) {
	point, zeros := false, 0
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		ok = true
		switch {
		case c != '0' && d.n+zeros < maxDigits:
			d.n += zeros // the array is zero already
			d.digits[d.n] = c - '0'
			d.n++
			zeros = 0
		case c != '0':
			long = true
		case d.n > 0:
			zeros++
		}
		leading := d.n == 0
		if !point && !leading {
			d.exp++
		}
		if point && leading {
			d.exp--
		}
	}
	return i, long, ok
}

// readExponent reads the exponent after the e. If it does not fit 64 bits, the text is not a number.
func readExponent(text string, i int) (exp, end int, ok bool) {
	neg := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	from := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	digits := text[from:i]
	if neg {
		digits = "-" + digits
	}
	long, err := strconv.ParseInt(digits, 10, 64)
	return int(max(-expClamp, min(expClamp, long))), i, err == nil
}

// appendText appends the canonical text, which DynamoDB answers with: plain digits, never an exponent.
func (d *decimal) appendText(dst []byte) []byte {
	if d.n == 0 {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	if d.exp <= 0 {
		dst = append(dst, '0', '.')
		for range -d.exp {
			dst = append(dst, '0')
		}
	}
	for i := range d.n {
		if i == d.exp && i > 0 {
			dst = append(dst, '.')
		}
		dst = append(dst, '0'+d.digits[i])
	}
	for range d.exp - d.n {
		dst = append(dst, '0')
	}
	return dst
}
