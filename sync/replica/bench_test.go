package replica_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/testrig/simcloud"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// BenchmarkDrain sends queued writes of 500 bytes, each on its own item, from a store on disk to a cloud that answers at once: it measures
// the node's own work.
func BenchmarkDrain(b *testing.B) {
	c := simcloud.New(simcloud.Options{Forget: true})
	c.Create(cloudTables()...)
	s, err := store.Open(filepath.Join(b.TempDir(), "store.db"), store.Options{Node: "a"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Define(b.Context(), specs()...); err != nil {
		b.Fatal(err)
	}
	n := nodeOn(b, s, c)
	fill(n, b.N)
	commits := s.Stats().Commits
	b.ResetTimer()
	n.run()
	n.drained()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(s.Stats().Commits-commits)/float64(b.N), "commits/entry")
	n.stop()
}

func fill(n *node, count int) {
	text := strings.Repeat("x", 450)
	for done := 0; done < count; {
		n.update(func(tx *store.Tx) error {
			for range 500 {
				if done == count {
					return nil
				}
				it := Item(fmt.Sprint("p", done), "s", "n", done, "text", text)
				if _, err := tx.Put(store.PutItem{Table: "data", Item: it, NoOld: true}); err != nil {
					return err
				}
				done++
			}
			return nil
		})
	}
}

// BenchmarkCompile is a put of 500 bytes with the hook and without, a hundred in a transaction.
func BenchmarkCompile(b *testing.B) {
	for _, hooked := range []bool{false, true} {
		b.Run(fmt.Sprintf("hook=%v", hooked), func(b *testing.B) {
			s, err := store.OpenMemory(store.Options{Node: "a"})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			if err := s.Define(b.Context(), specs()...); err != nil {
				b.Fatal(err)
			}
			if hooked {
				nodeOn(b, s, newCloud())
			}
			text := attr.S(strings.Repeat("x", 450))
			b.ReportAllocs()
			for i := 0; b.Loop(); i += 100 {
				err := s.Update(context.Background(), func(tx *store.Tx) error {
					for j := range 100 {
						it := attr.Item{"pk": attr.S(fmt.Sprint("p", (i+j)%50000)), "sk": attr.S(fmt.Sprint(i + j)), "text": text}
						if _, err := tx.Put(store.PutItem{Table: "data", Item: it, NoOld: true}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/put")
		})
	}
}
