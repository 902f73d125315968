package migrations

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// progress is how far a run has come. It is written in the transaction of each batch, so that it is true whenever the
// process ends.
type progress struct {
	Names  LAv2Names                 `json:"names"` // a run with others begins anew
	Tables map[string]*tableProgress `json:"tables"`
	Done   bool                      `json:"done"`
	At     time.Time                 `json:"at"`
}

type tableProgress struct {
	Counts LAv2Counts      `json:"counts"`
	After  json.RawMessage `json:"after,omitempty"` // key of the last row that was taken
	Done   bool            `json:"done"`
}

func (p *progress) of(table string) *tableProgress {
	t := p.Tables[table]
	if t == nil {
		t = &tableProgress{Counts: newCounts()}
		p.Tables[table] = t
	}
	return t
}

// start is where to go on; nil at the beginning.
func (t *tableProgress) start() (attr.Item, error) {
	if t.After == nil {
		return nil, nil
	}
	return attr.ParseJSON(t.After)
}

// with is the progress after a batch.
func (t *tableProgress) with(counts *LAv2Counts, last attr.Item) *tableProgress {
	next := &tableProgress{Counts: newCounts(), Done: last == nil}
	next.Counts.add(&t.Counts)
	next.Counts.add(counts)
	if last != nil {
		next.After = attr.AppendJSON(nil, last)
	}
	return next
}

// with is the progress with another of one table.
func (p *progress) with(table string, t *tableProgress) *progress {
	next := *p
	next.Tables = maps.Clone(p.Tables)
	next.Tables[table] = t
	return &next
}

func progressKey() attr.Item { return attr.Item{"step": attr.S("la-v2")} }

// readProgress returns the progress of the last run; nil where there was none.
func readProgress(ctx context.Context, s *store.Store) (p *progress, err error) {
	err = s.View(ctx, func(tx *store.Tx) error {
		item, err := tx.Get(tableSteps, progressKey())
		if err != nil || item == nil {
			return err
		}
		p = &progress{}
		if err := json.Unmarshal([]byte(item["run"].Str()), p); err != nil {
			return fmt.Errorf("the progress of the migration cannot be read: %w", err)
		}
		for _, t := range p.Tables {
			counts := newCounts()
			counts.add(&t.Counts)
			t.Counts = counts
		}
		return nil
	})
	return p, err
}

func (p *progress) write(tx *store.Tx) error {
	p.At = tx.Now()
	run, err := json.Marshal(p)
	if err != nil {
		return err
	}
	item := progressKey()
	item["at"] = attr.S(p.At.Format(time.RFC3339))
	item["run"] = attr.S(string(run))
	_, err = tx.Put(store.PutItem{Table: tableSteps, Item: item, NoOld: true})
	return err
}
