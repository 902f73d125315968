package node

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/edge/app"
	"github.com/touchline/touchline/httpapi/operator"
	"github.com/touchline/touchline/internal/clock"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
)

// deriver keeps the rows of a derived.Rule. What is due is not stored: each start derives all units, which also finds the rows that are
// not this program's own.
type deriver struct {
	*derived.Rule

	node  *Node
	app   *app.App
	cloud app.Sync // nil: none

	changed *clock.Signal // there may be something to derive

	mu     sync.Mutex
	due    map[string]bool      // units to derive
	told   map[string]unitState // units with something to say
	failed int                  // in a row
	why    string               // of the latest failure
}

// unitState is what there is to say about a unit.
type unitState struct {
	missing []derived.Source
	others  int
	held    []string
}

func (n *Node) newDeriver(a *app.App, r *derived.Rule) *deriver {
	d := &deriver{Rule: r, node: n, app: a, changed: clock.NewSignal(), due: map[string]bool{}, told: map[string]unitState{}}
	if n.sync != nil {
		d.cloud = n.sync
	}
	return d
}

// run derives until ctx ends.
func (d *deriver) run(ctx context.Context) error {
	defer d.node.store.Watch(d.changed)()
	defer d.News.Watch(d.changed)()
	if d.cloud != nil {
		defer d.cloud.WatchWhole(d.changed)()
	}
	var at uint64
	for begun := false; ; {
		d.addUnits(d.News.Next())
		next, err := d.findDue(ctx, at, begun)
		if err == nil {
			at, begun = next, true
			err = d.settleDue(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
		again := d.recordAttempt(err)
		if err == nil && d.looks() {
			again = d.node.parts.Clock.Now().Add(app.AwaitLook)
		}
		if d.node.parts.Clock.Wait(ctx, again, d.changed) != nil {
			return nil
		}
	}
}

// recordAttempt records an attempt, and returns when the next one is due; zero: with the next change.
func (d *deriver) recordAttempt(err error) (again time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.failed, d.why = 0, ""
		return time.Time{}
	}
	if d.failed == 0 {
		d.node.parts.Log.Warn("deriving rows failed and is retried", "app", d.app.Name, "rows", d.Name, "err", err)
	}
	d.why = err.Error()
	wait := min(consumeAgain<<min(d.failed, 10), consumeLast)
	d.failed++
	return d.node.parts.Clock.Now().Add(wait)
}

// findDue adds the units that the journal's records since at concern; at first, and after a gap in the journal, all units. It returns the
// last record read.
func (d *deriver) findDue(ctx context.Context, at uint64, begun bool) (uint64, error) {
	s := d.node.store
	if !begun || at+1 < s.FirstSeq() {
		return d.addDue(ctx, nil)
	}
	for {
		records, err := s.Journal(ctx, at, consumed)
		if err != nil || len(records) == 0 {
			return at, err
		}
		last := records[len(records)-1].Seq
		mine := slices.DeleteFunc(records, func(r store.Record) bool { return r.Table != d.Rows.Table })
		if len(mine) > 0 {
			if _, err := d.addDue(ctx, mine); err != nil {
				return at, err
			}
		}
		at = last
	}
}

// addDue adds the units that records concern; for nil, all. It returns the last record that the units take into account.
func (d *deriver) addDue(ctx context.Context, records []store.Record) (at uint64, err error) {
	err = d.node.store.View(ctx, func(tx *store.Tx) error {
		at = tx.Seq()
		units, err := d.Units(tx, records)
		d.addUnits(units)
		return err
	})
	return at, err
}

func (d *deriver) addUnits(units []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, unit := range units {
		d.due[unit] = true
	}
}

// deriveAgain has a unit derived again soon.
func (d *deriver) deriveAgain(unit string) {
	d.addUnits([]string{unit})
	d.changed.Set()
}

// settleDue derives the units that are due. One whose sources were not read whole stays due, and so does one that fails.
func (d *deriver) settleDue(ctx context.Context) (first error) {
	d.mu.Lock()
	due := slices.Sorted(maps.Keys(d.due))
	d.mu.Unlock()
	for _, unit := range due {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		state, done, err := d.deriveUnit(ctx, unit)
		d.mu.Lock()
		if err == nil {
			d.told[unit] = state
			if len(state.missing) == 0 && state.others == 0 && len(state.held) == 0 {
				delete(d.told, unit)
			}
		} else if first == nil {
			first = err
		}
		if done {
			delete(d.due, unit)
		}
		d.mu.Unlock()
	}
	return first
}

// looks reports whether a unit waits for something that no read brings.
func (d *deriver) looks() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, st := range d.told {
		if slices.ContainsFunc(st.missing, isNoRead) {
			return true
		}
	}
	return false
}

func isNoRead(s derived.Source) bool { return s.Table == "" }

// stillMissing returns what a unit was waiting for if all of it is a read that has not come, which costs no transaction to find out.
func (d *deriver) stillMissing(unit string) ([]derived.Source, error) {
	d.mu.Lock()
	missing := d.told[unit].missing
	d.mu.Unlock()
	if len(missing) == 0 || slices.ContainsFunc(missing, isNoRead) {
		return nil, nil
	}
	return app.Missing(d.cloud, missing)
}

// deriveUnit derives a unit once its sources were read whole.
func (d *deriver) deriveUnit(ctx context.Context, unit string) (state unitState, done bool, err error) {
	if state.missing, err = d.stillMissing(unit); err != nil || len(state.missing) > 0 {
		return state, false, err
	}
	if state.missing, err = d.missing(ctx, unit); err != nil || len(state.missing) > 0 {
		return state, false, err
	}
	out, err := d.SettleIdle(ctx, d.node.store, unit)
	if err != nil {
		return state, false, err
	}
	state.others, state.held = len(out.Others), slices.Concat(out.Held, out.Unread)
	return state, true, nil
}

// missing returns the sources of a unit that were not read whole yet.
func (d *deriver) missing(ctx context.Context, unit string) ([]derived.Source, error) {
	var sources []derived.Source
	err := d.node.store.View(ctx, func(tx *store.Tx) (err error) {
		sources, err = d.Sources(tx, unit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return app.Missing(d.cloud, sources)
}

// heldMost bounds the sentences of one kind of rows.
const heldMost = 5

// state returns what there is to say.
func (d *deriver) state() (out operator.Derived, some bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out = operator.Derived{App: d.app.Name, Title: d.app.Title, Name: d.Name, Failed: d.why}
	var missing []derived.Source
	for _, unit := range slices.Sorted(maps.Keys(d.told)) {
		st := d.told[unit]
		out.Others += st.others
		for _, why := range st.held {
			if len(out.Held) < heldMost && !slices.Contains(out.Held, why) {
				out.Held = append(out.Held, why)
			}
		}
		for _, s := range st.missing {
			if !slices.ContainsFunc(missing, func(o derived.Source) bool { return o.What == s.What }) {
				missing = append(missing, s)
			}
		}
	}
	if len(missing) > 0 {
		out.Waits = app.CountingWaits(missing[:min(len(missing), heldMost)])
	}
	return out, out.Waits != "" || out.Others > 0 || len(out.Held) > 0 || out.Failed != ""
}
