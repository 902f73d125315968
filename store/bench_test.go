package store_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/store/storetest"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// The benchmarks print ratios to something measured in the same run, because the figures of a machine drift by a factor of up to two
// within hours. Times are medians of interleaved slices.

const (
	benchItems = 10_000
	benchSlice = 20
)

// benchItem has about 1 KB in 13 attributes.
func benchItem(n int) attr.Item {
	it := storetest.Ball("final", n, "bowler", fmt.Sprintf("bowler-%d", n%11), "runs", n%7, "version", rand.IntN(1<<20))
	for i := range 8 {
		it[fmt.Sprintf("attribute-%d", i)] = attr.S(strings.Repeat("x", 100))
	}
	return it
}

func benchTable(indexes int) store.TableSpec {
	t := store.TableSpec{Name: "balls", Key: store.KeySpec{Partition: storetest.Str("match"), Sort: storetest.Num("ball")}}
	for i := range indexes {
		t.Indexes = append(t.Indexes, store.IndexSpec{
			Name: fmt.Sprintf("index-%d", i), Key: store.KeySpec{Partition: storetest.Str("bowler"), Sort: storetest.Num("version")},
		})
	}
	return t
}

func benchStore(b *testing.B, indexes int) *store.Store {
	b.Helper()
	s, err := store.Open(filepath.Join(b.TempDir(), "s.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Define(b.Context(), benchTable(indexes)); err != nil {
		b.Fatal(err)
	}
	for start := 0; start < benchItems; start += 500 {
		items := make([]attr.Item, 500)
		for i := range items {
			items[i] = benchItem(start + i)
		}
		storetest.Put(b, s, "balls", items...)
	}
	return s
}

// benchPut replaces one of the items.
func benchPut(b *testing.B, s *store.Store) {
	it := benchItem(rand.IntN(benchItems))
	err := s.Update(b.Context(), func(tx *store.Tx) error {
		_, err := tx.Put(store.PutItem{Table: "balls", Item: it, NoOld: true})
		return err
	})
	if err != nil {
		b.Error(err)
	}
}

// rawStore is bbolt with the changes of a put and nothing else: the item, the journal record with an image, and the position of the
// journal.
type rawStore struct {
	db  *bolt.DB
	seq uint64
}

func newRawStore(b *testing.B) *rawStore {
	b.Helper()
	db, err := bolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, &bolt.Options{
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType, InitialMmapSize: 1 << 30, NoStatistics: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	r := &rawStore{db: db}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range []string{"meta", "items", "journal"} {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	for start := 0; start < benchItems && err == nil; start += 500 {
		err = db.Update(func(tx *bolt.Tx) error { return r.put(tx, start, start+500) })
	}
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *rawStore) put(tx *bolt.Tx, from, to int) error {
	items, journal, meta := tx.Bucket([]byte("items")), tx.Bucket([]byte("journal")), tx.Bucket([]byte("meta"))
	journal.FillPercent = 0.9
	for n := from; n < to; n++ {
		r.seq++
		v := rawValue(n)
		if err := items.Put(rawKey(n), v); err != nil {
			return err
		}
		if err := journal.Put(binary.BigEndian.AppendUint64(nil, r.seq), v); err != nil {
			return err
		}
	}
	return meta.Put([]byte("journal"), binary.BigEndian.AppendUint64(nil, r.seq))
}

func rawKey(n int) []byte { return binary.BigEndian.AppendUint64([]byte("final\x00\x01"), uint64(n)) }

func rawValue(n int) []byte { return attr.Encode(nil, benchItem(n)) }

// fdatasync returns the minimum of a durable write: one page, overwritten and synced.
func fdatasync(b *testing.B) func() {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "page"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	page := make([]byte, 4096)
	return func() {
		if _, err := f.WriteAt(page, 0); err != nil {
			b.Fatal(err)
		}
		if err := syncData(f); err != nil {
			b.Fatal(err)
		}
	}
}

// interleave runs slices of each function in turn and returns the median time of one call for each.
func interleave(b *testing.B, slice int, fns ...func()) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(fns))
	for b.Loop() {
		for i, fn := range fns {
			start := time.Now()
			for range slice {
				fn()
			}
			times[i] = append(times[i], time.Since(start)/time.Duration(slice))
		}
	}
	out := make([]time.Duration, len(fns))
	for i := range times {
		out[i] = median(times[i])
	}
	return out
}

func BenchmarkLonePut(b *testing.B) {
	s, raw, sync := benchStore(b, 0), newRawStore(b), fdatasync(b)
	times := interleave(b, benchSlice,
		func() { benchPut(b, s) },
		func() {
			n := rand.IntN(benchItems)
			if err := raw.db.Update(func(tx *bolt.Tx) error { return raw.put(tx, n, n+1) }); err != nil {
				b.Fatal(err)
			}
		},
		sync)
	b.ReportMetric(float64(times[0].Microseconds()), "put-us")
	b.ReportMetric(ratio(times[0], times[1]), "put/raw")
	b.ReportMetric(ratio(times[0], times[2]), "put/fdatasync")
}

func BenchmarkGet(b *testing.B) {
	s, raw := benchStore(b, 0), newRawStore(b)
	var sink int
	times := interleave(b, 500,
		func() { sink += len(storetest.Get(b, s, "balls", storetest.Ball("final", rand.IntN(benchItems)))) },
		func() {
			_ = raw.db.View(func(tx *bolt.Tx) error {
				sink += len(tx.Bucket([]byte("items")).Get(rawKey(rand.IntN(benchItems))))
				return nil
			})
		},
		func() {
			_ = raw.db.View(func(tx *bolt.Tx) error {
				it, err := attr.Encoded(tx.Bucket([]byte("items")).Get(rawKey(rand.IntN(benchItems)))).Decode()
				sink += len(it)
				return err
			})
		})
	b.ReportMetric(float64(times[0].Nanoseconds()), "get-ns")
	b.ReportMetric(ratio(times[0], times[1]), "get/raw")
	b.ReportMetric(ratio(times[0], times[2]), "get/raw+decode")
}

// BenchmarkWriters runs 1, 16, 64 and 256 writers in turns, and reports the gain of more writers and how many share a commit.
func BenchmarkWriters(b *testing.B) {
	for _, indexes := range []int{0, 1, 3} {
		b.Run(fmt.Sprintf("%d-indexes", indexes), func(b *testing.B) {
			s := benchStore(b, indexes)
			counts := []int{1, 16, 64, 256}
			rates := map[int][]time.Duration{}
			shared := map[int]float64{}
			for b.Loop() {
				for _, n := range counts {
					before := s.Stats()
					rates[n] = append(rates[n], crowd(b, s, n, max(400, 40*n)))
					after := s.Stats()
					shared[n] = float64(after.Members-before.Members) / float64(after.Commits-before.Commits)
				}
			}
			one := median(rates[1])
			for _, n := range counts {
				m := median(rates[n])
				b.ReportMetric(float64(time.Second/m), fmt.Sprintf("puts/s-%d", n))
				b.ReportMetric(ratio(one, m), fmt.Sprintf("x-%d", n))
				b.ReportMetric(shared[n]/float64(n), fmt.Sprintf("shared-%d", n))
			}
		})
	}
}

// crowd runs writers that put items until there are total, and returns the time per item.
func crowd(b *testing.B, s *store.Store, writers, total int) time.Duration {
	var left atomic.Int64
	left.Store(int64(total))
	var wg sync.WaitGroup
	start := time.Now()
	for range writers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				benchPut(b, s)
			}
		})
	}
	wg.Wait()
	return time.Since(start) / time.Duration(total)
}

// BenchmarkBatch compares 64 writers with one loop that puts 64 items in each transaction of bbolt.
func BenchmarkBatch(b *testing.B) {
	s, raw := benchStore(b, 0), newRawStore(b)
	const rounds = 16
	var ours, theirs, ourCPU, theirCPU []time.Duration
	measure := func(wall, cpu *[]time.Duration, fn func()) {
		start, used := time.Now(), cpuTime()
		fn()
		*wall, *cpu = append(*wall, time.Since(start)/(64*rounds)), append(*cpu, (cpuTime()-used)/(64*rounds))
	}
	for b.Loop() {
		measure(&ours, &ourCPU, func() { crowd(b, s, 64, 64*rounds) })
		measure(&theirs, &theirCPU, func() {
			for range rounds {
				raw.putMany(b, 64)
			}
		})
	}
	b.ReportMetric(float64(median(ours).Nanoseconds()), "put-ns")
	b.ReportMetric(ratio(median(theirs), median(ours)), "throughput/raw")
	b.ReportMetric(float64(median(ourCPU).Nanoseconds()), "cpu-ns")
	b.ReportMetric(ratio(median(ourCPU), median(theirCPU)), "cpu/raw")
}

func (r *rawStore) putMany(b *testing.B, count int) {
	err := r.db.Update(func(tx *bolt.Tx) error {
		for range count {
			n := rand.IntN(benchItems)
			if err := r.put(tx, n, n+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkQuery100(b *testing.B) {
	s := benchStore(b, 0)
	times := interleave(b, 10, func() {
		low := rand.IntN(benchItems - 100)
		_ = s.View(b.Context(), func(tx *store.Tx) error {
			p, err := tx.Query(store.Query{
				Table: "balls", KeyCondition: "#m = :m AND ball BETWEEN :a AND :b",
				Params: withName(storetest.Values(":m", "final", ":a", low, ":b", low+99), "#m", "match"),
			})
			if len(p.Items) != 100 {
				b.Errorf("%d items, %v", len(p.Items), err)
			}
			return err
		})
	})
	b.ReportMetric(float64(times[0].Nanoseconds())/100, "ns/item")
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// BenchmarkMemory compares a lone put in a store in memory with one in an unsynced file, in real time and processor time: they only
// differ in the file system.
func BenchmarkMemory(b *testing.B) {
	file := func(o store.Options) (*store.Store, error) {
		o.NoSync = true
		return store.Open(filepath.Join(b.TempDir(), "s.db"), o)
	}
	memory, other := openMemory(b, store.OpenMemory, store.Options{}, benchTable(0)), openMemory(b, file, store.Options{}, benchTable(0))
	n := 0
	var cpu [2]time.Duration
	some := func(s *store.Store, cpu *time.Duration) {
		used := cpuTime()
		for match := range 100 {
			storetest.Put(b, s, "balls", storetest.Ball(string(rune('a'+match)), n, "text", "short"))
		}
		*cpu += cpuTime() - used
		n++
	}
	times := interleave(b, 1, func() { some(memory, &cpu[0]) }, func() { some(other, &cpu[1]) })
	b.ReportMetric(float64(times[0].Nanoseconds())/1e5, "put-us")
	b.ReportMetric(ratio(times[0], times[1]), "put/file")
	b.ReportMetric(ratio(cpu[0], cpu[1]), "cpu/file")
}

func BenchmarkCount(b *testing.B) {
	s := storetest.Open(b, storetest.Balls())
	fillBalls(b, s, 1000)
	size := attr.Size(storetest.Ball("final", 1, "runs", 1))
	for b.Loop() {
		if c, err := s.Count(b.Context(), "balls"); err != nil || c.Bytes < int64(1000*size/2) {
			b.Fatal(c, err)
		}
	}
}
