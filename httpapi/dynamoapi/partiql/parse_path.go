package partiql

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/touchline/touchline/store/attr"
)

// path parses the steps after the first name.
func (p *parser) path(first token) *node {
	n := &node{kind: nodePath, at: first.at, steps: []step{{first.text, noIndex}}}
	for s, more := p.step(); more; s, more = p.step() {
		n.steps = append(n.steps, s)
	}
	for _, s := range n.steps {
		if s.index == noIndex && s.name == "" {
			panic(invalid("Path component cannot be an empty string"))
		}
	}
	return n
}

// step parses a step of a path, if there is another.
func (p *parser) step() (s step, ok bool) {
	switch {
	case p.takeSign("."):
		t := p.next()
		switch {
		case t.kind == tokWord, t.kind == tokQuoted:
			return step{t.text, noIndex}, true
		case t.is(tokSign, "*"):
			panic(invalid("Changing item's hierarchy while reading isn't supported"))
		}
		panic(malformedText("Invalid path dot component"))
	case p.takeSign("["):
		s = p.index()
		p.sign("]")
		return s, true
	}
	return step{}, false
}

// index parses the contents of a path's brackets.
func (p *parser) index() step {
	t := p.next()
	if t.kind == tokString {
		return step{t.text, noIndex}
	}
	sign, digits := "", t
	if t.is(tokSign, "-") {
		sign, digits = "-", p.next()
	}
	switch {
	case t.is(tokSign, "*"):
		panic(malformedText("Invalid path component"))
	case digits.kind != tokNumber, strings.Trim(digits.text, "0123456789") != "":
		panic(invalidAt(t.at, "Unexpected path component"))
	}
	i, err := strconv.ParseInt(digits.text, 10, 32)
	if err != nil || sign != "" && i > 0 {
		panic(invalidAt(t.at, "List index is not within the allowable range; index: [%s%s]", sign, digits.text))
	}
	return step{index: int(i)}
}

// number returns the node of a number literal; its name is the text.
func number(t token) *node {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(t.text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	text := cmp.Or(strings.TrimLeft(whole, "0"), "0")
	if fraction != "" {
		text += "." + fraction
	}
	if exponent != "" {
		text += "e" + exponent
	}
	return &node{kind: nodeValue, at: t.at, name: t.text, value: must(attr.N(text))}
}

// ionType guesses the type of an Amazon Ion literal, for the refusal.
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
