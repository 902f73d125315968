package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/outbox"
	"github.com/touchline/touchline/sync/replica/remote"
)

// Rule says what to read regularly from a table, to learn what others have written.
type Rule struct {
	Table string
	Every time.Duration // from the end of one round to the start of the next, with a tenth of jitter; 0: 30 s

	// Partitions returns the partitions of interest now: partition key values, each read by a Query. It is called in a View
	// before each round and must use only the store and memory. An absent value stands for the whole table, which is
	// scanned. nil: always the whole table.
	Partitions func(tx *store.Tx) ([]attr.Value, error)
}

const (
	pollEvery  = 30 * time.Second
	roundPages = 200 // pages of a rule per round: the next round starts with what is left
)

func pollWait() backoff.Policy {
	return backoff.Policy{Base: time.Second, Max: 30 * time.Second, Floor: 200 * time.Millisecond}
}

// Feed reads what others have written and brings it into the store. Set its exported fields before use.
type Feed struct {
	Store    *store.Store
	Cloud    remote.Cloud
	Box      *outbox.Outbox
	Link     *flow.Link
	Clock    clock.Clock
	Log      *slog.Logger
	Rand     func() uint64
	Rules    []Rule
	Tables   Tables
	Deadline time.Duration // per request
	Page     int           // items per page: one transaction must not hold the writers up

	Settle    func(w *outbox.Work, b *outbox.Batch) error // removes a batch that an image proves
	Moved     func(w *outbox.Work)                        // updates memory after a commit
	OtherCopy func(why string)                            // the cloud shows a write that only another copy of this node can have made
	Wake      func()                                      // ReadBooked has something to do
	Failpoint func(point string)
	Written   func() map[string]time.Time // when the cloud last took a write of each table that no rule reads

	mu      sync.Mutex
	rules   []*feedRule
	subs    map[string]*subscription // by pass.key: partitions requested through Ensure
	held    map[string]time.Time     // by pass.key, and by item: when it was last read as a whole
	flights map[string]*ensuring     // by pass.key or item: reads under way for Ensure
	fresh   map[string]*freshReads   // by pass.key or item: reads for ReadFresh

	outcomes map[readAction]*readOutcome // what became of reads, other than those of rules

	whole whole // reads from start to end

	unfinished map[string]*pass // by pass.key, used by the feed's goroutine only: passes that the next round continues
	booked     []intent.Ref     // items to read again
}

// Tables is what is known of the cloud's tables, any of which may have been restored or recreated.
type Tables interface {
	// Epoch counts tables found to have been replaced: an answer requested before may concern an old table.
	Epoch() uint64
	// Check verifies that a table is still the same one: items missing from a new table were not deleted.
	Check(ctx context.Context, table string) error
	// KeepsAbsent reports whether an item absent from a table stays here, given when its base was set.
	KeepsAbsent(table string, set time.Time) bool
	// Owes reports whether a table of a batch has lost writes that are still to be put back.
	Owes(b *outbox.Batch) bool
	// Readable returns an error for a table whose items are not ours.
	Readable(table string) error
}

// feedRule is a rule in operation.
type feedRule struct {
	Rule

	next   time.Time
	tries  int       // failed rounds in a row
	begins string    // pass.key with which the next round starts, if the last one ran out of budget
	read   time.Time // when the last round ended that read all it set out to, or all its budget allowed; zero: none has
	status Status
}

// Status describes the state of a rule.
type Status struct {
	Rule      string    `json:"rule"`              // table and partitions; unique
	LastPass  time.Time `json:"lastPass,omitzero"` // end of the last complete pass; zero: none
	Items     int       `json:"items"`             // in that pass
	Passes    uint64    `json:"-"`                 // complete ones
	Errors    uint64    `json:"errors"`
	LastError string    `json:"lastError,omitempty"` // of the latest pass; "": it succeeded
	LateSince time.Time `json:"lateSince,omitzero"`  // since when nothing was read, although the cloud can be reached, if that is too long; zero: it is not
	Table     string    `json:"-"`
	Denied    bool      `json:"-"` // the latest pass failed because this node may not read the table
}

// lateAfter is how long a rule may read nothing before somebody should know: three of its intervals, but no moment of a poor line.
func lateAfter(every time.Duration) time.Duration { return max(3*every, time.Minute) }

// lateSince returns since when a rule has read nothing, if that is too long; zero: it is not. The time in which the cloud is away does not
// count.
func (f *Feed) lateSince(rule *feedRule, now time.Time) time.Time {
	online, is := f.Link.OnlineSince()
	since := flow.MaxTime(rule.read, online)
	if !is || now.Sub(since) < lateAfter(rule.Every) {
		return time.Time{}
	}
	return since
}

// loadRules prepares the rules. It can be called repeatedly.
func (f *Feed) loadRules() []*feedRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rules == nil {
		for _, p := range f.Rules {
			p.Every = cmp.Or(p.Every, pollEvery)
			f.rules = append(f.rules, &feedRule{Rule: p, status: Status{Rule: f.nameOf(&p), Table: p.Table}})
		}
	}
	return f.rules
}

// Covers reports whether a rule reads a table, or partitions of it.
func (f *Feed) Covers(table string) bool {
	return slices.ContainsFunc(f.loadRules(), func(rule *feedRule) bool { return rule.Table == table })
}

// nameOf returns a rule's unique name for status and metrics.
func (f *Feed) nameOf(r *Rule) string {
	base := r.Table + ", all"
	if r.Partitions != nil {
		base = r.Table + ", partitions of interest"
	}
	name := base
	for n := 2; slices.ContainsFunc(f.rules, func(other *feedRule) bool { return other.status.Rule == name }); n++ {
		name = fmt.Sprintf("%s (%d)", base, n)
	}
	return name
}

// Status returns the state of the rules, in order.
func (f *Feed) Status() []Status {
	rules := f.loadRules()
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]Status, len(rules))
	for i, rule := range rules {
		out[i] = rule.status
		out[i].LastPass = clock.WallAt(f.Clock, out[i].LastPass)
		out[i].LateSince = clock.WallAt(f.Clock, f.lateSince(rule, f.Clock.Now()))
	}
	return out
}

// serverNow returns the cloud's time, as far as it is known.
func (f *Feed) serverNow() time.Time { return f.Clock.Wall().Add(f.Cloud.Skew()) }

// Run reads what the rules and Ensure's subscriptions ask for until ctx ends. It makes one request at a time, so that the feed never
// gets in the workers' way. While the cloud is away it sleeps.
func (f *Feed) Run(ctx context.Context) error {
	rules := f.loadRules()
	now := f.Clock.Now()
	for _, rule := range rules {
		rule.next = now.Add(time.Duration(f.Rand() % uint64(rule.Every))) // spread nodes and rules
	}
	wake := clock.NewSignal()
	swept := now
	for {
		if err := f.Clock.Wait(ctx, f.nextRound(rules), f.wholeAsked()); err != nil {
			return err
		}
		for !f.Link.WhenOnline(wake) {
			if err := f.Clock.Wait(ctx, time.Time{}, wake); err != nil {
				return err
			}
			f.restartRules(rules, f.Clock.Now(), f.Rand)
			f.wasAway()
		}
		for _, rule := range rules {
			if !rule.next.After(f.Clock.Now()) {
				f.round(ctx, rule)
			}
		}
		f.readWanted(ctx)
		f.pollSubscriptions(ctx)
		f.probeReads(ctx)
		if now := f.Clock.Now(); now.Sub(swept) >= sweepEvery {
			swept = now
			f.forgetTombstones(ctx)
		}
	}
}

// restartRules restarts all rules when the cloud is back, spread over nodes: earlier failures say nothing now.
func (f *Feed) restartRules(rules []*feedRule, now time.Time, rand func() uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range rules {
		rule.tries = 0
		if soon := now.Add(time.Duration(rand() % uint64(rule.Every))); rule.next.After(soon) {
			rule.next = soon
		}
	}
}

// nextRound returns when the next rule is due, but at most subscribedEvery from now, for the subscriptions.
func (f *Feed) nextRound(rules []*feedRule) time.Time {
	next := f.Clock.Now().Add(subscribedEvery)
	for _, rule := range rules {
		if rule.next.Before(next) {
			next = rule.next
		}
	}
	if wanted, some := f.nextWanted(); some && wanted.Before(next) {
		next = wanted
	}
	if probe, some := f.nextProbe(); some && probe.Before(next) {
		next = probe
	}
	return next
}

// round runs one round of a rule.
func (f *Feed) round(ctx context.Context, rule *feedRule) {
	items, whole, err := f.roundOf(ctx, rule)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.Clock.Now()
	if err != nil {
		rule.status.Errors++
		rule.status.LastError, rule.status.Denied = remote.ErrorText(err), remote.ClassOf(err) == intent.Denied
		rule.next = now.Add(f.retryWait(rule, err))
		rule.tries++
		return
	}
	rule.tries, rule.next = 0, now.Add(backoff.WithJitter(rule.Every, f.Rand))
	rule.read = now
	rule.status.LastError, rule.status.Denied = "", false
	if whole {
		rule.status.Passes++
		rule.status.LastPass, rule.status.Items = now, items
	}
}

// retryWait returns when a failed round is repeated: soon, if only an answer was lost.
func (f *Feed) retryWait(rule *feedRule, err error) time.Duration {
	wait := pollWait().Delay(rule.tries, backoff.Float(f.Rand))
	if _, gone := remote.AsUnreached(err); gone {
		return min(wait, rule.Every)
	}
	return max(backoff.WithJitter(rule.Every, f.Rand), wait)
}

// roundOf reads what the rule lists, within the budget of a round. whole reports whether it reached the end.
func (f *Feed) roundOf(ctx context.Context, rule *feedRule) (items int, whole bool, err error) {
	passes, err := f.passesOf(ctx, rule)
	if err != nil {
		return 0, false, err
	}
	budget := roundPages
	var first error
	for _, p := range passes {
		rule.begins = p.key
		if budget <= 0 {
			return items, false, first
		}
		n, err := f.continuePass(ctx, p, &budget)
		items += n
		if err == nil && f.unfinished[p.key] != nil {
			return items, false, first // the next round goes on with this one
		}
		if err == nil {
			continue
		}
		f.passFailed(p, err)
		if first == nil {
			first = err
		}
		if remote.ClassOf(err) != intent.Validation {
			return items, false, first // the next partition would fare no better
		}
	}
	rule.begins = ""
	return items, first == nil, first
}

// passFailed logs an error of the feed, unless it is logged elsewhere.
func (f *Feed) passFailed(p *pass, err error) {
	switch class := remote.ClassOf(err); {
	case errors.Is(err, remote.ErrOtherKeys): // logged when it was found
	case class == intent.NoTable:
		f.Log.Warn("feed: the cloud does not have the table", "table", p.table)
	default:
		remote.Complain(f.Log, "reading "+p.table, err)
	}
}

// passesOf lists what a round reads, in a fixed order, starting where the last round ended.
func (f *Feed) passesOf(ctx context.Context, rule *feedRule) ([]*pass, error) {
	spec := f.Box.Spec(rule.Table)
	if spec == nil {
		return nil, fmt.Errorf("feed: there is no table %s", rule.Table)
	}
	if rule.Partitions == nil {
		return []*pass{newPass(spec, attr.Value{}, nil)}, nil
	}
	var values []attr.Value
	err := f.Store.View(ctx, func(tx *store.Tx) (err error) {
		values, err = rule.Partitions(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	var passes []*pass
	for _, v := range values {
		if raw, ok := rawPartition(spec, v); ok || v.IsZero() {
			passes = append(passes, newPass(spec, v, raw))
		}
	}
	slices.SortFunc(passes, func(a, b *pass) int { return cmp.Compare(a.key, b.key) })
	passes = slices.CompactFunc(passes, func(a, b *pass) bool { return a.key == b.key })
	at, _ := slices.BinarySearchFunc(passes, rule.begins, func(p *pass, key string) int { return cmp.Compare(p.key, key) })
	return slices.Concat(passes[at:], passes[:at]), nil
}
