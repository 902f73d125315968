package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/backoff"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// PollRule says what of a table is read regularly: what others have written is learned by it.
type PollRule struct {
	Table string
	Every time.Duration // from the end of one round to the begin of the next, with a tenth of jitter; 0: 30 s

	// Partitions lists the partitions that are of interest just now: values of the partition key, each read by a Query. It
	// is called within a View before each round and answers from the store and from memory alone. nil: the table is small,
	// and scanned.
	Partitions func(tx *store.Tx) ([]attr.Value, error)
}

const (
	pollEvery  = 30 * time.Second
	roundPages = 200 // of a rule in one round: what is left is read first in the next
)

func pollWait() backoff.Policy {
	return backoff.Policy{Base: time.Second, Max: 30 * time.Second, Floor: 200 * time.Millisecond}
}

// feeds are what is read regularly, and what has been.
type feeds struct {
	mu      sync.Mutex
	rules   []*feedRule
	subs    map[string]*subscription // by pass.key: partitions that somebody has asked for (Ensure)
	held    map[string]time.Time     // by pass.key, and by item: when it was last read as a whole
	flights map[string]*ensuring     // by pass.key or item: what is being read for Ensure
	refused uint64                   // rows that were no items

	unfinished map[string]*pass // by pass.key, of the feed's own goroutine: passes that go on in the next round
}

// feedRule is a rule at work.
type feedRule struct {
	PollRule

	next   time.Time
	tries  int    // rounds in a row that failed
	begins string // pass.key with which the next round begins: the last one ended for want of budget
	status FeedStatus
}

func (f *feeds) countRefused(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused += uint64(n)
}

// loadRules makes the rules of the configuration ready. It can be called again.
func (f *feeds) loadRules(rules []PollRule) []*feedRule {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rules == nil {
		for _, p := range rules {
			p.Every = cmp.Or(p.Every, pollEvery)
			name := p.Table + ", all"
			if p.Partitions != nil {
				name = p.Table + ", partitions of interest"
			}
			f.rules = append(f.rules, &feedRule{PollRule: p, status: FeedStatus{Rule: name}})
		}
	}
	return f.rules
}

// feedStatus reports how the rules fare, in their order.
func (r *Replica) feedStatus() []FeedStatus {
	rules := r.feeds.loadRules(r.cfg.Poll)
	r.feeds.mu.Lock()
	defer r.feeds.mu.Unlock()
	out := make([]FeedStatus, len(rules))
	for i, rule := range rules {
		out[i] = rule.status
	}
	return out
}

// runFeed reads what the rules say, and what Ensure has subscribed, until ctx ends. One request at a time: the feed is
// never in the way of the lanes. While the cloud is away it sleeps.
func (r *Replica) runFeed(ctx context.Context) error {
	rules := r.feeds.loadRules(r.cfg.Poll)
	now := r.clock.Now()
	for _, rule := range rules {
		rule.next = now.Add(time.Duration(r.cfg.Rand() % uint64(rule.Every))) // not all nodes, and not all rules, at once
	}
	wake := clock.NewSignal()
	swept := now
	for {
		if err := r.clock.Wait(ctx, r.nextRound(rules), nil); err != nil {
			return err
		}
		for !r.net.WhenOnline(wake) {
			if err := r.clock.Wait(ctx, time.Time{}, wake); err != nil {
				return err
			}
			r.feeds.rested(rules, r.clock.Now(), r.cfg.Rand)
		}
		for _, rule := range rules {
			if !rule.next.After(r.clock.Now()) {
				r.round(ctx, rule)
			}
		}
		r.pollSubscriptions(ctx)
		if now := r.clock.Now(); now.Sub(swept) >= sweepEvery {
			swept = now
			r.forgetTombstones(ctx)
		}
	}
}

// rested has all rules begin anew when the cloud is there again, not all nodes at once: what failed before says nothing.
func (f *feeds) rested(rules []*feedRule, now time.Time, rand func() uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range rules {
		rule.tries = 0
		if soon := now.Add(time.Duration(rand() % uint64(rule.Every))); rule.next.After(soon) {
			rule.next = soon
		}
	}
}

// nextRound is when the next rule or subscription is due.
func (r *Replica) nextRound(rules []*feedRule) time.Time {
	next := r.clock.Now().Add(subscribedEvery)
	for _, rule := range rules {
		if rule.next.Before(next) {
			next = rule.next
		}
	}
	return next
}

// round is one round of a rule.
func (r *Replica) round(ctx context.Context, rule *feedRule) {
	items, whole, err := r.roundOf(ctx, rule)
	f := &r.feeds
	f.mu.Lock()
	defer f.mu.Unlock()
	now := r.clock.Now()
	if err != nil {
		rule.status.Errors++
		rule.status.LastError = remote.ErrorText(err)
		rule.next = now.Add(max(r.jittered(rule.Every), pollWait().Delay(rule.tries, r.float())))
		rule.tries++
		return
	}
	rule.tries, rule.next = 0, now.Add(r.jittered(rule.Every))
	rule.status.LastError = ""
	if whole {
		rule.status.Passes++
		rule.status.LastPass, rule.status.Items = now, items
	}
}

// roundOf reads what the rule lists, within the budget of a round. whole tells that it came to the end of it.
func (r *Replica) roundOf(ctx context.Context, rule *feedRule) (items int, whole bool, err error) {
	passes, err := r.passesOf(ctx, rule)
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
		n, err := r.pass(ctx, p, &budget)
		items += n
		if err == nil {
			continue
		}
		r.passFailed(p, err)
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

// passFailed notes what an error of the feed says about the way to the cloud.
func (r *Replica) passFailed(p *pass, err error) {
	_, gone := remote.Unreached(err)
	switch class := remote.ClassOf(err); {
	case gone:
		r.linkLost(err)
	case errors.Is(err, errOtherKeys): // that was said when it was found
	case class == intent.NoTable:
		r.log.Warn("feed: the cloud does not have the table", "table", p.table)
	default:
		r.complain("reading "+p.table, err)
	}
}

// passesOf lists what a round reads, in an order that does not depend on chance: where the last one ended, the next goes on.
func (r *Replica) passesOf(ctx context.Context, rule *feedRule) ([]*pass, error) {
	spec := r.spec(rule.Table)
	if spec == nil {
		return nil, fmt.Errorf("feed: there is no table %s", rule.Table)
	}
	if rule.Partitions == nil {
		return []*pass{newPass(spec, attr.Value{}, nil)}, nil
	}
	var values []attr.Value
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		values, err = rule.Partitions(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	var passes []*pass
	for _, v := range values {
		if raw, ok := rawPartition(spec, v); ok {
			passes = append(passes, newPass(spec, v, raw))
		}
	}
	slices.SortFunc(passes, func(a, b *pass) int { return cmp.Compare(a.key, b.key) })
	passes = slices.CompactFunc(passes, func(a, b *pass) bool { return a.key == b.key })
	at, _ := slices.BinarySearchFunc(passes, rule.begins, func(p *pass, key string) int { return cmp.Compare(p.key, key) })
	return slices.Concat(passes[at:], passes[:at]), nil
}
