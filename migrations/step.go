package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// Step is a change of existing data. It runs once in the life of a store, in the transaction that records that it has run.
type Step struct {
	Name string // in the record: must never change
	Run  func(tx *store.Tx) error
}

func (st Step) key() attr.Item { return attr.Item{"step": attr.S(st.Name)} }

func (st Step) runStep(ctx context.Context, s *store.Store) error {
	done := false
	err := s.View(ctx, func(tx *store.Tx) error {
		item, err := tx.Get(tableSteps, st.key())
		done = item != nil
		return err
	})
	if err != nil || done {
		return err
	}
	err = s.Update(ctx, func(tx *store.Tx) error {
		if err := st.Run(tx); err != nil {
			return err
		}
		item := st.key()
		item["at"] = attr.S(tx.Now().Format(time.RFC3339))
		_, err := tx.Put(store.PutItem{Table: tableSteps, Item: item})
		return err
	})
	if err != nil {
		return fmt.Errorf("migration %s: %w", st.Name, err)
	}
	return nil
}
