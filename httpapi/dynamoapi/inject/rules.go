package inject

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/secretfile"
	"github.com/touchline/touchline/internal/strictyaml"
)

// Rules are the faults to inject.
type Rules struct {
	Seed  uint64 `yaml:"seed"`
	Rules []Rule `yaml:"rules"`
}

// Rule is one fault and its conditions. The package comment explains the fields.
type Rule struct {
	Kind        Kind          `yaml:"kind"`
	Tables      []string      `yaml:"tables"`
	Operations  []string      `yaml:"operations"`
	Probability float64       `yaml:"probability"`
	Every       int           `yaml:"every"`
	Count       int           `yaml:"count"`
	Error       string        `yaml:"error"`
	Share       float64       `yaml:"share"`
	Delay       time.Duration `yaml:"delay"`
	Latency     time.Duration `yaml:"latency"`
	LatencyMax  time.Duration `yaml:"latency_max"`
}

// Kind is a kind of fault.
type Kind string

// The kinds of faults.
const (
	Throttle            Kind = "throttle"
	Error500            Kind = "error-500"
	TransactionConflict Kind = "transaction-conflict"
	Unprocessed         Kind = "unprocessed"
	StaleIndex          Kind = "stale-index"
	Latency             Kind = "latency"
	DropRequest         Kind = "drop-request"
	DropAnswer          Kind = "drop-answer"
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Throttle, Error500, TransactionConflict, Unprocessed, StaleIndex, Latency, DropRequest, DropAnswer}
}

// Limits of rules.
const (
	maxRules = 1000
	maxWait  = 10 * time.Minute
	maxFile  = 1 << 20
)

// everything lists all operations; about lists those to which a kind is limited.
var (
	everything = []string{
		"BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "CreateTable", "DeleteItem", "DeleteTable",
		"DescribeEndpoints", "DescribeLimits", "DescribeStream", "DescribeTable", "DescribeTimeToLive", "ExecuteStatement",
		"ExecuteTransaction", "GetItem", "GetRecords", "GetShardIterator", "ListStreams", "ListTables", "ListTagsOfResource",
		"PutItem", "Query", "Scan", "TagResource", "TransactGetItems", "TransactWriteItems", "UntagResource", "UpdateItem",
		"UpdateTable", "UpdateTimeToLive",
	}
	about = map[Kind][]string{
		TransactionConflict: {
			"DeleteItem", "ExecuteTransaction", "PutItem", "TransactGetItems", "TransactWriteItems", "UpdateItem",
		},
		Unprocessed: {"BatchGetItem", "BatchWriteItem"},
		StaleIndex:  {"BatchExecuteStatement", "ExecuteStatement", "Query", "Scan"},
	}
)

// operations returns the operations to which a kind can apply.
func (k Kind) operations() []string {
	if names, ok := about[k]; ok {
		return names
	}
	return everything
}

// Load reads a file of rules. The error is a *fault.Error that lists all problems, by line and key.
func Load(file string) (Rules, error) {
	raw, err := secretfile.ReadAny(file, maxFile)
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err // the message below names the path
	}
	if err != nil {
		return Rules{}, fault.Wrap(err, fault.Invalid, "no_rules", "cannot read the rules in %s: %s", file, err)
	}
	r, err := Parse(raw)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		f.Message = file + ": " + f.Message
	}
	return r, err
}

// Parse reads rules in YAML or JSON. The error is a *fault.Error that lists all problems, by line and key.
func Parse(raw []byte) (Rules, error) {
	var r Rules
	lines, problems := strictyaml.Decode(raw, &r)
	if len(problems) == 0 {
		problems = r.Problems()
		for i, rule := range r.Rules {
			problems = append(problems, rule.zeros(i, lines)...)
		}
		for i := range problems {
			problems[i].Line = lines.LineOf(problems[i].Key)
		}
	}
	return r, problemsError(problems)
}

// zeros reports explicit zeros where leaving the field out means something else.
func (r Rule) zeros(i int, lines strictyaml.Lines) (problems []strictyaml.Problem) {
	for _, f := range []struct {
		name string
		zero bool
	}{
		{"probability", r.Probability == 0}, {"every", r.Every == 0}, {"count", r.Count == 0}, {"share", r.Share == 0},
		{"tables", len(r.Tables) == 0}, {"operations", len(r.Operations) == 0},
	} {
		key := fmt.Sprintf("rules[%d].%s", i, f.name)
		if _, said := lines[key]; said && f.zero {
			problems = append(problems, strictyaml.Problem{Key: key, Text: "would mean never: leave the rule out"})
		}
	}
	return problems
}

func problemsError(problems []strictyaml.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return fault.New(fault.Invalid, "bad_rules", "%s", strictyaml.Join(problems))
}

// Problems returns all errors in the rules.
func (r Rules) Problems() (problems []strictyaml.Problem) {
	bad := strictyaml.AddTo(&problems, "")
	if len(r.Rules) > maxRules {
		bad("rules", "must be at most %d", maxRules)
	}
	for i, rule := range r.Rules {
		at := fmt.Sprintf("rules[%d].", i)
		if !slices.Contains(Kinds(), rule.Kind) {
			bad(at+"kind", "must be one of %s", list(Kinds()))
			continue
		}
		rule.checkSelection(at, bad)
		rule.checkEffect(at, bad)
	}
	return problems
}

type complaint func(key, format string, args ...any)

// checkSelection checks the fields that select requests.
func (r Rule) checkSelection(at string, bad complaint) {
	for i, t := range r.Tables {
		if t == "" || strings.Trim(t, letters+"*") != "" {
			bad(fmt.Sprintf("%stables[%d]", at, i), "must be a table's name, with * for any text")
		}
	}
	for i, o := range r.Operations {
		switch key := fmt.Sprintf("%soperations[%d]", at, i); {
		case o == "" || strings.Trim(o, letters+"*") != "" || !fitsSome(o, everything):
			bad(key, "must be an operation's name, with * for any text")
		case !fitsSome(o, r.Kind.operations()):
			bad(key, "is not an operation that %s applies to: %s", r.Kind, strings.Join(r.Kind.operations(), ", "))
		}
	}
	if !(r.Probability >= 0 && r.Probability <= 1) {
		bad(at+"probability", "must be above 0, and at most 1")
	}
	if r.Every < 0 {
		bad(at+"every", "must be 1 or more")
	}
	if r.Every != 0 && r.Probability != 0 {
		bad(at+"every", "cannot be combined with probability")
	}
	if r.Count < 0 {
		bad(at+"count", "must be 1 or more")
	}
}

// checkEffect checks the fields of the effect.
func (r Rule) checkEffect(at string, bad complaint) {
	only := func(kind Kind, key string, said bool) {
		if said && r.Kind != kind {
			bad(at+key, "is for the kind %s", kind)
		}
	}
	only(Throttle, "error", r.Error != "")
	only(Unprocessed, "share", r.Share != 0)
	only(StaleIndex, "delay", r.Delay != 0)
	only(Latency, "latency", r.Latency != 0)
	only(Latency, "latency_max", r.LatencyMax != 0)
	if _, ok := throttles[r.Error]; r.Error != "" && !ok {
		bad(at+"error", "must be ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded")
	}
	if !(r.Share >= 0 && r.Share <= 1) {
		bad(at+"share", "must be above 0, and at most 1")
	}
	if r.Kind == StaleIndex && (r.Delay <= 0 || r.Delay > maxWait) {
		bad(at+"delay", "must be above 0, and no more than %v", maxWait)
	}
	if r.Kind == Latency && (r.Latency <= 0 || r.Latency > maxWait) {
		bad(at+"latency", "must be above 0, and no more than %v", maxWait)
	}
	if r.LatencyMax != 0 && (r.LatencyMax < r.Latency || r.LatencyMax > maxWait) {
		bad(at+"latency_max", "must be at least latency, and at most %v", maxWait)
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

func list(kinds []Kind) string {
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = string(k)
	}
	return strings.Join(texts, ", ")
}

// fits reports whether a name matches a pattern, in which * stands for any text.
func fits(pattern, name string) bool {
	if pattern == name || pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func fitsSome(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return fits(pattern, name) })
}

func someFits(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, name) })
}
