package partiql

import (
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// path reads the steps behind the first name.
func (p *parser) path(first token) (*node, error) {
	n := &node{kind: nodePath, at: first.at, steps: []step{{first.text, noIndex}}}
	for {
		s, more, err := p.step()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		n.steps = append(n.steps, s)
	}
	for _, s := range n.steps {
		if s.index == noIndex && s.name == "" {
			return nil, invalid("Path component cannot be an empty string")
		}
	}
	return n, nil
}

// step reads one step of a path, if there is another one.
func (p *parser) step() (step, bool, error) {
	switch {
	case p.takeSign("."):
		t := p.next()
		switch {
		case t.kind == tokWord, t.kind == tokQuoted:
			return step{t.text, noIndex}, true, nil
		case t.is(tokSign, "*"):
			return step{}, false, invalid("Changing item's hierarchy while reading isn't supported")
		}
		return step{}, false, malformed("Invalid path dot component")
	case p.takeSign("["):
		s, err := p.index()
		if err == nil {
			err = p.sign("]")
		}
		return s, true, err
	}
	return step{}, false, nil
}

// index reads what stands in the brackets of a path.
func (p *parser) index() (step, error) {
	t := p.next()
	if t.kind == tokString {
		return step{t.text, noIndex}, nil
	}
	minus := t.is(tokSign, "-")
	digits := t
	if minus {
		digits = p.next()
	}
	switch {
	case t.is(tokSign, "*"):
		return step{}, malformed("Invalid path component")
	case digits.kind != tokNumber, strings.Trim(digits.text, "0123456789") != "":
		return step{}, invalidAt(t.at, "Unexpected path component")
	}
	i, err := strconv.ParseInt(digits.text, 10, 32)
	switch {
	case minus && (err != nil || i > 0):
		return step{}, invalidAt(t.at, "List index is not within the allowable range; index: [-%s]", digits.text)
	case err != nil:
		return step{}, invalidAt(t.at, "List index is not within the allowable range; index: [%s]", digits.text)
	}
	return step{index: int(i)}, nil
}

// number returns the node of a literal; its name is the text.
func number(t token) (*node, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(t.text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	text := whole
	if fraction != "" {
		text += "." + fraction
	}
	if exponent != "" {
		text += "e" + exponent
	}
	v, err := attr.N(text)
	return &node{kind: nodeValue, at: t.at, name: t.text, value: v}, err
}

// ionType guesses the type of a literal of Amazon Ion, for the refusal.
func ionType(text string) string {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "NULL"
	case strings.HasPrefix(text, "{{"):
		return "BLOB"
	case strings.HasPrefix(text, "{"):
		return "STRUCT"
	case strings.HasPrefix(text, "["):
		return "LIST"
	case strings.HasPrefix(text, "("):
		return "SEXP"
	case strings.HasPrefix(text, `"`):
		return "STRING"
	case text == "true", text == "false":
		return "BOOL"
	case strings.HasPrefix(text, "null"):
		return "NULL"
	case strings.Trim(text, "-0123456789") == "":
		return "INT"
	case strings.Trim(text, "-.0123456789dD") == "":
		return "DECIMAL"
	case strings.Trim(text, "-+.0123456789eE") == "":
		return "FLOAT"
	case isDigit(text[0]):
		return "TIMESTAMP"
	}
	return "SYMBOL"
}
