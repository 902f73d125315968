package wire

import "strings"

// Skip skips a value.
func (d *Decoder) Skip() {
	open := make([]byte, 0, 16) // closing brackets still expected
	for {
		d.skipOne(&open)
		for len(open) > 0 && d.lex.SkipTo(open[len(open)-1]) {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return
		}
		check(d.lex.Expect(','))
		d.skipName(open[len(open)-1])
	}
}

// skipOne skips a scalar, or the start of an array or object up to its first element.
func (d *Decoder) skipOne(open *[]byte) {
	for {
		d.lex.Space()
		rest := d.lex.Text[d.lex.Pos:]
		if rest == "" {
			d.Fail(d.lex.UnexpectedError("a value"))
		}
		end := byte('}')
		switch rest[0] {
		case '[':
			end = ']'
		case '{':
		default:
			d.skipScalar(rest)
			return
		}
		d.lex.Pos++
		if d.lex.SkipTo(end) {
			return
		}
		*open = append(*open, end)
		d.skipName(end)
	}
}

// skipName skips a member's name if the next thing is a member of an object.
func (d *Decoder) skipName(end byte) {
	if end == '}' {
		must(d.lex.ReadString())
		check(d.lex.Expect(':'))
	}
}

func (d *Decoder) skipScalar(rest string) {
	if rest[0] == '"' {
		must(d.lex.ReadString())
		return
	}
	n := numberLen(rest)
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(rest, word) {
			n = len(word)
		}
	}
	if n == 0 {
		d.Fail(d.lex.UnexpectedError("a value"))
	}
	d.lex.Pos += n
}
