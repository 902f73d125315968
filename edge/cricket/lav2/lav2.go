// Package lav2 migrates tables from before version 2 of the application's Live Activities. The old format is not
// documented: a row whose attributes have the names documented for the new tables becomes a new row. All others
// are counted and named in the report; old rows are never changed.
package lav2

import (
	"context"

	"github.com/touchline/touchline/edge/cricket/tables"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Options configure a run.
type Options struct {
	Apply   bool // write; otherwise only report what would be written
	DropOld bool // after a complete run, drop the old tables; without Apply, report which would be dropped

	// Progress is called after each transaction with the number of rows read from an old table.
	Progress func(table string, rows int64)
}

// Report is what a run did or would do.
type Report struct {
	Applied bool    `json:"applied"`
	Tables  []Table `json:"tables"` // the old tables that exist
	Total   Counts  `json:"total"`
	KeptOld string  `json:"keptOld,omitempty"` // why the old tables were not dropped on request
}

// Table is the outcome for one old table.
type Table struct {
	Table   string `json:"table"`
	Becomes string `json:"becomes"` // "" if the table has no successor
	Counts
	Dropped bool `json:"dropped"` // or would be
}

// Counts counts old rows. Read is the sum of Written, AlreadyThere, Skipped and Unreadable.
type Counts struct {
	Read         int64            `json:"read"`
	Written      int64            `json:"written"`      // new rows created
	AlreadyThere int64            `json:"alreadyThere"` // the new row exists, and is left unchanged
	Skipped      map[string]int64 `json:"skipped"`      // by reason
	Unreadable   map[string]int64 `json:"unreadable"`   // by what is wrong
	Left         map[string]int64 `json:"left"`         // rows with an attribute that no new table has, by its name
}

func newCounts() Counts {
	return Counts{Skipped: map[string]int64{}, Unreadable: map[string]int64{}, Left: map[string]int64{}}
}

func (c *Counts) add(o *Counts) {
	c.Read += o.Read
	c.Written += o.Written
	c.AlreadyThere += o.AlreadyThere
	for _, by := range []struct{ all, more map[string]int64 }{
		{c.Skipped, o.Skipped}, {c.Unreadable, o.Unreadable}, {c.Left, o.Left},
	} {
		for what, n := range by.more {
			by.all[what] += n
		}
	}
}

// pageRows is how many old rows a transaction reads.
const pageRows = 200

// oldTable is an old table. Each may exist with and without the prefix.
type oldTable struct {
	name, becomes string
	carry         func(tx *store.Tx, row attr.Item) (carried, error)
}

func oldTables() []oldTable {
	return []oldTable{
		{"activity-subscriptions", tables.LiveActivities, session},
		{"match-processing-state", tables.ActiveMatches, activeMatch},
		{"prematch-notifications", "", needless},
		{"state-hashes", "", needless},
	}
}

// Run reads every row of the old tables and, with Apply, writes the new rows. After an interrupted run the next
// one finds what was written.
func Run(ctx context.Context, s *store.Store, o Options) (Report, error) {
	r := Report{Applied: o.Apply, Tables: []Table{}, Total: newCounts()}
	for _, old := range oldTables() {
		for _, prefix := range []string{"", "cricket-"} {
			t := old
			t.name = prefix + old.name
			switch _, err := s.Describe(t.name); {
			case fault.Is(err, fault.NotFound):
				continue
			case err != nil:
				return r, err
			}
			counts, err := carry(ctx, s, &t, &o)
			if err != nil {
				return r, err
			}
			r.Tables = append(r.Tables, Table{Table: t.name, Becomes: t.becomes, Counts: counts})
			r.Total.add(&counts)
		}
	}
	return r, r.drop(ctx, s, &o)
}

// carry migrates one old table, a page per transaction.
func carry(ctx context.Context, s *store.Store, t *oldTable, o *Options) (Counts, error) {
	all := newCounts()
	in := s.View
	if o.Apply {
		in = s.Update
	}
	for from, more := attr.Item(nil), true; more; more = from != nil {
		var counts Counts
		var next attr.Item
		err := in(ctx, func(tx *store.Tx) error {
			page, err := tx.Scan(store.Scan{Table: t.name, Limit: pageRows, StartKey: from})
			if err != nil {
				return err
			}
			counts, next = newCounts(), page.LastKey
			for _, row := range page.Items {
				if err := t.migrateRow(tx, row, o, &counts); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return all, err
		}
		from = next
		all.add(&counts)
		if o.Progress != nil {
			o.Progress(t.name, all.Read)
		}
	}
	return all, nil
}

// migrateRow creates the new row for an old one, or counts why there is none.
func (t *oldTable) migrateRow(tx *store.Tx, row attr.Item, o *Options, counts *Counts) error {
	counts.Read++
	c, err := t.carry(tx, row)
	switch {
	case err != nil:
		return err
	case c.unreadable != "":
		counts.Unreadable[c.unreadable]++
		return nil
	case c.skip != "":
		counts.Skipped[c.skip]++
		return nil
	}
	there, err := tx.Get(t.becomes, c.key)
	switch {
	case fault.Is(err, fault.NotFound) && !o.Apply: // a file of an earlier version lacks the table, and a dry run does not create it
	case err != nil:
		return err
	case there != nil:
		counts.AlreadyThere++
		return nil
	}
	counts.Written++
	for name := range row {
		if !c.names[name] {
			counts.Left[name]++
		}
	}
	if !o.Apply {
		return nil
	}
	_, err = tx.Put(store.PutItem{Table: t.becomes, Item: c.row, NoOld: true})
	return err
}

// drop drops the old tables, unless unread rows would be lost.
func (r *Report) drop(ctx context.Context, s *store.Store, o *Options) error {
	if !o.DropOld {
		return nil
	}
	if len(r.Total.Unreadable) > 0 {
		r.KeptOld = "some of their rows cannot be read"
		return nil
	}
	for i := range r.Tables {
		if o.Apply {
			if err := s.DropTable(ctx, r.Tables[i].Table); err != nil {
				return err
			}
		}
		r.Tables[i].Dropped = true
	}
	return nil
}
