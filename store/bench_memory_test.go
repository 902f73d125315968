package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/store"
)

// BenchmarkMemory compares a lone put in a store in memory with one in a file that is not synced, in time and in time of
// the processor: they do the same but for the file system.
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
			put(b, s, "balls", ball(string(rune('a'+match)), n, "text", "short"))
		}
		*cpu += cpuTime() - used
		n++
	}
	times := interleave(b, 1, func() { some(memory, &cpu[0]) }, func() { some(other, &cpu[1]) })
	b.ReportMetric(float64(times[0].Nanoseconds())/1e5, "put-us")
	b.ReportMetric(ratio(times[0], times[1]), "put/file")
	b.ReportMetric(ratio(cpu[0], cpu[1]), "cpu/file")
}
