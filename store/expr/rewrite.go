package expr

import "strings"

// Rewrite returns an expression with its placeholders renamed and its white space shortened, so that it can be combined with another in
// one request. The text must have been accepted before. A text that is longer than DynamoDB allows is returned as it is.
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

// Clauses holds the actions of an update by clause, without the keyword. Empty means that the update does not have the clause.
type Clauses struct{ Set, Remove, Add, Delete string }

// SplitUpdate splits an update into its clauses. The text must have been accepted before. One that is longer than DynamoDB allows has none.
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
		into, from = c.clauseOf(kind), t.end
	}
	return c
}

func (c *Clauses) clauseOf(kind actionKind) *string {
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

// String returns the update as text.
func (c Clauses) String() string {
	var parts []string
	for _, section := range [...]struct{ word, actions string }{
		{"SET ", c.Set}, {"REMOVE ", c.Remove}, {"ADD ", c.Add}, {"DELETE ", c.Delete},
	} {
		if section.actions != "" {
			parts = append(parts, section.word+section.actions)
		}
	}
	return strings.Join(parts, " ")
}

// IsEnclosed reports whether the whole condition is in parentheses: a second pair would be refused.
func (c *Condition) IsEnclosed() bool { return c.root.parens }
