package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// step is a change of data that may be there already. It is taken once in the life of a store, in one transaction with
// the record of it.
type step struct {
	name string // in the record: it stays what it is
	run  func(tx *store.Tx) error
}

// steps are all steps, in the order in which they are taken. A new one comes last.
func steps() []step {
	return []step{
		{"push-state-of-its-own", cricket.MovePushState},
		{"owners-of-device-tokens", cricket.FillDeviceTokens},
	}
}

func (st step) key() attr.Item { return attr.Item{"step": attr.S(st.name)} }

func (st step) take(ctx context.Context, s *store.Store) error {
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
		if err := st.run(tx); err != nil {
			return err
		}
		item := st.key()
		item["at"] = attr.S(tx.Now().Format(time.RFC3339))
		_, err := tx.Put(store.PutItem{Table: tableSteps, Item: item})
		return err
	})
	if err != nil {
		return fmt.Errorf("migration %s: %w", st.name, err)
	}
	return nil
}
