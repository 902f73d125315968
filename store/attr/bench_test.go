package attr_test

import (
	"encoding/json"
	"testing"

	"github.com/touchline/touchline/store/attr"
)

// matchItem has 17 attributes, like a row of active-matches: about 1 KB of DynamoDB JSON.
func matchItem(t testing.TB) attr.Item {
	t.Helper()
	ball := func(label, mark string, id int64) attr.Value {
		return attr.M(attr.Item{"label": attr.S(label), "mark": attr.S(mark), "id": attr.Int(id)})
	}
	rate, err := attr.N("7.25")
	if err != nil {
		t.Fatal(err)
	}
	return attr.Item{
		"matchId": attr.S("67890123"), "leagueId": attr.Int(5), "leagueCode": attr.S("T20WC"),
		"startTime": attr.S("2026-02-14T14:00:00.000Z"), "status": attr.S("2nd Innings"), "phase": attr.S("live"),
		"homeTeam": attr.S("Australia"), "awayTeam": attr.S("New Zealand"), "innings": attr.Int(2),
		"runs": attr.Int(112), "wickets": attr.Int(3), "overs": attr.S("14.2"), "runRate": rate,
		"active": attr.Bool(true), "ttl": attr.Int(1770998400),
		"cooldowns": attr.M(attr.Item{"four": attr.Int(1770990000), "six": attr.Int(1770990060)}),
		"lastBalls": attr.L(ball("14.1", "4", 901), ball("14.2", "W", 902), ball("14.3", "1", 903)),
	}
}

// wire is an attribute for encoding/json.
type wire struct {
	S    *string         `json:"S,omitempty"`
	N    *string         `json:"N,omitempty"`
	B    []byte          `json:"B,omitempty"`
	BOOL *bool           `json:"BOOL,omitempty"`
	NULL *bool           `json:"NULL,omitempty"`
	L    []wire          `json:"L,omitempty"`
	M    map[string]wire `json:"M,omitempty"`
}

func BenchmarkDecode(b *testing.B) {
	it := matchItem(b)
	enc := attr.Encoded(attr.Encode(nil, it))
	text := attr.AppendJSON(nil, it)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := enc.Decode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var out map[string]wire
			if err := json.Unmarshal(text, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	it := matchItem(b)
	b.ReportAllocs()
	var dst []byte
	for b.Loop() {
		dst = attr.Encode(dst[:0], it)
	}
}

func BenchmarkGet(b *testing.B) {
	enc := attr.Encoded(attr.Encode(nil, matchItem(b)))
	for _, name := range []string{"active", "matchId", "wickets", "missing"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := enc.Get(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkJSONOut(b *testing.B) {
	it := matchItem(b)
	enc := attr.Encoded(attr.Encode(nil, it))
	var plain map[string]wire
	if err := json.Unmarshal(attr.AppendJSON(nil, it), &plain); err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 4096)
	b.Run("item", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = attr.AppendJSON(dst[:0], it)
		}
	})
	b.Run("encoded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = enc.AppendJSON(dst[:0])
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(plain); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkJSONIn(b *testing.B) {
	text := attr.AppendJSON(nil, matchItem(b))
	b.Run("item", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := attr.ParseJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoded", func(b *testing.B) {
		b.ReportAllocs()
		var dst []byte
		for b.Loop() {
			var err error
			if dst, err = attr.EncodeJSON(dst[:0], text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var out map[string]wire
			if err := json.Unmarshal(text, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
