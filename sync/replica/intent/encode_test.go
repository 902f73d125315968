package intent

import (
	"bytes"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// drawEntry draws any entry, sensible or not.
func drawEntry(t *rapid.T) *Entry {
	text := func(name string) string { return rapid.StringN(0, 8, -1).Draw(t, name) }
	num := func(name string) uint64 { return rapid.Uint64().Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	item := func(name string) attr.Item {
		if yes(name) {
			return nil
		}
		return attr.Item{"pk": attr.S(text(name + " key")), "n": attr.Int(int64(num(name + " n")))}
	}
	params := func(name string) (p expr.Params) {
		for range rapid.IntRange(0, 3).Draw(t, name) {
			if p.Names == nil {
				p.Names, p.Values = map[string]string{}, attr.Item{}
			}
			p.Names["#"+text(name)], p.Values[":"+text(name)] = text(name), attr.S(text(name))
		}
		return p
	}
	when := func(name string) time.Time {
		if yes(name) {
			return time.Time{}
		}
		return time.Unix(0, rapid.Int64().Draw(t, name)>>1).UTC()
	}
	e := &Entry{
		Write: Write{
			Seq: num("seq"), Digits: uint32(num("digits")), Group: num("group"), Table: text("table"), Policy: store.Policy(text("policy")), Key: attr.Item{"pk": attr.S(text("key"))},
			Op: store.Op(num("op") % 4), Item: item("item"), Update: text("update"), Condition: text("condition"), Params: params("params"), At: when("at"),
			Behind: num("behind"), Life: Life{Kind: LifeKind(num("life") % 3), ID: text("life id")}, Read: yes("read"), ReplacesExpired: yes("replaces expired"), Provisional: yes("provisional"),
		},
		Progress: Progress{Was: item("was"), Sent: int(num("sent") % 1000), Unsure: yes("unsure"), Late: yes("late"), Closed: yes("closed"), Dead: yes("dead"), Proof: yes("proof"), Since: when("since"), Yields: when("yields")},
		Recovery: Recovery{lost: yes("lost"), replay: yes("replay"), before: yes("before")},
	}
	if yes("known policy") {
		e.Policy = store.PolicyNewest
	}
	if yes("again") {
		e.again = int64(num("again"))
		e.Moved, e.Begun = yes("moved"), num("begun")
	}
	if yes("rare") {
		e.Txn, e.Stamp, e.Lock, e.Fence = num("txn"), int64(num("stamp")), text("lock"), int64(num("fence"))
		e.Label, e.Refused, e.NotBefore, e.Why = text("label"), int(num("refused")%100), when("not before"), text("why")
		e.Held, e.From = Hold(num("held")%4), text("from")
		for range rapid.IntRange(0, 2).Draw(t, "checks") {
			e.Checks = append(e.Checks, Check{Table: text("table"), Key: attr.Item{"pk": attr.S(text("key"))}, Condition: text("c"), Params: params("p")})
			e.Folds = append(e.Folds, num("fold"))
		}
	}
	return e
}

func TestEncodeIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEntry(t)
		b := e.Encode()
		got, err := DecodeEntry(b)
		if err != nil {
			t.Fatal(err)
		}
		if !sameEntry(got, e) {
			t.Fatalf("%+v is read as %+v", e, got)
		}
		for n := range b {
			if _, err := DecodeEntry(b[:n]); !fault.Is(err, fault.Damaged) {
				t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
			}
		}
		if _, err := DecodeEntry(append(b, 0)); !fault.Is(err, fault.Damaged) {
			t.Fatalf("with a byte behind it: %v", err)
		}
	})
}

func sameEntry(a, b *Entry) bool {
	same := attr.EqualItems(a.Key, b.Key) && attr.EqualItems(a.Item, b.Item) && attr.EqualItems(a.Was, b.Was) &&
		(a.Item == nil) == (b.Item == nil) && (a.Was == nil) == (b.Was == nil) && sameParams(a.Params, b.Params) &&
		len(a.Checks) == len(b.Checks)
	for i := range min(len(a.Checks), len(b.Checks)) {
		x, y := a.Checks[i], b.Checks[i]
		same = same && x.Table == y.Table && attr.EqualItems(x.Key, y.Key) && x.Condition == y.Condition && sameParams(x.Params, y.Params)
	}
	x, y := *a, *b
	for _, e := range []*Entry{&x, &y} {
		e.Key, e.Item, e.Was, e.Params, e.Checks = nil, nil, nil, expr.Params{}, nil
	}
	return same && reflect.DeepEqual(x, y)
}

func sameParams(a, b expr.Params) bool {
	return maps.Equal(a.Names, b.Names) && attr.EqualItems(a.Values, b.Values)
}

func TestEncodeIsSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.made("a", "match#1234567890", "a")
	e := w.node("a").write(update("t", "match#1234567890", "SET note = :note, score = :score, updatedAt = :at ADD version :one",
		"version = :v OR attribute_not_exists(version)", ":note", strings.Repeat("x", 120), ":score", 42, ":at", "2026-06-01T12:00:00.000Z", ":one", 1, ":v", 7))
	if got := len(e.Encode()); got > 500 {
		t.Errorf("an update of 200 bytes takes %d", got)
	}
}

func BenchmarkEncode(b *testing.B) {
	e := &Entry{
		Write: Write{
			Seq: 1<<40 + 5, Digits: 5, Group: 1<<40 + 5, Table: "cricket-follows", Policy: store.PolicyIntent, Key: key("i"),
			Op: store.OpUpdate, Update: "SET #0 = :0", Condition: "(attribute_exists(pk))", At: epoch, Params: expr.Params{Names: map[string]string{"#0": "x"}, Values: attr.Item{":0": attr.Int(1)}},
		},
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Encode()
		}
	})
	data := e.Encode()
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeEntry(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	corpus.Add(f)
	e := &Entry{
		Write: Write{
			Seq: 1<<40 + 5, Digits: 5, Group: 1<<40 + 4, Table: "t", Policy: store.PolicyNewest, Key: key("i"),
			Op: store.OpPut, Item: key("i"), Condition: "(x = :0)", Params: expr.Params{Names: map[string]string{"#0": "x"}, Values: attr.Item{":0": attr.Int(1)}}, At: epoch, Txn: 1<<40 + 4,
			Folds: []uint64{1}, Checks: []Check{{Table: "t", Key: key("j"), Condition: "(a = b)"}}, Fence: 5, Lock: "l",
		},
	}
	f.Add(e.Encode())
	f.Add((&Entry{Write: Write{Key: key("i")}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err != nil {
			if !fault.Is(err, fault.Damaged) {
				t.Fatalf("refused as %v", err)
			}
			return
		}
		again, err := DecodeEntry(e.Encode())
		if err != nil || !bytes.Equal(again.Encode(), e.Encode()) {
			t.Fatalf("%+v is not read again: %v", e, err)
		}
	})
}
