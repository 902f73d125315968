package attr

// The limits of numbers: DynamoDB keeps 38 significant digits and magnitudes from 1e-130 to 9.99…e125.
const (
	maxDigits   = 38
	maxExponent = 126  // of 0.ddd × 10^exponent
	minExponent = -129 // 1e-130 is 0.1e-129
)

// N returns a number from its decimal text, with or without a fraction and an exponent. The number is exact: a text that does not fit
// DynamoDB's 38 digits or its range is an error, never rounded.
func N(text string) (Value, error) {
	if isCanonical(text) {
		return Value{kind: KindN, text: text}, nil
	}
	d, err := parseDecimal(text)
	if err != nil {
		return Value{}, err
	}
	return Value{kind: KindN, text: string(d.appendText(nil))}, nil
}

// isCanonical reports whether a text is the form in which a number is held and printed: no exponent, no plus sign, no redundant zeros, no
// negative zero. 0.5 is canonical; .5, 0.50 and 5e-1 are not. It runs for every number read from disk, so it walks the text once.
func isCanonical(text string) bool {
	s := text
	if s != "" && s[0] == '-' {
		s = s[1:]
		if s == "0" {
			return false
		}
	}
	dot := 0
	for dot < len(s) && s[dot]-'0' <= 9 {
		dot++
	}
	if dot == 0 || dot > maxExponent || s[0] == '0' && dot > 1 {
		return false
	}
	if dot == len(s) {
		return dot <= maxDigits || significant(s) <= maxDigits
	}
	return s[dot] == '.' && isFraction(s, dot)
}

// isFraction checks the digits after the point of a canonical number.
func isFraction(s string, dot int) bool {
	fraction := s[dot+1:]
	for i := range len(fraction) {
		if fraction[i]-'0' > 9 {
			return false
		}
	}
	if fraction == "" || fraction[len(fraction)-1] == '0' {
		return false
	}
	if s[0] != '0' {
		return len(s)-1 <= maxDigits
	}
	zeros := 0
	for fraction[zeros] == '0' {
		zeros++
	}
	return -zeros >= minExponent && len(fraction)-zeros <= maxDigits
}

// significant returns the number of digits of an integer up to the last one that is not zero.
func significant(s string) int {
	n := len(s)
	for n > 0 && s[n-1] == '0' {
		n--
	}
	return n
}
