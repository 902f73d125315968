package expr

import (
	"testing"

	"github.com/touchline/touchline/store/attr"
)

const (
	benchCondition = "attribute_not_exists(lockKey) OR expiresAt < :now OR (holder = :me AND fence = :fence)"
	benchUpdate    = "SET #s = :s, score.runs = score.runs + :n, updatedAt = :at REMOVE pending ADD version :n"
)

var benchParams = Params{Values: attr.Item{":now": attr.Int(100), ":me": attr.S("node-1"), ":fence": attr.Int(7)}}

func benchUpdateParams() Params {
	return Params{
		Names:  map[string]string{"#s": "status"},
		Values: attr.Item{":s": attr.S("live"), ":n": attr.Int(1), ":at": attr.S("2026-01-01T00:00:00.000Z")},
	}
}

func benchItem(b *testing.B) attr.Item {
	return mustItem(b, `{"lockKey":{"S":"MATCH#71344"},"expiresAt":{"N":"1700000000000"},"holder":{"S":"node-1"},
		"fence":{"N":"7"},"status":{"S":"idle"},"score":{"M":{"runs":{"N":"120"},"wickets":{"N":"3"}}},"version":{"N":"9"},
		"updatedAt":{"S":"2025-12-31T00:00:00.000Z"},"pending":{"BOOL":true}}`)
}

func BenchmarkParseCondition(b *testing.B) { benchmarkParse(b, grammarCondition, benchCondition) }

func BenchmarkParseUpdate(b *testing.B) { benchmarkParse(b, grammarUpdate, benchUpdate) }

func benchmarkParse(b *testing.B, g grammar, text string) {
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := parse(g, text, false); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseWorst shows that time is linear in the length of a text: MB/s is similar for both sizes.
func BenchmarkParseWorst(b *testing.B) {
	for name, worst := range worstTexts() {
		for _, size := range []int{1000, 4000} {
			text := worst.text(size)
			b.Run(name+"/"+map[int]string{1000: "short", 4000: "long"}[size], func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = parse(worst.grammar, text, false)
				}
			})
		}
	}
}

func BenchmarkBindCached(b *testing.B) {
	update := benchUpdateParams()
	for name, r := range map[string]Request{
		"condition": {Condition: benchCondition, Params: benchParams},
		"update":    {Update: benchUpdate, Params: update},
	} {
		b.Run(name, func(b *testing.B) {
			c := NewCache(100)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Bind(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	cond, err := parseCondition(formCondition, benchCondition, benchParams)
	if err != nil {
		b.Fatal(err)
	}
	it := benchItem(b)
	for name, doc := range map[string]Doc{"item": Item(it), "encoded": attr.Encoded(attr.Encode(nil, it))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, err := cond.Match(doc); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkRequest measures what a conditional put costs here: Bind with the text in the cache, then Match.
func BenchmarkRequest(b *testing.B) {
	c := NewCache(100)
	doc := attr.Encoded(attr.Encode(nil, benchItem(b)))
	b.ReportAllocs()
	for b.Loop() {
		bound, err := c.Bind(Request{Condition: benchCondition, Params: benchParams})
		if err != nil {
			b.Fatal(err)
		}
		if ok, err := bound.Condition.Match(doc); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	u, err := ParseUpdate(benchUpdate, benchUpdateParams())
	if err != nil {
		b.Fatal(err)
	}
	it := benchItem(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Apply(it); err != nil {
			b.Fatal(err)
		}
	}
}
