package expr

import "strings"

// Rewrite returns an expression with its placeholders replaced and its white space short: what a text must be before it
// can stand in one request with another. The text is one that has been accepted.
func Rewrite(text string, rename func(placeholder string) string) string {
	if len(text) > maxText {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	end := uint16(0)
	for _, t := range lex(text) {
		if t.kind == tokEnd {
			break
		}
		if t.start > end && end > 0 {
			b.WriteByte(' ')
		}
		piece := text[t.start:t.end]
		if t.kind == tokName || t.kind == tokValue {
			piece = rename(piece)
		}
		b.WriteString(piece)
		end = t.end
	}
	return b.String()
}

// Clauses are the actions of an update, without the words that begin them; empty: there is no such clause.
type Clauses struct{ Set, Remove, Add, Delete string }

// SplitUpdate takes an update apart. The text is one that has been accepted.
func SplitUpdate(text string) (c Clauses) {
	if len(text) > maxText {
		return c
	}
	var into *string
	from := uint16(0)
	for _, t := range lex(text) {
		kind, begins := clause(t.kind)
		if !begins && t.kind != tokEnd {
			continue
		}
		if into != nil {
			*into = strings.TrimSpace(text[from:t.start])
		}
		into, from = c.of(kind), t.end
	}
	return c
}

func (c *Clauses) of(kind actionKind) *string {
	switch kind {
	case actionSet:
		return &c.Set
	case actionRemove:
		return &c.Remove
	case actionAdd:
		return &c.Add
	}
	return &c.Delete
}

// String writes the update.
func (c Clauses) String() string {
	var parts []string
	for _, one := range [...]struct{ word, actions string }{
		{"SET ", c.Set}, {"REMOVE ", c.Remove}, {"ADD ", c.Add}, {"DELETE ", c.Delete},
	} {
		if one.actions != "" {
			parts = append(parts, one.word+one.actions)
		}
	}
	return strings.Join(parts, " ")
}

// Enclosed reports whether the whole condition stands in parentheses: a second pair would be refused.
func (c *Condition) Enclosed() bool { return c.root.parens }
