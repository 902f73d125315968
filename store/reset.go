package store

import (
	"context"
	"math"

	"github.com/touchline/touchline/internal/fault"
)

// Reset takes every item out of the database in one commit, and forgets the tokens of transactions: readers see the tables as
// they were, or all of them empty. Each table is dropped, protected or not, and made again with its indexes and settings, under
// another TableDescription.ID; with tables they are only dropped. It returns the names of the tables. A database with a table
// whose writes are sent elsewhere is refused: fault.Conflict.
func (s *Store) Reset(ctx context.Context, tables bool) (names []string, err error) {
	err = s.Update(ctx, func(tx *Tx) error {
		names = nil
		for _, spec := range tx.cat.specs() {
			if tx.cat.tables[spec.Name].sends {
				return fault.New(fault.Conflict, "table_sends", "table %s is replicated: it cannot be reset", spec.Name)
			}
			if !spec.Internal {
				names = append(names, spec.Name)
			}
		}
		return tx.breakOff(tx.resetSteps(names, tables))
	})
	return names, err
}

func (tx *Tx) resetSteps(names []string, tables bool) error {
	for _, name := range names {
		t := tx.cat.tables[name]
		if err := tx.dropTable(t); err != nil {
			return err
		}
		if tables {
			continue
		}
		if err := tx.createTable(cloneSpec(t.spec), t.settings); err != nil {
			return err
		}
	}
	return tx.forgetAllTokens()
}

// forgetAllTokens takes out all tokens, of whatever age.
func (tx *Tx) forgetAllTokens() error {
	bucket := tx.btx.Bucket(bucketTokens)
	if bucket == nil {
		return nil
	}
	keys, values := firstEntries(bucket, math.MaxInt)
	for i, k := range keys {
		if err := tx.batch.remove(bucket, k, values[i]); err != nil {
			return err
		}
	}
	return nil
}
