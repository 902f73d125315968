package inject

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/testrig/corpus"
)

func injector(t testing.TB, rules ...Rule) *Injector {
	t.Helper()
	in := new(Injector)
	err := in.Set(Rules{Seed: 7, Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestExampleFile(t *testing.T) {
	rules, err := Load("testdata/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in := new(Injector)
	err = in.Set(rules)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []Kind
	for _, s := range in.Status() {
		kinds = append(kinds, s.Kind)
	}
	if !slices.Equal(kinds, Kinds()) {
		t.Errorf("the example shows %v, not each of %v", kinds, Kinds())
	}
	same, err := Load("testdata/rules.json")
	if err != nil || !reflect.DeepEqual(rules, same) {
		t.Errorf("%v: %+v\n%+v", err, rules, same)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		rule      Rule
		operation string
		want      Fault
	}{
		{Rule{Kind: Throttle}, "PutItem", Fault{Refusal: throttle("ProvisionedThroughputExceededException")}},
		{Rule{Kind: Throttle, Error: "ThrottlingException"}, "ListTables", Fault{Refusal: &Refusal{400, "com.amazon.coral.availability#ThrottlingException",
			throttles["ThrottlingException"].Message}}},
		{Rule{Kind: Throttle, Error: "RequestLimitExceeded"}, "Scan", Fault{Refusal: throttle("RequestLimitExceeded")}},
		{Rule{Kind: Error500}, "Query", Fault{Refusal: &Refusal{500, "com.amazonaws.dynamodb.v20120810#InternalServerError", "Internal server error"}}},
		{Rule{Kind: TransactionConflict}, "UpdateItem", Fault{Refusal: &Refusal{400,
			"com.amazonaws.dynamodb.v20120810#TransactionConflictException", "Transaction is ongoing for the item"}}},
		{Rule{Kind: TransactionConflict}, "GetItem", Fault{}},
		{Rule{Kind: Unprocessed}, "Query", Fault{}},
		{Rule{Kind: StaleIndex, Delay: time.Second}, "Query", Fault{IndexDelay: time.Second}},
		{Rule{Kind: StaleIndex, Delay: time.Second}, "GetItem", Fault{}},
		{Rule{Kind: Latency, Latency: time.Second}, "DescribeTable", Fault{Wait: time.Second}},
		{Rule{Kind: DropRequest}, "CreateTable", Fault{DropRequest: true}},
		{Rule{Kind: DropAnswer}, "CreateTable", Fault{DropAnswer: true}},
	}
	for _, test := range tests {
		got := injector(t, test.rule).Decide(test.operation, []string{"A"})
		if (got.Rules != nil) != !reflect.DeepEqual(test.want, Fault{}) || got.Rules != nil && got.Rules[0] != "rule 1" {
			t.Errorf("%+v: of %v", test.rule, got.Rules)
		}
		if got.Rules = nil; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%+v: %+v", test.rule, got)
		}
	}
	for _, operation := range []string{"TransactWriteItems", "TransactGetItems", "ExecuteTransaction"} {
		f := injector(t, Rule{Kind: TransactionConflict}).Decide(operation, nil)
		if f.Refusal != nil || f.Conflict == nil || count(f.Conflict.ChooseOf(25)) != 1 || count(f.Conflict.ChooseOf(1)) != 1 {
			t.Errorf("%s: %+v", operation, f)
		}
	}
	for share, want := range map[float64]int{0: 5, 0.01: 1, 0.5: 5, 0.51: 6, 1: 10} {
		f := injector(t, Rule{Kind: Unprocessed, Share: share}).Decide("BatchWriteItem", nil)
		if got := f.Unprocessed.ChooseOf(10); count(got) != want || !slices.Equal(got, f.Unprocessed.ChooseOf(10)) || len(f.Unprocessed.ChooseOf(0)) != 0 {
			t.Errorf("%v of 10: %v", share, got)
		}
	}
}

func count(chosen []bool) (n int) {
	for _, c := range chosen {
		if c {
			n++
		}
	}
	return n
}

func TestWhichRequests(t *testing.T) {
	tests := []struct {
		rule      Rule
		operation string
		tables    string
		want      bool
	}{
		{Rule{}, "PutItem", "A", true},
		{Rule{}, "ListTables", "", true},
		{Rule{Tables: []string{"*"}}, "ListTables", "", false},
		{Rule{Tables: []string{"A*", "B"}}, "PutItem", "A1", true},
		{Rule{Tables: []string{"A*", "B"}}, "PutItem", "B1", false},
		{Rule{Tables: []string{"B"}}, "BatchGetItem", "A B", true},
		{Rule{Operations: []string{"Batch*", "PutItem"}}, "BatchWriteItem", "A", true},
		{Rule{Operations: []string{"Batch*", "PutItem"}}, "GetItem", "A", false},
		{Rule{Operations: []string{"PutItem"}, Tables: []string{"A"}}, "PutItem", "B", false},
	}
	for _, test := range tests {
		test.rule.Kind = DropRequest
		if got := injector(t, test.rule).Decide(test.operation, strings.Fields(test.tables)); got.DropRequest != test.want {
			t.Errorf("%+v", test)
		}
	}
}

// hits returns the numbers, from 1, of the requests that meet a fault.
func hits(in *Injector, n int) (out []int) {
	for i := range n {
		if in.Decide("PutItem", []string{"A"}).Rules != nil {
			out = append(out, i+1)
		}
	}
	return out
}

func TestHowOften(t *testing.T) {
	if got := hits(injector(t, Rule{Kind: Throttle, Every: 3}), 10); !slices.Equal(got, []int{3, 6, 9}) {
		t.Errorf("every third: %v", got)
	}
	if got := hits(injector(t, Rule{Kind: Throttle, Every: 3, Count: 2}), 20); !slices.Equal(got, []int{3, 6}) {
		t.Errorf("two of them: %v", got)
	}
	if got := hits(injector(t, Rule{Kind: Throttle, Count: 2}), 5); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the first two: %v", got)
	}
	if got := len(hits(injector(t, Rule{Kind: Throttle, Probability: 0.1}), 10_000)); got < 850 || got > 1150 {
		t.Errorf("one of ten: %d of 10,000", got)
	}
	if got := len(hits(injector(t, Rule{Kind: Throttle, Probability: 1}), 100)); got != 100 {
		t.Errorf("all: %d of 100", got)
	}
}

// Several rules apply until one ends the request; later ones do not see it.
func TestSeveralRules(t *testing.T) {
	in := injector(t,
		Rule{Kind: Latency, Latency: time.Second, LatencyMax: 2 * time.Second},
		Rule{Kind: Latency, Latency: time.Minute},
		Rule{Kind: DropAnswer, Count: 1},
		Rule{Kind: Throttle, Every: 2},
		Rule{Kind: Error500})
	first, second := in.Decide("PutItem", nil), in.Decide("PutItem", nil)
	if !slices.Equal(first.Rules, []string{"rule 1", "rule 2", "rule 3", "rule 5"}) || !first.DropAnswer || first.Refusal.Status != 500 ||
		first.Wait < 61*time.Second || first.Wait > 62*time.Second {
		t.Errorf("%+v", first)
	}
	if !slices.Equal(second.Rules, []string{"rule 1", "rule 2", "rule 4"}) || second.DropAnswer || second.Refusal.Status != 400 {
		t.Errorf("%+v", second)
	}
	want := []Status{{"rule 1", Latency, 2, 2}, {"rule 2", Latency, 2, 2}, {"rule 3", DropAnswer, 1, 1}, {"rule 4", Throttle, 2, 1}, {"rule 5", Error500, 1, 1}}
	if got := in.Status(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if err := in.Set(Rules{Rules: []Rule{{Kind: Throttle}}}); err != nil {
		t.Fatal(err)
	}
	in.Decide("PutItem", nil)
	if got := in.Status(); !slices.Equal(got, []Status{{"rule 1", Throttle, 1, 1}}) {
		t.Errorf("after Set: %v", got)
	}
}

func TestNone(t *testing.T) {
	var none *Injector
	if f := none.Decide("PutItem", []string{"A"}); f.Rules != nil || none.Status() != nil {
		t.Errorf("%+v", f)
	}
	empty := injector(t)
	tables := []string{"A"}
	for _, in := range []*Injector{none, empty} {
		if n := testing.AllocsPerRun(100, func() { in.Decide("PutItem", tables) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// The same seed and requests give the same faults, whatever other rules there are, unless they end a request.
func TestDeterminism(t *testing.T) {
	operations := []string{"PutItem", "GetItem", "BatchWriteItem", "TransactWriteItems", "Query"}
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{
			Kind:        rapid.SampledFrom(Kinds()).Draw(t, "kind"),
			Probability: rapid.Float64Range(0.1, 1).Draw(t, "probability"),
		}
		switch rule.Kind {
		case Latency:
			rule.Latency, rule.LatencyMax = time.Second, time.Minute
		case StaleIndex:
			rule.Delay = time.Second
		}
		seed := rapid.Uint64().Draw(t, "seed")
		requests := rapid.SliceOfN(rapid.SampledFrom(operations), 1, 50).Draw(t, "requests")
		run := func(rules ...Rule) (out []string) {
			in := new(Injector)
			err := in.Set(Rules{Seed: seed, Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			for _, operation := range requests {
				f := in.Decide(operation, nil)
				text := fmt.Sprint(f.Refusal, f.DropRequest, f.DropAnswer, f.IndexDelay, f.Wait)
				for _, c := range []*Choice{f.Conflict, f.Unprocessed} {
					if c != nil {
						text += fmt.Sprint(c.ChooseOf(9))
					}
				}
				out = append(out, text)
			}
			return out
		}
		alone := run(rule)
		if again := run(rule); !slices.Equal(alone, again) {
			t.Fatalf("%v\n%v", alone, again)
		}
		if beside := run(rule, Rule{Kind: Unprocessed, Tables: []string{"other"}, Probability: 0.5}); !slices.Equal(alone, beside) {
			t.Fatalf("%v\n%v", alone, beside)
		}
	})
	if slices.Equal(hits(seeded(t, 1), 200), hits(seeded(t, 2), 200)) {
		t.Error("two seeds give the same")
	}
}

func seeded(t *testing.T, seed uint64) *Injector {
	in := new(Injector)
	err := in.Set(Rules{Seed: seed, Rules: []Rule{{Kind: Throttle, Probability: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestProblems(t *testing.T) {
	tests := []struct{ text, want string }{
		{"rules: [{kind: slow}]", "line 1: rules[0].kind: must be one of throttle, error-500, transaction-conflict, unprocessed, " +
			"stale-index, latency, drop-request, drop-answer"},
		{"rules:\n- kind: latency", "line 2: rules[0].latency: must be above 0, and no more than 10m0s"},
		{"rules:\n- kind: latency\n  latency: 2s\n  latency_max: 1s", "line 4: rules[0].latency_max: must be at least latency, and at most 10m0s"},
		{"rules:\n- kind: stale-index\n  delay: -1s", "line 3: rules[0].delay: must be above 0, and no more than 10m0s"},
		{"rules:\n- kind: throttle\n  error: Slow\n  delay: 1s", "line 3: rules[0].error: must be ProvisionedThroughputExceededException, " +
			"ThrottlingException or RequestLimitExceeded; line 4: rules[0].delay: is for the kind stale-index"},
		{"rules:\n- kind: throttle\n  probability: 1.5\n  every: 2", "line 3: rules[0].probability: must be above 0, and at most 1; " +
			"line 4: rules[0].every: cannot be combined with probability"},
		{"rules:\n- kind: throttle\n  probability: 0\n  tables: []", "line 3: rules[0].probability: would mean never: leave the rule out; " +
			"line 4: rules[0].tables: would mean never: leave the rule out"},
		{"rules:\n- kind: throttle\n  every: -1\n  count: -1", "line 3: rules[0].every: must be 1 or more; line 4: rules[0].count: must be 1 or more"},
		{"rules:\n- kind: unprocessed\n  share: 2\n  operations: [PutItem, Put, '']", "line 3: rules[0].share: must be above 0, and at most 1; " +
			"line 4: rules[0].operations[0]: is not an operation that unprocessed applies to: BatchGetItem, BatchWriteItem; " +
			"line 4: rules[0].operations[1]: must be an operation's name, with * for any text; " +
			"line 4: rules[0].operations[2]: must be an operation's name, with * for any text"},
		{"rules:\n- kind: throttle\n  tables: ['a[b]']", "line 3: rules[0].tables[0]: must be a table's name, with * for any text"},
		{"rules:\n- kind: throttle\n  chance: 1", "line 3: rules[0]: has an unknown key"},
		{"rules:" + strings.Repeat("\n- kind: throttle", 1001), "line 1: rules: must be at most 1000"},
	}
	for _, test := range tests {
		_, err := Parse([]byte(test.text))
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Code != "bad_rules" || f.Message != test.want {
			t.Errorf("%q:\n got %v\nwant %s", test.text, err, test.want)
		}
	}
	file := filepath.Join(t.TempDir(), "rules")
	if _, err := Load(file); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cannot read the rules in "+file) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("rules: x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); err == nil || err.Error() != file+": line 1: rules: must be a list" {
		t.Error(err)
	}
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Load(file)
	runtime.ReadMemStats(&after)
	if read := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.HasSuffix(err.Error(), "longer than 1048576 bytes") || read > 32<<20 {
		t.Errorf("%v, after %d bytes", err, read)
	}
}

// Invalid rules leave the current ones and their counters unchanged.
func TestSetKeepsOldRules(t *testing.T) {
	in := injector(t, Rule{Kind: Throttle, Every: 2})
	in.Decide("PutItem", nil)
	if err := in.Set(Rules{Rules: []Rule{{Kind: "x"}}}); err == nil {
		t.Fatal("taken")
	}
	if f := in.Decide("PutItem", nil); f.Refusal == nil {
		t.Error("the rule began anew")
	}
}

func TestManyAtOnce(t *testing.T) {
	in := injector(t, Rule{Kind: Throttle, Probability: 0.5}, Rule{Kind: Latency, Latency: 1, LatencyMax: 9})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				in.Decide("PutItem", []string{"A"})
				in.Status()
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			if err := in.Set(Rules{Rules: []Rule{{Kind: Throttle}}}); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

// FuzzRules checks that a file is refused, or that its rules work and never do more than they say.
func FuzzRules(f *testing.F) {
	corpus.Add(f)
	for _, file := range []string{"testdata/rules.yaml", "testdata/rules.json"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rules, err := Parse(raw)
		if err != nil {
			if f, ok := errors.AsType[*fault.Error](err); !ok || f.Code != "bad_rules" || f.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		in := new(Injector)
		err = in.Set(rules)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, operation := range everything {
				checkFault(t, operation, in.Decide(operation, []string{"Scores"}))
			}
		}
		if len(in.Status()) != len(rules.Rules) {
			t.Fatal("rules are lost")
		}
	})
}

func checkFault(t *testing.T, operation string, f Fault) {
	t.Helper()
	instead := count([]bool{f.Refusal != nil, f.Conflict != nil, f.DropRequest})
	batch := strings.HasPrefix(operation, "Batch") && strings.HasSuffix(operation, "Item")
	switch {
	case instead > 1, f.Wait < 0, f.IndexDelay < 0, f.Unprocessed != nil && !batch, f.IndexDelay > 0 && operation == "GetItem",
		(f.Rules == nil) != reflect.DeepEqual(f, Fault{}):
		t.Fatalf("%s: %+v", operation, f)
	}
}

func BenchmarkDecide(b *testing.B) {
	ten := make([]Rule, 10)
	for i := range ten {
		ten[i] = Rule{Kind: Throttle, Tables: []string{"Other*"}}
	}
	tables := []string{"Scores"}
	for name, in := range map[string]*Injector{"nil": nil, "empty": injector(b), "ten rules": injector(b, ten...)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				in.Decide("PutItem", tables)
			}
		})
	}
}
