// Package migrations brings a store, and its cloud, to the state that this binary expects: tables, and changes of data written by earlier
// versions. The applications declare that state.
package migrations

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store"
)

// Schema is what an application, or the node itself, keeps in a store.
type Schema struct {
	Tables []store.TableSpec
	Steps  []Step // in the order of execution; append new ones
}

// tableSteps is a table of the node: the steps that this store has completed.
const tableSteps = "touchline-migrations"

// TableKeys is a table of the node: the fetched keys, by issuer, of the issuers whose tokens users sign in with.
const TableKeys = "touchline-keys"

// WithNode returns the whole schema of a node's store: those of its applications, and the node's own tables.
func WithNode(apps ...Schema) Schema {
	var all Schema
	for _, a := range apps {
		all.Tables, all.Steps = slices.Concat(all.Tables, a.Tables), slices.Concat(all.Steps, a.Steps)
	}
	all.Tables = append(all.Tables,
		Private(tableSteps, "step", "is about this file only"),
		Private(TableKeys, "issuer", "fetched by every node for itself"))
	return all
}

// Private returns the spec of a table that no other node sees.
func Private(name, key, why string) store.TableSpec {
	return store.TableSpec{
		Name: name, Internal: true, Policy: store.PolicyLocal, Why: why,
		Key: store.KeySpec{Partition: store.KeyAttr{Name: key, Type: store.KeyString}},
	}
}

// Apply defines missing tables, protects those of the applications against deletion, and runs the steps that the store has not completed.
// It must run before anything else uses the store. Running it again changes nothing.
func (m Schema) Apply(ctx context.Context, s *store.Store) error {
	if err := s.Define(ctx, m.Tables...); err != nil {
		return err
	}
	if err := m.protect(ctx, s); err != nil {
		return err
	}
	for _, st := range m.Steps {
		if err := st.runStep(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// protect turns on deletion protection for the applications' tables, as in DynamoDB: a node does not work without its tables, and a
// client of the DynamoDB API may not know that an application depends on them.
func (m Schema) protect(ctx context.Context, s *store.Store) error {
	for _, spec := range m.Tables {
		d, err := s.Describe(spec.Name)
		if err != nil {
			return err
		}
		if spec.Internal || d.Settings.Protected {
			continue
		}
		err = s.UpdateTable(ctx, store.TableChange{Table: spec.Name, Settings: func(set *store.TableSettings) error {
			set.Protected = true
			return nil
		}})
		if err != nil {
			return err
		}
	}
	return nil
}
