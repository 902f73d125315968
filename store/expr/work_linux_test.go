package expr_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/store/expr"
)

// BenchmarkWork shows the processor time of a unit of each kind of work: about a nanosecond at most.
func BenchmarkWork(b *testing.B) {
	for name, c := range costly {
		doc := attr.Encoded(attr.Encode(nil, c.item))
		cond := costlyCondition(b, name)
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			units := 0
			began := processTime(b)
			for b.Loop() {
				w := expr.NewWork(64<<20, nil)
				_, _ = cond.MatchWithin(doc, w)
				units += w.UnitsSpent()
			}
			b.ReportMetric(float64((processTime(b)-began).Nanoseconds())/float64(units), "cpu-ns/unit")
		})
	}
}

func processTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
