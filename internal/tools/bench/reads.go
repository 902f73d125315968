package main

import (
	"context"
	"errors"
	"math/rand/v2"

	bolt "go.etcd.io/bbolt" //nolint:depguard // the floor is bbolt itself

	"github.com/touchline/touchline/internal/tools/measure"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// getJSON appends the DynamoDB JSON of an item.
func getJSON(tx *store.Tx, key attr.Item, dst []byte) (out []byte, err error) {
	err = tx.GetEncoded(measure.TableName, key, func(e attr.Encoded) (err error) {
		out, err = e.AppendJSON(dst)
		return err
	})
	if err == nil && out == nil {
		err = errors.New("an item is missing")
	}
	return out, err
}

// measureGet compares Get with bbolt's.
func measureGet(ctx context.Context, b *bench) error {
	s, r, done, err := b.openBoth(ctx)
	if err != nil {
		return err
	}
	defer done()
	keys := make([]attr.Item, b.size.small)
	for n := range keys {
		keys[n] = measure.KeyOf(n)
	}
	var seen, asked int
	buf := make([]byte, 0, 4096)
	got, err := b.compareCalls(ctx,
		func() error {
			return s.View(ctx, func(tx *store.Tx) error {
				asked++
				return tx.GetEncoded(measure.TableName, keys[rand.IntN(len(keys))], func(e attr.Encoded) error {
					seen += len(e)
					return nil
				})
			})
		},
		func() error {
			return s.View(ctx, func(tx *store.Tx) error {
				asked++
				out, err := getJSON(tx, keys[rand.IntN(len(keys))], buf[:0])
				seen += len(out)
				return err
			})
		},
		func() error {
			return r.db.View(func(tx *bolt.Tx) error {
				asked++
				seen += len(tx.Bucket([]byte(rawTable)).Get(r.anyKey()))
				return nil
			})
		})
	if err != nil {
		return err
	}
	if seen < 500*asked {
		return errors.New("items are missing")
	}
	b.Compare("get/raw", measure.Nanos(got[0].Wall), measure.Nanos(got[2].Wall))
	b.Compare("get/json", measure.Nanos(got[1].Wall), measure.Nanos(got[2].Wall))
	return nil
}

// measureQuery measures queries of partitions and filtered scans.
func measureQuery(ctx context.Context, b *bench) error {
	s, err := openOurs(ctx, b.file("store.db"), b.size.small, 0)
	if err != nil {
		return err
	}
	defer measure.Shut(s)
	buf := make([]byte, 0, 256<<10)
	got, err := b.compareCalls(ctx,
		func() error {
			return s.View(ctx, func(tx *store.Tx) error {
				out, err := queryJSON(tx, rand.IntN(b.size.small), buf[:0])
				if err == nil && len(out) < measure.PerMatch*500 {
					err = errors.New("items are missing")
				}
				return err
			})
		},
		func() error { return scanAll(ctx, s, b.size.small) })
	if err != nil {
		return err
	}
	b.Alone("query/100", measure.Scaled(got[0].Wall, 1e6/measure.PerMatch, "us"))
	for i := range got[1].Wall {
		got[1].Wall[i] /= float64(b.size.small)
	}
	b.Alone("query/scan", measure.Rate(got[1].Wall))
	return nil
}

// queryJSON appends the JSON of all items in the partition of the n-th one.
func queryJSON(tx *store.Tx, n int, dst []byte) ([]byte, error) {
	dst = append(dst, `{"Items":[`...)
	items := 0
	_, err := tx.QueryEncoded(store.Query{
		Table: measure.TableName, KeyCondition: "#m = :m AND ball BETWEEN :a AND :b",
		Params: expr.Params{
			Names: map[string]string{"#m": "match"},
			Values: attr.Item{
				":m": attr.S(measure.MatchOf(n)), ":a": attr.Int(0), ":b": attr.Int(measure.PerMatch - 1),
			},
		},
	}, func(e attr.Encoded) (err error) {
		if items++; items > 1 {
			dst = append(dst, ',')
		}
		dst, err = e.AppendJSON(dst)
		return err
	})
	return append(dst, `]}`...), err
}

// scanAll reads the whole table, page by page, with a filter that no item passes.
func scanAll(ctx context.Context, s *ours, items int) error {
	scanned := 0
	err := s.View(ctx, func(tx *store.Tx) error {
		q := store.Scan{
			Table: measure.TableName, Filter: "runs > :n", Params: expr.Params{Values: attr.Item{":n": attr.Int(100)}},
		}
		for {
			page, err := tx.ScanEncoded(q, func(attr.Encoded) error { return nil })
			if err != nil {
				return err
			}
			scanned += page.Scanned
			if q.StartKey = page.LastKey; q.StartKey == nil {
				return nil
			}
		}
	})
	if err == nil && scanned != items {
		err = errors.New("items are missing")
	}
	return err
}
