package feed

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
	"github.com/touchline/touchline/sync/replica/flow"
	"github.com/touchline/touchline/sync/replica/intent"
	"github.com/touchline/touchline/sync/replica/remote"
)

// A table that no rule reads is read only when a request depends on it. If the cloud refuses that, the request is judged by what is here, and
// nobody notices. So refused reads are remembered until one succeeds: by table and action, because each action has a permission of its own.
//
// Whether reads would succeed is unknown while nobody asks for any. The feed then probes: it reads an item that does not exist. It does so
// while reads are refused, to learn when that ends, and for tables that no rule reads and that the cloud has taken a write of since it last
// answered a read. A table that is neither written nor read is not probed: nothing depends on it.
//
// Example: the policy lacks GetItem and Query for wrk, which a client of the endpoint writes to. The first write is followed by a probe within
// 30 s. It is refused, and so are those of the next 90 s: the status says so. Once the policy is right, a client's read or the next probe ends
// that; the other action, if it was refused too, is probed at once.

// probeEvery is the pause between two probes of a table, or between a read and a probe: the interval of a rule that has none of its own.
const probeEvery = pollEvery

// readAction identifies reads of a table by what DynamoDB calls the request.
type readAction struct{ table, action string }

func (a readAction) compare(b readAction) int {
	return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.action, b.action))
}

const (
	actionGet   = "GetItem"
	actionQuery = "Query"
)

// readOutcome is what became of reads.
type readOutcome struct {
	at      time.Time // when the cloud last answered one; zero: not since the start
	probed  time.Time // when one was last sent as a probe
	refused time.Time // when the first was refused of those since the last success; zero: the last one succeeded
	why     error     // of the last one, if it was refused
}

// nextProbe returns when a probe makes sense again.
func (o *readOutcome) nextProbe() time.Time { return flow.MaxTime(o.at, o.probed).Add(probeEvery) }

// Refusal says that the cloud has refused reads of a table for too long.
type Refusal struct {
	Table   string
	Actions []string  // GetItem, Query
	Since   time.Time // by the wall clock
	Why     string
	Denied  bool // this node may not read the table
}

// readEnded records what the cloud answered to a read. No answer says nothing; neither does a refusal that concerns only the request. A table
// that is missing is told by what waits for it.
func (f *Feed) readEnded(ctx context.Context, a readAction, err error) {
	class := remote.ClassOf(err)
	_, gone := remote.AsUnreached(err)
	if err != nil && (gone || ctx.Err() != nil || class == intent.Validation) {
		return
	}
	now := f.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.outcomeLocked(a)
	o.at = now
	switch {
	case err == nil, class == intent.NoTable:
		if !o.refused.IsZero() {
			f.probeSoonLocked(a)
		}
		o.refused, o.why = time.Time{}, nil
	case o.refused.IsZero():
		o.refused, o.why = now, err
	default:
		o.why = err
	}
}

// probeSoonLocked has the other reads of a table probed at once. The caller holds the lock.
func (f *Feed) probeSoonLocked(but readAction) {
	for a, o := range f.outcomes {
		if a.table == but.table && a != but && !o.refused.IsZero() {
			o.at, o.probed = time.Time{}, time.Time{}
			f.askedLocked().Set()
		}
	}
}

// outcomeLocked returns the outcome of reads. The caller holds the lock.
func (f *Feed) outcomeLocked(a readAction) *readOutcome {
	o := f.outcomes[a]
	if o == nil {
		if f.outcomes == nil {
			f.outcomes = map[readAction]*readOutcome{}
		}
		o = &readOutcome{}
		f.outcomes[a] = o
	}
	return o
}

// Refusals returns the tables, in order, of which reads have been refused for as long as a rule may read nothing. The time in which the cloud
// is away does not count.
func (f *Feed) Refusals() (out []Refusal) {
	online, is := f.Link.OnlineSince()
	if !is {
		return nil
	}
	now := f.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range slices.SortedFunc(maps.Keys(f.outcomes), readAction.compare) {
		o := f.outcomes[a]
		since := flow.MaxTime(o.refused, online)
		if o.refused.IsZero() || now.Sub(since) < lateAfter(pollEvery) || f.Box.Spec(a.table) == nil {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Table != a.table {
			out = append(out, Refusal{
				Table: a.table, Since: clock.WallAt(f.Clock, since), Why: remote.ErrorText(o.why), Denied: remote.ClassOf(o.why) == intent.Denied,
			})
		}
		of := &out[len(out)-1]
		of.Actions = append(of.Actions, a.action)
		if wall := clock.WallAt(f.Clock, since); wall.Before(of.Since) {
			of.Since = wall
		}
	}
	return out
}

// probeReads makes the probes that are due.
func (f *Feed) probeReads(ctx context.Context) {
	for _, a := range f.dueProbes() {
		spec := f.Box.Spec(a.table)
		if spec == nil || !spec.Sends() || f.Tables.Readable(a.table) != nil {
			f.forgetReads(a)
			continue
		}
		err := f.probe(ctx, spec, a)
		if err == nil {
			continue
		}
		remote.Complain(f.Log, "a trial "+a.action+" of "+a.table, err)
		if _, gone := remote.AsUnreached(err); gone {
			return
		}
	}
}

// dueProbes lists the probes that are due, in order.
func (f *Feed) dueProbes() (due []readAction) {
	written := f.Written()
	now := f.Clock.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	is := map[readAction]bool{}
	for a, o := range f.outcomes {
		is[a] = !o.refused.IsZero()
	}
	for table, at := range written {
		a := f.usualRead(table)
		is[a] = is[a] || at.After(f.outcomeLocked(a).at)
	}
	maps.DeleteFunc(is, func(a readAction, wanted bool) bool { return !wanted || now.Before(f.outcomes[a].nextProbe()) })
	return slices.SortedFunc(maps.Keys(is), readAction.compare)
}

// usualRead returns by which action items of a table are read when a request depends on them: see wantOf.
func (f *Feed) usualRead(table string) readAction {
	if spec := f.Box.Spec(table); spec != nil && spec.Key.Sort.Name == "" {
		return readAction{table, actionQuery}
	}
	return readAction{table, actionGet}
}

// nextProbe returns when the next probe of a read that is refused is due; false: none is refused.
func (f *Feed) nextProbe() (next time.Time, some bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.outcomes {
		if at := o.nextProbe(); !o.refused.IsZero() && (!some || at.Before(next)) {
			next, some = at, true
		}
	}
	return next, some
}

// forgetReads forgets reads of a table that is gone, or that is stopped as another application's.
func (f *Feed) forgetReads(a readAction) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.outcomes, a)
}

// probe makes a read that finds nothing.
func (f *Feed) probe(ctx context.Context, spec *store.TableSpec, a readAction) error {
	f.mu.Lock()
	f.outcomeLocked(a).probed = f.Clock.Now()
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.Deadline)
	defer cancel()
	var err error
	if partition := nowhere(spec.Key.Partition); a.action == actionGet {
		key := attr.Item{spec.Key.Partition.Name: partition}
		if sort := spec.Key.Sort; sort.Name != "" {
			key[sort.Name] = nowhere(sort)
		}
		_, err = f.Cloud.Get(ctx, spec.Name, key)
	} else {
		q := remote.Reading{Table: spec.Name, Limit: 1} // not consistent: nothing of it is used
		q.KeyCondition, q.Params = partitionOf(spec, partition)
		_, err = f.Cloud.Read(ctx, q)
	}
	f.readEnded(ctx, a, err)
	return err
}

// nowhere returns a key that nobody uses.
func nowhere(k store.KeyAttr) attr.Value {
	const name = "touchline-probe"
	switch k.Type {
	case store.KeyNumber:
		return attr.Int(math.MinInt64)
	case store.KeyBinary:
		return attr.B([]byte(name))
	}
	return attr.S(name)
}
