package crash_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

func str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
func num(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }

// balls has a number to sort by, an index without a sort key, and a sparse one that shows keys only.
func balls() store.TableSpec {
	return store.TableSpec{
		Name: "balls",
		Key:  store.KeySpec{Partition: str("match"), Sort: num("ball")},
		Indexes: []store.IndexSpec{
			{Name: "bowler-index", Key: store.KeySpec{Partition: str("bowler")}},
			{
				Name: "wicket-index", Key: store.KeySpec{Partition: str("wicket"), Sort: num("runs")},
				Projection: store.ProjectKeysOnly,
			},
		},
		TTL: "ttl", Policy: store.PolicyIntent, Why: "a test",
	}
}

// matches has a partition key alone.
func matches() store.TableSpec {
	return store.TableSpec{Name: "matches", Key: store.KeySpec{Partition: str("match")}}
}

// item makes an item of names and values: strings, ints, or values.
func item(pairs ...any) attr.Item {
	it := attr.Item{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i].(string)] = value(pairs[i+1])
	}
	return it
}

func value(v any) attr.Value {
	switch v := v.(type) {
	case string:
		return attr.S(v)
	case int:
		return attr.Int(int64(v))
	default:
		return v.(attr.Value)
	}
}

func ball(match string, n int, more ...any) attr.Item {
	return item(append([]any{"match", match, "ball", n}, more...)...)
}

func values(pairs ...any) expr.Params { return expr.Params{Values: item(pairs...)} }

func view(t testing.TB, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func sameItem(a, b attr.Item) bool {
	return (a == nil) == (b == nil) && attr.Equal(attr.M(a), attr.M(b))
}

func show(it attr.Item) string {
	if it == nil {
		return "none"
	}
	return string(attr.AppendJSON(nil, it))
}

// mirror is a replicator that keeps beside the tables what it is told: of each row of a table that sends the sequence of
// its record and its image.
type mirror struct{}

func mirrorKey(table string, raw []byte) []byte { return append([]byte(table+"\x00"), raw...) }

func (mirror) Compile(tx *store.Tx, writes []store.Write) error {
	side := tx.Side("mirror")
	for _, w := range writes {
		key := mirrorKey(w.Spec.Name, w.RawKey)
		switch {
		case w.Seq == 0 || !w.Sends:
			continue
		case w.New == nil:
			if err := side.Delete(key); err != nil {
				return err
			}
		default:
			if err := side.Set(key, append(binary.BigEndian.AppendUint64(nil, w.Seq), w.New...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (mirror) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	raw, err := tx.RawKey(spec.Name, key)
	if err != nil {
		return false, err
	}
	return true, tx.Side("mirror").Delete(mirrorKey(spec.Name, raw))
}

// checkMirror compares the rows of a table with what a mirror has kept of them, both ways.
func checkMirror(t testing.TB, s *store.Store, table string) {
	t.Helper()
	view(t, s, func(tx *store.Tx) error {
		tx.ShowExpired()
		var rows, kept []string
		for start, more := attr.Item(nil), true; more; more = start != nil {
			p, err := tx.Scan(store.Scan{Table: table, StartKey: start})
			if err != nil {
				return err
			}
			for _, it := range p.Items {
				rows = append(rows, show(it))
			}
			start = p.LastKey
		}
		err := tx.Side("mirror").Each(mirrorKey(table, nil), nil, func(_, v []byte) (bool, error) {
			it, err := attr.Encoded(v[8:]).Decode()
			kept = append(kept, show(it))
			return true, err
		})
		if !slices.Equal(rows, kept) {
			t.Errorf("table %s: %d rows, %d beside it, or other ones:\n%.2000s\n%.2000s", table, len(rows), len(kept), rows, kept)
		}
		return err
	})
}
