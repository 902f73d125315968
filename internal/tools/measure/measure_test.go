package measure_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/tools/measure"
)

func TestTableHoldsFiguresAgainstTargets(t *testing.T) {
	table := measure.Table{
		Targets: []measure.Target{
			measure.AtLeast("a/rate", "puts", "the other", 2), measure.AtMost("a/time", "start", "", 50),
			measure.AtLeast("b/left-out", "gets", "the other", 1), measure.AtLeast("a/peer", "batch", "the best", 1),
			measure.AtLeast("a/none", "transactions", "the other", 1),
			measure.AtMost("a/memory", "memory", "", 64), measure.AtMost("a/cpu", "processor time", "the other", 1),
		},
		Select: regexp.MustCompile("^a/"),
	}
	table.Missing("a/none", "it has none")
	table.AloneMB("a/memory", 60, 0)
	table.Compare("a/cpu", measure.Exactly(0, "us"), measure.Exactly(0, "us"))
	table.CompareWith("a/peer", "that one", measure.Exactly(3, "/s"), measure.Exactly(4, "/s"))
	table.Compare("b/left-out", measure.Exactly(3, "/s"), measure.Exactly(1, "/s"))
	table.Alone("a/time", measure.FigureOf([]float64{60, 20, 40}, "ms"))
	table.Compare("a/rate", measure.Exactly(400, "/s"), measure.Exactly(100, "/s"))
	var out bytes.Buffer
	if err := (measure.Report{Rows: table.Rows()}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Split(out.String(), "\n")[3:]
	for i, want := range []string{
		`^a/rate +puts +400 /s +the other +100 /s +4.00 +>= 2 +met$`,
		`^a/time +start +40.0 ms \(20.0..60.0\) +- +- +<= 50 ms +met$`,
		`^a/peer +batch +3.00 /s +the best: that one +4.00 /s +0.75 +>= 1 +MISSED$`,
		`^a/none +transactions +- +the other +- +- +>= 1 +not measured: it has none$`,
		`^a/memory +memory +- +- +- +<= 64 +not measured: the system does not report it$`,
		`^a/cpu +processor time +- +the other +- +- +<= 1 +not measured: the system does not report it$`,
		`^2 of 3 measured rows meet their target$`,
	} {
		if !regexp.MustCompile(want).MatchString(text[i]) {
			t.Errorf("line %d: %s\nwant %s", i, text[i], want)
		}
	}
}

func TestInterleaveTurnsTheOrderAround(t *testing.T) {
	var order []string
	side := func(name string) measure.Side {
		return measure.Side{Run: func() (int, error) { order = append(order, name); return 1, nil }}
	}
	got, err := measure.Interleave(t.Context(), 2, side("a"), side("b"))
	if err != nil || !slices.Equal(order, []string{"a", "b", "b", "a", "a", "b"}) {
		t.Errorf("ran %v, %v", order, err)
	}
	if len(got) != 2 || len(got[0].Wall) != 2 || len(got[1].CPU) != 2 {
		t.Errorf("the first round counts, or another does not: %v", got)
	}
	broken := errors.New("broken")
	_, err = measure.Interleave(t.Context(), 2, side("a"), measure.Side{Run: func() (int, error) { return 0, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("a side that fails: %v", err)
	}
}
