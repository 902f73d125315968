package store_test

import (
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
	"github.com/touchline/touchline/store/storetest"
)

func str(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyString} }
func num(name string) store.KeyAttr { return store.KeyAttr{Name: name, Type: store.KeyNumber} }

// balls is a table with a number to sort by, an index without a sort key, and a sparse one.
var balls = store.TableSpec{
	Name: "balls",
	Key:  store.KeySpec{Partition: str("match"), Sort: num("ball")},
	Indexes: []store.IndexSpec{
		{Name: "bowler-index", Key: store.KeySpec{Partition: str("bowler")}},
		{Name: "wicket-index", Key: store.KeySpec{Partition: str("wicket"), Sort: num("runs")}, Projection: store.ProjectKeysOnly},
	},
	TTL: "ttl",
}

func ball(match string, n int64, more ...any) attr.Item {
	it := attr.Item{"match": attr.S(match), "ball": attr.Int(n)}
	for i := 0; i < len(more); i += 2 {
		switch v := more[i+1].(type) {
		case string:
			it[more[i].(string)] = attr.S(v)
		case int:
			it[more[i].(string)] = attr.Int(int64(v))
		}
	}
	return it
}

func TestPutGetQuery(t *testing.T) {
	s := storetest.Open(t, balls)
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		for n := range int64(20) {
			if _, err := tx.Put(store.PutItem{Table: "balls", Item: ball("final", n, "bowler", "archer", "runs", 4)}); err != nil {
				return err
			}
		}
		_, err := tx.Update(store.UpdateItem{
			Table: "balls", Key: ball("final", 3), Update: "SET wicket = :w",
			Params: expr.Params{Values: attr.Item{":w": attr.S("bowled")}},
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx *store.Tx) error {
		it, err := tx.Get("balls", ball("final", 3))
		if err != nil || it["wicket"].Str() != "bowled" || it["bowler"].Str() != "archer" {
			t.Errorf("got %v, %v", it, err)
		}
		p, err := tx.Query(store.Query{
			Table: "balls", KeyCondition: "#m = :m AND ball BETWEEN :a AND :b", Descending: true,
			Params: expr.Params{
				Names:  map[string]string{"#m": "match"},
				Values: attr.Item{":m": attr.S("final"), ":a": attr.Int(5), ":b": attr.Int(8)},
			},
		})
		if err != nil || len(p.Items) != 4 || p.Items[0]["ball"].Str() != "8" {
			t.Errorf("got %v, %v", p, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
