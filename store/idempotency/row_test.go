package idempotency_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/idempotency"
	"github.com/touchline/touchline/store/storetest"
)

func table() store.TableSpec {
	return store.TableSpec{
		Name: "facts", TTL: "ttl", Key: store.KeySpec{
			Partition: store.KeyAttr{Name: "pk", Type: store.KeyString}, Sort: store.KeyAttr{Name: "sk", Type: store.KeyString},
		},
	}
}

func row(t *testing.T, s *store.Store, key string, body any) *idempotency.Row {
	t.Helper()
	hash, err := idempotency.Hash("asha POST /goals", body)
	if err != nil {
		t.Fatal(err)
	}
	return &idempotency.Row{
		Table: "facts", Key: attr.Item{"pk": attr.S("IDEMPOTENCY#asha#" + key), "sk": attr.S("METADATA")}, Hash: hash, Node: s.Node(),
		More: attr.Item{"entityType": attr.S("idempotency")}, Expires: "ttl", Keep: 24 * time.Hour,
	}
}

func fact(id string) store.WriteItem {
	return store.WriteItem{Put: &store.PutItem{Table: "facts", Item: attr.Item{"pk": attr.S(id), "sk": attr.S("GOAL")}}}
}

// The row and the writes it stands for exist both or not at all. A repeated request gets the outcome of the first; another request with
// its key is refused; once the row has expired the key is free, even before it is swept.
func TestRow(t *testing.T) {
	now := time.Date(2026, 7, 4, 15, 0, 0, 0, time.UTC)
	s := storetest.OpenWith(t, t.TempDir()+"/s.db", store.Options{NoSync: true, Now: func() time.Time { return now }}, table())
	write := func(r *idempotency.Row, id string) (out idempotency.Outcome, err error) {
		err = s.Update(t.Context(), func(tx *store.Tx) (err error) {
			var seen bool
			if out, seen, err = r.Read(tx); seen || err != nil {
				return err
			}
			return r.Write(tx, idempotency.Outcome{Status: 201, IDs: map[string]string{"goal": id}, At: now.Add(-time.Minute)}, fact(id))
		})
		return out, err
	}
	if out, err := write(row(t, s, "k", map[string]any{"a": 1, "b": 2}), "g1"); err != nil || out.Repeated {
		t.Fatalf("%+v %v", out, err)
	}
	records, err := s.Journal(t.Context(), 0, 10)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	out, err := write(row(t, s, "k", map[string]any{"b": 2, "a": 1}), "g2")
	if err != nil || !out.Repeated || out.Status != 201 || out.IDs["goal"] != "g1" || !out.At.Equal(now.Add(-time.Minute)) || out.Node != s.Node() || out.Seq != records[0].Seq {
		t.Errorf("again: %+v %v", out, err)
	}
	if _, err := write(row(t, s, "k", map[string]any{"a": 1}), "g2"); !fault.Is(err, fault.Conflict) {
		t.Errorf("another body: %v", err)
	}
	if _, err := write(row(t, s, "new", nil), ""); err == nil { // its writes fail
		t.Error("a fact without a key was written")
	}
	if out, err := write(row(t, s, "new", nil), "g3"); err != nil || out.Repeated {
		t.Errorf("after one that failed: %+v %v", out, err)
	}
	now = now.Add(25 * time.Hour)
	if out, err := write(row(t, s, "k", map[string]any{"a": 1}), "g4"); err != nil || out.Repeated {
		t.Errorf("after its time: %+v %v", out, err)
	}
}

func TestSame(t *testing.T) {
	one, other := attr.Item{"requestHash": attr.S("a")}, attr.Item{"requestHash": attr.S("b")}
	for _, tt := range []struct {
		a, b attr.Item
		want bool
	}{{one, one, true}, {one, other, false}, {one, nil, false}, {attr.Item{}, attr.Item{}, false}} {
		if got := idempotency.SameRequest(tt.a, tt.b); got != tt.want {
			t.Errorf("%v, %v: %v", tt.a, tt.b, got)
		}
	}
}
