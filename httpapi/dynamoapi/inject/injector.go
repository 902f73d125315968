package inject

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Injector decides which requests meet a fault. It is safe for concurrent use. Without rules, and as a nil *Injector, it never injects
// any.
type Injector struct {
	state atomic.Pointer[state]
}

// state is the current rules with their counters.
type state struct {
	mu    sync.Mutex
	rules []rule
}

// rule is a Rule with its state.
type rule struct {
	Rule
	name     string
	chance   *rand.Rand
	seen     uint64
	injected uint64
}

// Set replaces the rules and starts them anew. Invalid rules change nothing; the error is a *fault.Error that lists all problems.
func (in *Injector) Set(rules Rules) error {
	if err := problemsError(rules.Problems()); err != nil {
		return err
	}
	next := &state{rules: make([]rule, len(rules.Rules))}
	for i, r := range rules.Rules {
		r.Tables, r.Operations = slices.Clone(r.Tables), slices.Clone(r.Operations)
		next.rules[i] = rule{Rule: r, name: fmt.Sprintf("rule %d", i+1), chance: rand.New(rand.NewPCG(rules.Seed, uint64(i)))}
	}
	in.state.Store(next)
	return nil
}

// Decide returns the fault for a request of an operation on these tables. Call it once per request, after the request was found valid.
func (in *Injector) Decide(operation string, tables []string) Fault {
	if in == nil {
		return Fault{}
	}
	s := in.state.Load()
	if s == nil || len(s.rules) == 0 {
		return Fault{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var f Fault
	for i := range s.rules {
		r := &s.rules[i]
		if !r.fires(operation, tables) {
			continue
		}
		f.Rules = append(f.Rules, r.name)
		if ends := r.add(&f, operation); ends {
			break
		}
	}
	return f
}

// fires reports whether the rule applies to a request, and counts it.
func (r *rule) fires(operation string, tables []string) bool {
	if some, narrow := about[r.Kind]; narrow && !slices.Contains(some, operation) ||
		len(r.Operations) > 0 && !someFits(r.Operations, operation) ||
		len(r.Tables) > 0 && !slices.ContainsFunc(tables, func(t string) bool { return someFits(r.Tables, t) }) ||
		r.Count > 0 && r.injected >= uint64(r.Count) {
		return false
	}
	r.seen++
	switch {
	case r.Every > 0 && r.seen%uint64(r.Every) != 0,
		r.Probability > 0 && r.chance.Float64() >= r.Probability:
		return false
	}
	r.injected++
	return true
}

// add adds the rule's effect to a fault, and reports whether it ends the request.
func (r *rule) add(f *Fault, operation string) (ends bool) {
	switch r.Kind {
	case Throttle:
		f.Refusal = throttle(r.Error)
	case Error500:
		f.Refusal = &Refusal{http.StatusInternalServerError, ofModel + "InternalServerError", "Internal server error"}
	case TransactionConflict:
		switch operation {
		case "TransactWriteItems", "TransactGetItems", "ExecuteTransaction":
			f.Conflict = &Choice{seed: r.chance.Uint64()}
		default:
			f.Refusal = &Refusal{http.StatusBadRequest, ofModel + "TransactionConflictException", ConflictMessage}
		}
	case DropRequest:
		f.DropRequest = true
	case Unprocessed:
		f.Unprocessed = &Choice{share: cmp.Or(r.Share, 0.5), seed: r.chance.Uint64()}
		return false
	case StaleIndex:
		f.IndexDelay = max(f.IndexDelay, r.Delay)
		return false
	case Latency:
		f.Wait += r.Latency
		if more := r.LatencyMax - r.Latency; r.LatencyMax != 0 {
			f.Wait += time.Duration(r.chance.Int64N(int64(more) + 1))
		}
		return false
	case DropAnswer:
		f.DropAnswer = true
		return false
	}
	return true
}

// Status is the state of a rule.
type Status struct {
	Name     string `json:"rule"`
	Kind     Kind   `json:"kind"`
	Seen     uint64 `json:"seen"`     // requests that it matches
	Injected uint64 `json:"injected"` // of these, requests with the fault
}

// Status returns the state of the current rules, in their order.
func (in *Injector) Status() []Status {
	if in == nil || in.state.Load() == nil {
		return nil
	}
	s := in.state.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Status, len(s.rules))
	for i := range s.rules {
		r := &s.rules[i]
		out[i] = Status{r.name, r.Kind, r.seen, r.injected}
	}
	return out
}
