package store

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/refusal"
	"github.com/touchline/touchline/store/internal/txn"
)

// Define creates missing tables and changes existing ones to match their specs: it adds and drops indexes, except those that UpdateTable
// added; TTL attribute and policy change at once. The settings of a table stay as they are. It returns when new indexes are filled; if it
// fails before that, or ctx ends, Housekeep or the next Define continues. Keys, projections and local indexes cannot change:
// fault.Conflict, code table_differs. Tables that are not named stay as they are. Defining what already exists writes nothing.
func (s *Store) Define(ctx context.Context, specs ...TableSpec) error {
	err := s.Update(ctx, func(tx *Tx) error {
		for _, spec := range specs {
			if err := spec.Check(); err != nil {
				return err
			}
			if err := tx.define(catalogue.CloneSpec(spec)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, spec := range specs {
		if err == nil {
			err = s.keeper.FillTable(ctx, spec.Name)
		}
	}
	return err
}

// CreateTable creates a table. If the name is taken, the error is fault.Conflict with code table_exists.
func (s *Store) CreateTable(ctx context.Context, spec TableSpec, settings TableSettings) error {
	if err := errors.Join(spec.Check(), settings.Stream.Check()); err != nil {
		return err
	}
	return s.Update(ctx, func(tx *Tx) error {
		if tx.core.Cat.ByName[spec.Name] != nil {
			return fault.New(fault.Conflict, "table_exists", "Table already exists: %s", spec.Name)
		}
		return tx.core.BreakOff(tx.core.CreateTable(catalogue.CloneSpec(spec), settings))
	})
}

// UpdateTable adds indexes to a table and drops others. A new index on a table with many items starts as IndexCreating: every write
// maintains it, reads of it are refused, and Housekeep fills it. A dropped index is gone at once.
//
// Errors are DynamoDB's: fault.NotFound if the table or an index to be dropped does not exist, fault.Invalid if a new index exists
// already or is local.
func (s *Store) UpdateTable(ctx context.Context, c TableChange) error {
	if len(c.AddIndexes)+len(c.DropIndexes) == 0 && c.TTL == nil && c.Settings == nil {
		return refusal.Invalid("At least one of AddIndexes, DropIndexes, TTL or Settings is required")
	}
	return s.engine.Update(ctx, func(tx *txn.Tx) error {
		t, err := tx.Table(c.Table)
		if err != nil {
			return err
		}
		spec, err := c.NewSpec(t.Spec)
		if err != nil {
			return err
		}
		settings, err := c.NewSettings(t)
		if err != nil || catalogue.SameSpec(t.Spec, spec) && reflect.DeepEqual(settings.Plain(), t.Settings) {
			return err
		}
		return tx.BreakOff(tx.ChangeTable(t, spec, settings, true))
	})
}

func (tx *Tx) define(spec TableSpec) error {
	have := tx.core.Cat.ByName[spec.Name]
	if have == nil {
		return tx.core.BreakOff(tx.core.CreateTable(spec, TableSettings{}))
	}
	for _, ix := range have.Indexes {
		if ix.Added && spec.IndexSpec(ix.Spec.Name) == nil {
			spec.Indexes = append(spec.Indexes, ix.Spec)
		}
	}
	if err := errors.Join(spec.Check(), have.Spec.MayBecome(spec)); err != nil {
		return err
	}
	if catalogue.SameSpec(have.Spec, spec) {
		return nil
	}
	return tx.core.BreakOff(tx.core.ChangeTable(have, spec, have.Settings, false))
}

// Describe describes a table. A missing table is fault.NotFound.
func (s *Store) Describe(name string) (TableDescription, error) {
	t := s.engine.Cat.Load().ByName[name]
	if t == nil {
		return TableDescription{}, catalogue.NoTable(name)
	}
	d := TableDescription{
		Spec: catalogue.CloneSpec(t.Spec), ID: t.UUID, Settings: t.Settings.Clone(), Streams: t.ShownStreams(s.engine.Opts.Now()),
	}
	if t.Created != 0 {
		d.Created = time.Unix(0, t.Created).UTC()
	}
	for _, ix := range t.Indexes {
		id := IndexDescription{Name: ix.Spec.Name, Status: IndexActive}
		if ix.Fill != nil {
			id.Status, id.Filled = IndexCreating, ix.Fill.Items
		}
		d.Indexes = append(d.Indexes, id)
	}
	return d, nil
}

// DropTable removes a table with its indexes and items, for all readers at once. Its journal records stay until they are trimmed, its
// streams are listed for StreamAge, and Housekeep frees its space. A table created later under the same name is a new one. A protected
// table is fault.Invalid.
func (s *Store) DropTable(ctx context.Context, name string) error {
	return s.Update(ctx, func(tx *Tx) error {
		t, err := tx.table(name)
		if err != nil {
			return err
		}
		if t.Settings.Protected {
			return refusal.Invalid("Resource cannot be deleted as it is currently protected against deletion. " +
				"Disable deletion protection first.")
		}
		return tx.core.BreakOff(tx.core.DropTable(t))
	})
}

// Reset removes every item from the database in one commit and forgets all transaction tokens: readers see the tables as they were, or
// all of them empty. Internal tables stay. Each other table, protected or not, is dropped and created again with its indexes and settings,
// under a new TableDescription.ID. If tables is true, tables are only dropped. It returns the names of these tables. A database with a
// table that sends its writes to the cloud is refused with fault.Conflict.
func (s *Store) Reset(ctx context.Context, tables bool) (names []string, err error) {
	err = s.Update(ctx, func(tx *Tx) error {
		names = nil
		for _, spec := range tx.core.Cat.Specs() {
			if tx.core.Cat.ByName[spec.Name].Sends {
				return fault.New(fault.Conflict, "table_sends", "table %s is replicated: it cannot be reset", spec.Name)
			}
			if !spec.Internal {
				names = append(names, spec.Name)
			}
		}
		return tx.core.BreakOff(tx.resetSteps(names, tables))
	})
	return names, err
}

func (tx *Tx) resetSteps(names []string, tables bool) error {
	for _, name := range names {
		t := tx.core.Cat.ByName[name]
		if err := tx.core.DropTable(t); err != nil {
			return err
		}
		if tables {
			continue
		}
		if err := tx.core.CreateTable(catalogue.CloneSpec(t.Spec), t.Settings); err != nil {
			return err
		}
	}
	return tx.core.ForgetAllTokens()
}
