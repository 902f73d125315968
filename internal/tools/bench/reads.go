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
	keys, encoded, err := keysOf(b.size.small)
	if err != nil {
		return err
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
				seen += len(tx.Bucket([]byte(rawTable)).Get(encoded[rand.IntN(len(encoded))]))
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

// keysOf returns the keys of all items, as in requests and encoded.
func keysOf(items int) (keys []attr.Item, encoded [][]byte, err error) {
	for n := range items {
		key := measure.KeyOf(n)
		e, err := encodeKey(key, "match", "ball")
		if err != nil {
			return nil, nil, err
		}
		keys, encoded = append(keys, key), append(encoded, e)
	}
	return keys, encoded, nil
}

// measureQuery measures queries of partitions and filtered scans, compared with a cursor that does the minimum.
func measureQuery(ctx context.Context, b *bench) error {
	s, r, done, err := b.openBoth(ctx)
	if err != nil {
		return err
	}
	defer done()
	buf := make([]byte, 0, 256<<10)
	query := func() error {
		return s.View(ctx, func(tx *store.Tx) error {
			out, err := queryJSON(tx, rand.IntN(b.size.small)/measure.PerMatch, 0, measure.PerMatch, buf[:0])
			if err == nil && len(out) < measure.PerMatch*500 {
				err = errors.New("items are missing")
			}
			return err
		})
	}
	cursor := func() error {
		start, err := encodeKey(measure.KeyOf(rand.IntN(b.size.small)/measure.PerMatch*measure.PerMatch), "match", "ball")
		if err != nil {
			return err
		}
		return r.walk(start, measure.PerMatch, func(v []byte) (err error) {
			buf, err = attr.Encoded(v[rowHeader:]).AppendJSON(buf[:0])
			return err
		})
	}
	count := 0
	got, err := b.compareCalls(ctx, query, cursor,
		func() error { return scanAll(ctx, s, b.size.small) },
		func() error { return r.walk(nil, b.size.small, func(v []byte) error { count += len(v); return nil }) })
	if err != nil {
		return err
	}
	b.Beside("query/100", measure.Scaled(got[0].Wall, 1e6/measure.PerMatch, "us"), measure.Scaled(got[1].Wall, 1e6/measure.PerMatch, "us"))
	each := 1 / float64(b.size.small)
	b.Beside("query/scan", measure.Rate(scaledAll(got[2].Wall, each)), measure.Rate(scaledAll(got[3].Wall, each)))
	return nil
}

func scaledAll(values []float64, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v * by
	}
	return out
}

// walk calls fn with count rows from a key on.
func (r *raw) walk(start []byte, count int, fn func(row []byte) error) error {
	return r.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(rawTable)).Cursor()
		k, v := c.Seek(start)
		for range count {
			if k == nil {
				return errors.New("items are missing")
			}
			if err := fn(v); err != nil {
				return err
			}
			k, v = c.Next()
		}
		return nil
	})
}

// queryJSON appends the JSON of the items of a partition in a range of balls.
func queryJSON(tx *store.Tx, match, from, to int, dst []byte) ([]byte, error) {
	dst = append(dst, `{"Items":[`...)
	items := 0
	_, err := tx.QueryEncoded(store.Query{
		Table: measure.TableName, KeyCondition: "#m = :m AND ball BETWEEN :a AND :b",
		Params: expr.Params{
			Names: map[string]string{"#m": "match"},
			Values: attr.Item{
				":m": attr.S(measure.MatchOf(match * measure.PerMatch)), ":a": attr.Int(int64(from)), ":b": attr.Int(int64(to - 1)),
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
