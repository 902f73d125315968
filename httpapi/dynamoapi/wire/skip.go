package wire

import "strings"

// Skip reads a value that nobody wants to know.
func (d *Decoder) Skip() error {
	open := make([]byte, 0, 16) // the brackets that are to be closed
	for {
		if err := d.skipOne(&open); err != nil {
			return err
		}
		for {
			if len(open) == 0 {
				return nil
			}
			end := open[len(open)-1]
			if d.lex.Take(end) {
				open = open[:len(open)-1]
				continue
			}
			if err := d.lex.Expect(','); err != nil {
				return err
			}
			if err := d.skipName(end); err != nil {
				return err
			}
			break
		}
	}
}

// skipOne reads a scalar, or the beginning of an array or object up to its first element.
func (d *Decoder) skipOne(open *[]byte) error {
	for {
		d.lex.Space()
		rest := d.lex.Text[d.lex.Pos:]
		if rest == "" {
			return d.lex.Unexpected("a value")
		}
		end := byte('}')
		switch rest[0] {
		case '[':
			end = ']'
		case '{':
		default:
			return d.skipScalar(rest)
		}
		d.lex.Pos++
		if d.lex.Take(end) {
			return nil
		}
		*open = append(*open, end)
		if err := d.skipName(end); err != nil {
			return err
		}
	}
}

// skipName reads a member's name, where the next thing is a member of an object.
func (d *Decoder) skipName(end byte) error {
	if end == ']' {
		return nil
	}
	if _, err := d.lex.Quoted(); err != nil {
		return err
	}
	return d.lex.Expect(':')
}

func (d *Decoder) skipScalar(rest string) error {
	if rest[0] == '"' {
		_, err := d.lex.Quoted()
		return err
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(rest, word) {
			d.lex.Pos += len(word)
			return nil
		}
	}
	n := numberLen(rest)
	if n == 0 {
		return d.lex.Unexpected("a value")
	}
	d.lex.Pos += n
	return nil
}
