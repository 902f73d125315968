package partiql

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// BenchmarkRead parses and compiles a typical SELECT.
func BenchmarkRead(b *testing.B) {
	benchmark(b, `SELECT OrderID, Total FROM "ttt" WHERE pk=? AND sk BETWEEN ? AND ? AND begins_with(Address, 'Main')`,
		attr.S("a"), attr.Int(1), attr.Int(9))
}

// BenchmarkUpdate parses and compiles a typical UPDATE.
func BenchmarkUpdate(b *testing.B) {
	benchmark(b, `UPDATE ttt SET n=n+? SET m.x='y' REMOVE old WHERE pk=? AND sk=? AND n<100`, attr.Int(1), attr.S("a"), attr.Int(9))
}

// BenchmarkLongest parses and compiles texts of maximum length, of the most expensive kinds.
func BenchmarkLongest(b *testing.B) {
	for name, c := range map[string][2]string{
		"in":      {"SELECT * FROM ttt WHERE a IN ['x'", ",'y'"},
		"or":      {"SELECT * FROM ttt WHERE a=1", " OR a=1"},
		"and":     {"SELECT * FROM ttt WHERE pk='a'", " AND a=1"},
		"columns": {"SELECT a FROM ttt WHERE b=1", ""},
		"map":     {"INSERT INTO ttt VALUE {'pk':'a','sk':1,'x':[1", ",{'a':<<1,2>>}"},
		"deep":    {"SELECT * FROM ttt WHERE a=", "["},
		"sum":     {"UPDATE ttt SET a=b", "+1"},
	} {
		text := c[0] + strings.Repeat(c[1], (maxChars-len(c[0])-4)/max(1, len(c[1])))
		switch name {
		case "in":
			text += "]"
		case "map":
			text += "]}"
		case "sum":
			text += " WHERE pk='a' AND sk=1"
		case "columns":
			var names strings.Builder
			for i := range 1500 {
				names.WriteString(",c" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)))
			}
			text = "SELECT a" + names.String() + " FROM ttt WHERE b=1"
		}
		b.Run(name, func(b *testing.B) { benchmark(b, text) })
	}
}

func benchmark(b *testing.B, text string, params ...attr.Value) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		s, err := Parse(text)
		if err != nil {
			continue
		}
		switch s.Kind {
		case Select:
			_, err = s.Read(params, testSource(s))
		case Update, Insert:
			_, err = s.Write(params, testKey(s.Table))
		}
		if err != nil && len(params) > 0 {
			b.Fatal(err)
		}
	}
}
