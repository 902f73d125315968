package migrations

import (
	"context"
	"crypto/sha256"
	"reflect"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// LAv2 carries the tables that the application had before the second version of its Live Activities over into those
// that it has now. A new row that exists is never changed, an old one never either; how far a run is lies in the store
// beside what it wrote, so that one that was killed goes on where it was.
type LAv2 struct {
	store *store.Store
	names LAv2Names
	batch func(n int) error // tests: after each batch that was written; an error ends the run there
}

// NewLAv2 makes the migration. It does no I/O. Lists of names that are empty are the default ones.
func NewLAv2(s *store.Store, names LAv2Names) *LAv2 {
	return &LAv2{store: s, names: names.WithDefaults()}
}

const defaultBatch = 200

// oldTable is a table of before. Each may be there with and without the prefix.
type oldTable struct {
	name, becomes string
	of            func(r *run, tx *store.Tx, row attr.Item) (mapped, error)
}

const oldPrefix = "cricket-"

func oldTables() []oldTable {
	var out []oldTable
	for _, t := range []oldTable{
		{"activity-subscriptions", cricket.TableLiveActivities, (*run).session},
		{"match-processing-state", cricket.TableActiveMatches, (*run).activeMatch},
		{"prematch-notifications", "", (*run).nothing},
		{"state-hashes", "", (*run).nothing},
	} {
		out = append(out, t)
		t.name = oldPrefix + t.name
		out = append(out, t)
	}
	return out
}

// run is one pass over the old tables.
type run struct {
	*LAv2
	o      LAv2Options
	found  []oldTable
	totals map[string]int64    // rows of each, as the first look counted them
	best   map[[16]byte]winner // new key to the old row that becomes it
	p      *progress
	n      int       // batches written
	now    time.Time // one for all rows: none is judged twice by two clocks
}

// winner is the old row that a new one is made of, where several could be: the one changed last.
type winner struct {
	at   time.Time
	from [16]byte
}

// Run looks at every row of the old tables, and writes what becomes of them if it may. The report tells how far it
// came also beside an error.
func (m *LAv2) Run(ctx context.Context, o LAv2Options) (LAv2Report, error) {
	if o.Batch <= 0 {
		o.Batch = defaultBatch
	}
	r := &run{
		LAv2: m, o: o, totals: map[string]int64{}, best: map[[16]byte]winner{},
		p: &progress{Names: m.names, Tables: map[string]*tableProgress{}},
	}
	err := m.store.View(ctx, func(tx *store.Tx) error {
		r.now = tx.Now()
		return nil
	})
	if err != nil {
		return LAv2Report{}, err
	}
	for _, t := range oldTables() {
		switch there, err := m.there(t.name); {
		case err != nil:
			return LAv2Report{}, err
		case there:
			r.found = append(r.found, t)
		}
	}
	resumed, err := r.resume(ctx)
	if err != nil {
		return LAv2Report{}, err
	}
	if err := r.passes(ctx); err != nil {
		return r.report(resumed), err
	}
	out := r.report(resumed)
	out.Complete = true
	return out, r.drop(ctx, &out)
}

func (m *LAv2) there(table string) (bool, error) {
	_, err := m.store.Describe(table)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// resume takes up the progress of a run that was interrupted. A dry run always begins at the beginning.
func (r *run) resume(ctx context.Context) (bool, error) {
	if !r.o.Apply {
		return false, nil
	}
	last, err := readProgress(ctx, r.store)
	if err != nil || last == nil || last.Done || !reflect.DeepEqual(last.Names, r.names) {
		return false, err
	}
	r.p = last
	return true, nil
}

// passes looks at everything once to know of which old row each new one is made, and a second time to make them.
func (r *run) passes(ctx context.Context) error {
	for _, t := range r.found {
		err := r.pages(ctx, t, nil, r.store.View, func(tx *store.Tx, rows []attr.Item, _ attr.Item) error {
			return r.compete(tx, t, rows)
		})
		if err != nil {
			return err
		}
	}
	for _, t := range r.found {
		if err := r.carry(ctx, t); err != nil {
			return err
		}
	}
	if !r.o.Apply {
		return nil
	}
	return r.store.Update(ctx, func(tx *store.Tx) error {
		done := *r.p
		done.Done = true
		return done.write(tx)
	})
}

// pages walks an old table from a key on, one transaction a batch.
func (r *run) pages(ctx context.Context, t oldTable, from attr.Item, in func(context.Context, func(*store.Tx) error) error,
	do func(tx *store.Tx, rows []attr.Item, last attr.Item) error,
) error {
	for {
		var page store.Page
		err := in(ctx, func(tx *store.Tx) (err error) {
			if page, err = tx.Scan(store.Scan{Table: t.name, Limit: r.o.Batch, StartKey: from}); err != nil {
				return err
			}
			return do(tx, page.Items, page.LastKey)
		})
		if err != nil || page.LastKey == nil {
			return err
		}
		from = page.LastKey
	}
}

// compete notes for each new key which old row was changed last. It only reads: its transaction is never repeated.
func (r *run) compete(tx *store.Tx, t oldTable, rows []attr.Item) error {
	for _, row := range rows {
		m, err := t.of(r, tx, row)
		if err != nil {
			return err
		}
		r.totals[t.name]++
		if m.row == nil {
			continue
		}
		key := digest(t.becomes, m.key)
		if best, taken := r.best[key]; !taken || m.at.After(best.at) {
			r.best[key] = winner{m.at, digest(t.name, row)}
		}
	}
	return nil
}

// digest stands for an item of a table in the memory of a run, which may have to hold very many.
func digest(table string, it attr.Item) (d [16]byte) {
	sum := sha256.Sum256(attr.Encode([]byte(table+"\x00"), it))
	copy(d[:], sum[:])
	return d
}

// carry takes one old table over.
func (r *run) carry(ctx context.Context, t oldTable) error {
	was := r.p.of(t.name)
	if was.Done {
		return nil
	}
	from, err := was.start()
	if err != nil {
		return err
	}
	for done := false; !done; {
		if from, err = r.step(ctx, t, from); err != nil {
			return err
		}
		done = from == nil
		if r.o.Progress != nil {
			r.o.Progress(t.name, r.p.of(t.name).Counts.Read, r.totals[t.name])
		}
		if r.n++; r.batch != nil && r.o.Apply {
			if err := r.batch(r.n); err != nil {
				return err
			}
		}
	}
	return nil
}

// step takes one batch over, and writes how far it is in the same transaction. It gives where the next one begins; nil
// after the last.
func (r *run) step(ctx context.Context, t oldTable, from attr.Item) (attr.Item, error) {
	in := r.store.View
	if r.o.Apply {
		in = r.store.Update
	}
	var next *progress
	var last attr.Item
	err := in(ctx, func(tx *store.Tx) error {
		page, err := tx.Scan(store.Scan{Table: t.name, Limit: r.o.Batch, StartKey: from})
		if err != nil {
			return err
		}
		counts := newCounts()
		for _, row := range page.Items {
			if err := r.take(tx, t, row, &counts); err != nil {
				return err
			}
		}
		last = page.LastKey
		next = r.p.with(t.name, r.p.of(t.name).with(&counts, last))
		if !r.o.Apply {
			return nil
		}
		return next.write(tx)
	})
	if err != nil {
		return nil, err
	}
	r.p = next
	return last, nil
}

// take makes the new row of an old one, or counts why there is none.
func (r *run) take(tx *store.Tx, t oldTable, row attr.Item, counts *LAv2Counts) error {
	counts.Read++
	m, err := t.of(r, tx, row)
	switch {
	case err != nil:
		return err
	case m.unreadable != "":
		counts.Unreadable[m.unreadable]++
		return nil
	case m.skip != "":
		counts.Skipped[m.skip]++
		return nil
	}
	if best, known := r.best[digest(t.becomes, m.key)]; known && best.from != digest(t.name, row) {
		counts.Skipped[skipSuperseded]++
		return nil
	}
	if there, err := r.exists(tx, t.becomes, m.key); err != nil || there {
		counts.AlreadyThere++
		return err
	}
	counts.Written++
	if !r.o.Apply {
		return nil
	}
	_, err = tx.Put(store.PutItem{Table: t.becomes, Item: m.row, Condition: "attribute_not_exists(matchId)", NoOld: true})
	return err
}

// exists reports whether the new row is there. A table that is not is empty: a dry run defines none.
func (r *run) exists(tx *store.Tx, table string, key attr.Item) (bool, error) {
	item, err := tx.Get(table, key)
	if fault.Is(err, fault.NotFound) && !r.o.Apply {
		return false, nil
	}
	return item != nil, err
}

func (r *run) session(tx *store.Tx, row attr.Item) (mapped, error) {
	return session(row, &r.names.Subscriptions, r.now, inside{tx})
}

func (r *run) activeMatch(_ *store.Tx, row attr.Item) (mapped, error) {
	return activeMatch(row, &r.names.Processing, r.now)
}

func (r *run) nothing(*store.Tx, attr.Item) (mapped, error) {
	return mapped{skip: skipNeedless}, nil
}

// inside looks up in a transaction.
type inside struct{ tx *store.Tx }

func (l inside) devices(userID string) ([]cricket.Device, error) {
	all, err := cricket.Devices{}.Of(l.tx, userID)
	if fault.Is(err, fault.NotFound) { // no table yet
		return nil, nil
	}
	return all, err
}

func (l inside) expiry(matchID string) (time.Time, error) {
	item, err := l.tx.Get(cricket.TableFixtures, attr.Item{"matchId": attr.S(matchID)})
	if fault.Is(err, fault.NotFound) || err == nil && item == nil {
		return time.Time{}, nil
	}
	var fx cricket.Fixture
	if err == nil {
		err = attr.Unmarshal(item, &fx)
	}
	return cricket.SessionExpiry(&fx), err
}

func (r *run) report(resumed bool) LAv2Report {
	out := LAv2Report{Applied: r.o.Apply, Resumed: resumed, Tables: []LAv2Table{}, Total: newCounts()}
	for _, t := range r.found {
		counts := r.p.of(t.name).Counts
		out.Tables = append(out.Tables, LAv2Table{Table: t.name, Becomes: t.becomes, LAv2Counts: counts})
		out.Total.add(&counts)
	}
	return out
}

// drop drops the old tables after a complete run, unless a row would be lost that nobody has read.
func (r *run) drop(ctx context.Context, out *LAv2Report) error {
	if !r.o.DropOld {
		return nil
	}
	if Sum(out.Total.Unreadable) > 0 {
		out.KeptOld = "some of their rows cannot be read"
		return nil
	}
	for i := range out.Tables {
		if r.o.Apply {
			if err := r.store.DropTable(ctx, out.Tables[i].Table); err != nil {
				return err
			}
		}
		out.Tables[i].Dropped = true
	}
	return nil
}
