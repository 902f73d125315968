package expr

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

var one = Params{Values: attr.Item{":x": attr.Int(1)}}

func repeat(n int, text, separator string) string {
	return strings.TrimSuffix(strings.Repeat(text+separator, n), separator)
}

// nested returns (a=:x OR (a=:x OR … a=:x)) with n pairs of parentheses.
func nested(n int) string { return strings.Repeat("(a=:x OR ", n) + "a=:x" + strings.Repeat(")", n) }

func TestLimits(t *testing.T) {
	const operators = "The expression contains too many operators; operator count: 301"
	for _, c := range []struct {
		name, text, want string
	}{
		{"comparators", repeat(150, "a=:x", " OR "), ""},
		{"comparators", repeat(151, "a=:x", " OR "), operators},
		{"many comparators", repeat(400, "a=:x", " OR "), operators},
		{"not", strings.Repeat("NOT ", 299) + "a=:x", ""},
		{"not", strings.Repeat("NOT ", 300) + "a=:x", operators},
		{"not in parentheses", strings.Repeat("NOT (", 299) + "a=:x" + strings.Repeat(")", 299), ""},
		{"size", repeat(100, "size(a)=:x", " OR "), ""},
		{"size", repeat(101, "size(a)=:x", " OR "), operators},
		{"between", repeat(150, "a BETWEEN :x AND :x", " OR "), ""},
		{"between", repeat(151, "a BETWEEN :x AND :x", " OR "), operators},
		{"functions", repeat(150, "attribute_exists(a)", " OR "), ""},
		{"functions", repeat(151, "attribute_exists(a)", " OR "), operators},
		{"nesting", nested(149), ""},
		{"nesting", nested(150), operators},
		{"operands of in", "a IN (" + repeat(100, ":x", ",") + ")", ""},
		{"operands of in", "a IN (" + repeat(101, ":x", ",") + ")",
			"The IN operator is provided with too many operands; number of operands: 101"},
		{"text", strings.Repeat("a", 4091) + " = :x", ""},
		{"text", strings.Repeat("a", 4092) + " = :x",
			"Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"path", repeat(32, "a", ".") + "=:x", ""},
		{"path", repeat(33, "a", ".") + "=:x", "The document path has too many nesting levels; nesting levels: 33"},
		{"indexes", "a" + strings.Repeat("[0]", 31) + "=:x", ""},
		{"indexes", "a" + strings.Repeat("[0]", 32) + "=:x",
			"The document path has too many nesting levels; nesting levels: 33"},
		{"index", "a[2147483647]=:x", ""},
		{"index", "a[2147483648]=:x", "List index is not within the allowable range; index: [2147483648]"},
		{"index", "a[99999999999999999999]=:x",
			"List index is not within the allowable range; index: [99999999999999999999]"},
		{"depth", strings.Repeat("(", 605), "The expression has too many nesting levels; nesting levels: 605"},
		{"depth", strings.Repeat("size(", 700), "The expression has too many nesting levels; nesting levels: 605"},
		{"depth", strings.Repeat("NOT ", 1000), "The expression has too many nesting levels; nesting levels: 605"},
		{"many parentheses side by side", repeat(7, "a IN ("+repeat(100, "(:x)", ",")+")", " OR "), ""},
		{"open", strings.Repeat("(", 604), `Syntax error; token: "<EOF>", near: "("`},
	} {
		_, err := ParseFilter(c.text, one)
		checkError(t, c.name, err, "Invalid FilterExpression: ", c.want)
	}
}

func TestUpdateLimits(t *testing.T) {
	params := Params{Values: attr.Item{":x": attr.Int(1)}}
	sums := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, "z"+string(rune('a'+i%26))+string(rune('a'+i/26))+"=:x+:x")
		}
		return "SET " + strings.Join(parts, ",")
	}
	for _, c := range []struct {
		name, text, want string
	}{
		{"sums", sums(300), ""},
		{"sums", sums(301), "The expression contains too many operators; operator count: 301"},
		{"functions", "SET a=" + strings.Repeat("if_not_exists(a,", 230) + ":x" + strings.Repeat(")", 230), ""},
		{"depth", "SET a=" + strings.Repeat("(", 700), "The expression has too many nesting levels; nesting levels: 605"},
	} {
		_, err := ParseUpdate(c.text, params)
		checkError(t, c.name, err, "Invalid UpdateExpression: ", c.want)
	}
}

// TestLinear checks that the parser's work is linear in the length of the text, with the most expensive texts: a parser that looked back
// over what it has read would allocate or take steps quadratically.
func TestLinear(t *testing.T) {
	for name, worst := range worstTexts() {
		g, short, long := worst.grammar, worst.text(1000), worst.text(4000)
		few := testing.AllocsPerRun(5, func() { _, _ = parse(g, short, false) })
		many := testing.AllocsPerRun(5, func() { _, _ = parse(g, long, false) })
		if many > 5*few+20 {
			t.Errorf("%s: %v allocations for 1000 bytes, %v for 4000", name, few, many)
		}
	}
}

type worstText struct {
	grammar grammar
	text    func(size int) string
}

// worstTexts returns the texts of a given size that take longest to parse, by name.
func worstTexts() map[string]worstText {
	fill := func(head, unit, tail string) func(int) string {
		return func(size int) string { return head + strings.Repeat(unit, (size-len(head)-len(tail))/len(unit)) + tail }
	}
	return map[string]worstText{
		"parentheses":  {grammarCondition, fill("", "(", "")},
		"nots":         {grammarCondition, fill("", "NOT ", "a=:x")},
		"indexes":      {grammarCondition, fill("a", "[0]", "=:x")},
		"operands":     {grammarCondition, fill("a IN (", ":x,", ":x)")},
		"connectives":  {grammarCondition, fill("", "a=:x OR ", "a=:x")},
		"placeholders": {grammarProjection, func(size int) string { return placeholders(size) }},
		"names":        {grammarProjection, fill("", "a,", "a")},
		"removes":      {grammarUpdate, fill("REMOVE ", "a.b,", "a.b")},
	}
}

// placeholders returns a list of different placeholders.
func placeholders(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-6; i++ {
		b.WriteString("#" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + ",")
	}
	return b.String() + "a"
}

func checkError(t *testing.T, name string, err error, prefix, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = strings.TrimPrefix(err.Error(), prefix)
	}
	if got != want {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}
