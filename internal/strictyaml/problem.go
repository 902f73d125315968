package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault in a file.
type Problem struct {
	Line int    // from 1; 0: unknown
	Key  string // path of the key; empty: the file
	Text string
}

// String returns the problem in the form "line 3: rules[0].kind: unknown key".
func (p Problem) String() string {
	out := p.Text
	if p.Key != "" {
		out = p.Key + ": " + out
	}
	if p.Line != 0 {
		out = fmt.Sprintf("line %d: %s", p.Line, out)
	}
	return out
}

// AddTo returns a function that adds a problem to a list, with a prefix before its key.
func AddTo(list *[]Problem, prefix string) func(key, format string, args ...any) {
	return func(key, format string, args ...any) {
		*list = append(*list, Problem{Key: prefix + key, Text: fmt.Sprintf(format, args...)})
	}
}

// Join joins problems into one text, in the order of their lines.
func Join(problems []Problem) string {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	return strings.Join(texts, "; ")
}

// Lines maps each key in a file to its line.
type Lines map[string]int

// LineOf returns the line of a key or of the nearest key around it, 0 if there is none.
func (l Lines) LineOf(key string) int {
	for key != "" {
		if line, ok := l[key]; ok {
			return line
		}
		key = key[:max(strings.LastIndexByte(key, '.'), strings.LastIndexByte(key, '['), 0)]
	}
	return 0
}
