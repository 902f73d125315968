package feed

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

const (
	subscribedFor   = 10 * time.Minute // after the last Ensure of a partition
	subscribedEvery = 30 * time.Second // maximum age of what is held
	subscribedMost  = 256              // subscriptions at once: beyond that the least recently requested one goes
	heldMost        = 16384            // completed reads remembered
	ensurePages     = 50               // of one partition: a larger one is not held as a whole
)

// subscription is a partition that was requested and has been read regularly since.
type subscription struct {
	pass  *pass // what to read: table and partition
	until time.Time
	next  time.Time
}

// ensuring is a read for Ensure that others wait for.
type ensuring struct {
	waiting []*clock.Signal
	failed  bool // the read failed: waiters go on with what is here
}

// Ensure brings items, or whole partitions if a key is only the partition key, before they are read. What is not held is read from the
// cloud within Deadline and stays subscribed for a while. What is not here is never held, however recently the cloud did not have it:
// somebody may have made it since. If the cloud cannot be reached, the local state stands, which is not an error. It returns errors only
// for the caller's mistakes, an unknown table or invalid key (fault.NotFound, fault.Invalid), and for the end of ctx.
func (f *Feed) Ensure(ctx context.Context, table string, keys ...attr.Item) error {
	wants, err := f.wantsOf(table, keys)
	if err != nil {
		return err
	}
	limit := f.Clock.Now().Add(f.Deadline)
	for _, w := range wants {
		if err := f.ensure(ctx, w, limit); err != nil {
			return err
		}
	}
	return nil
}

// ReadNow reads an item or a partition even if it is held, without a time limit of its own.
func (f *Feed) ReadNow(ctx context.Context, spec *store.TableSpec, key attr.Item) error {
	w, err := wantOf(spec, key)
	if err != nil {
		return err
	}
	if w.key != nil || spec.Key.Sort.Name == "" {
		return f.refreshAbsent(ctx, spec.Name, key)
	}
	p := *w.pass
	p.alone = true
	budget := math.MaxInt
	_, err = f.continuePass(ctx, &p, &budget)
	return err
}

// wantsOf returns what to read for keys; nothing for a table that does not send.
func (f *Feed) wantsOf(table string, keys []attr.Item) ([]*want, error) {
	spec := f.Box.Spec(table)
	if spec == nil {
		return nil, fault.New(fault.NotFound, "no_table", "there is no table %s", table)
	}
	wants := make([]*want, 0, len(keys))
	for _, key := range keys {
		w, err := wantOf(spec, key)
		if err != nil {
			return nil, err
		}
		wants = append(wants, w)
	}
	if !spec.Sends() {
		return nil, nil
	}
	return wants, nil
}

// want is one thing that Ensure or ReadFresh was asked for.
type want struct {
	pass *pass     // the pass of its partition
	key  attr.Item // the item's key; nil: the whole partition
	id   string    // what is read: the pass's key or the item's id
}

// itemKey returns the key of the item that is wanted; nil: a partition of a table with sort keys.
func (w *want) itemKey() attr.Item {
	if w.key == nil && w.pass.spec.Key.Sort.Name == "" {
		return attr.Item{w.pass.spec.Key.Partition.Name: w.pass.partition}
	}
	return w.key
}

func wantOf(spec *store.TableSpec, key attr.Item) (*want, error) {
	bad := func() error {
		return fault.New(fault.Invalid, "bad_key", "the attributes are neither a key nor a partition key of table %s", spec.Name)
	}
	value := key[spec.Key.Partition.Name]
	whole := spec.Key.Sort.Name == "" || !key[spec.Key.Sort.Name].IsZero()
	names := 1
	if whole && spec.Key.Sort.Name != "" {
		names = 2
	}
	raw, ok := rawPartition(spec, value)
	if _, itemKey := keyFrom(spec, key); len(key) != names || !ok || whole && !itemKey {
		return nil, bad()
	}
	w := &want{pass: newPass(spec, value, raw)}
	w.id = w.pass.key
	if names == 2 {
		var err error
		if raw, err = attr.AppendKey(raw, key[spec.Key.Sort.Name]); err != nil {
			return nil, bad()
		}
		w.key, w.id = key, spec.Name+"\x00"+string(raw)
	}
	return w, nil
}

// rawPartition returns the bytes with which the keys of a partition begin; false: invalid partition key.
func rawPartition(spec *store.TableSpec, value attr.Value) ([]byte, bool) {
	if !isKind(value, spec.Key.Partition) || value.Kind() != attr.KindN && len(value.Str())+len(value.Bytes()) == 0 {
		return nil, false
	}
	raw, err := attr.AppendKey(nil, value)
	return raw, err == nil
}

// ensure reads one thing unless it is held, or waits for another caller that is reading it.
func (f *Feed) ensure(ctx context.Context, w *want, limit time.Time) error {
	for {
		held, err := f.holds(ctx, w)
		if err != nil || held || !f.Link.Online() || !f.Clock.Now().Before(limit) {
			return cmp.Or(err, ctx.Err())
		}
		f.mu.Lock()
		flight := f.flights[w.id]
		if flight == nil {
			flight = &ensuring{}
			if f.flights == nil {
				f.flights = map[string]*ensuring{}
			}
			f.flights[w.id] = flight
			f.mu.Unlock()
			_ = f.fetch(ctx, w, flight, limit) // on failure the local state stands
			return ctx.Err()
		}
		sig := clock.NewSignal()
		flight.waiting = append(flight.waiting, sig)
		f.mu.Unlock()
		leave := f.Clock.Join()
		err = f.Clock.Wait(ctx, limit, sig)
		leave()
		f.mu.Lock()
		failed := flight.failed
		f.mu.Unlock()
		if err != nil || failed {
			return err
		}
	}
}

// fetch reads what is wanted and wakes its waiters.
func (f *Feed) fetch(ctx context.Context, w *want, flight *ensuring, limit time.Time) (err error) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		flight.failed = err != nil && ctx.Err() == nil // but not because its own caller has gone
		delete(f.flights, w.id)
		for _, sig := range flight.waiting {
			sig.Set()
		}
	}()
	inner, cancel := context.WithTimeout(ctx, limit.Sub(f.Clock.Now()))
	defer cancel()
	if err = f.fetchOne(inner, w); err != nil && ctx.Err() == nil {
		f.passFailed(w.pass, err)
	}
	return err
}

// fetchOne reads what is wanted from the cloud.
func (f *Feed) fetchOne(ctx context.Context, w *want) error {
	if w.key != nil {
		err := f.refresh(ctx, w.pass.table, w.key)
		if err == nil {
			f.heldNow(w.id)
		}
		return err
	}
	p := *w.pass
	p.alone = true
	budget := ensurePages
	_, err := f.continuePass(ctx, &p, &budget)
	return err
}

// holds reports whether something is held: it is here, and was read as a whole a short time ago or is covered by a rule that keeps
// reading it. It subscribes to a partition that no rule covers.
func (f *Feed) holds(ctx context.Context, w *want) (held bool, err error) {
	if !f.readLately(w) {
		return false, nil
	}
	return f.isHere(ctx, w)
}

// isHere reports whether this node has the item, or any item of the partition, expired or not.
func (f *Feed) isHere(ctx context.Context, w *want) (here bool, err error) {
	err = f.Store.View(ctx, func(tx *store.Tx) error {
		tx.ShowExpired()
		if key := w.itemKey(); key != nil {
			return tx.GetEncoded(w.pass.table, key, func(attr.Encoded) error {
				here = true
				return nil
			})
		}
		q := store.Query{Table: w.pass.table, KeyCondition: "#p = :p", Limit: 1, Select: store.SelectCount}
		q.Names, q.Values = map[string]string{"#p": w.pass.spec.Key.Partition.Name}, attr.Item{":p": w.pass.partition}
		page, err := tx.Query(q)
		here = page.Count > 0
		return err
	})
	return here, err
}

// readLately reports whether something was read as a whole a short time ago, or is covered by a rule that keeps reading it. It subscribes
// to a partition that no rule covers.
func (f *Feed) readLately(w *want) bool {
	now := f.Clock.Now()
	every := f.coveredEvery(w)
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := func(key string, age time.Duration) bool {
		at, ok := f.held[key]
		return ok && now.Sub(at) <= age
	}
	if every > 0 && (fresh(w.pass.spec.Name+"\x00", 3*every) || fresh(w.pass.key, 3*every)) {
		return true
	}
	if w.key == nil {
		f.subscribe(w.pass, now)
	}
	return fresh(w.pass.key, 2*subscribedEvery) || fresh(w.id, subscribedEvery)
}

// coveredEvery returns how often a rule reads the table; 0: none does. Whether the rule reads this partition shows in when the
// partition was last read.
func (f *Feed) coveredEvery(w *want) (every time.Duration) {
	for _, rule := range f.loadRules() {
		if rule.Table == w.pass.table && (every == 0 || rule.Every < every) {
			every = rule.Every
		}
	}
	return every
}

// subscribe has a partition read regularly for a while. The caller holds the lock.
func (f *Feed) subscribe(p *pass, now time.Time) {
	if f.subs == nil {
		f.subs = map[string]*subscription{}
	}
	s := f.subs[p.key]
	if s == nil {
		if len(f.subs) >= subscribedMost {
			oldest := slices.MinFunc(slices.Sorted(maps.Keys(f.subs)), func(a, b string) int {
				return f.subs[a].until.Compare(f.subs[b].until)
			})
			delete(f.subs, oldest)
		}
		s = &subscription{pass: p, next: now.Add(subscribedEvery)}
		f.subs[p.key] = s
	}
	s.until = now.Add(subscribedFor)
}

// pollSubscriptions reads the subscribed partitions that are due, and drops those not requested lately.
func (f *Feed) pollSubscriptions(ctx context.Context) {
	budget := roundPages
	for _, s := range f.dueSubscriptions(f.Clock.Now()) {
		if budget <= 0 {
			return
		}
		p := *s.pass
		p.alone = true
		_, err := f.continuePass(ctx, &p, &budget)
		f.mu.Lock()
		s.next = f.Clock.Now().Add(subscribedEvery)
		f.mu.Unlock()
		if err != nil {
			f.passFailed(&p, err)
			return
		}
	}
}

func (f *Feed) dueSubscriptions(now time.Time) (due []*subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.subs)) {
		switch s := f.subs[key]; {
		case s.until.Before(now):
			delete(f.subs, key)
		case !s.next.After(now):
			due = append(due, s)
		}
	}
	slices.SortStableFunc(due, func(a, b *subscription) int {
		return cmp.Or(a.next.Compare(b.next), cmp.Compare(a.pass.key, b.pass.key))
	})
	return due
}

// heldNow records that a partition, a table or an item was read as a whole.
func (f *Feed) heldNow(id string) {
	now := f.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		f.held = map[string]time.Time{}
	}
	if len(f.held) >= heldMost {
		maps.DeleteFunc(f.held, func(_ string, at time.Time) bool { return now.Sub(at) > subscribedFor })
		if len(f.held) >= heldMost {
			clear(f.held)
		}
	}
	f.held[id] = now
}
