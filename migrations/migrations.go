// Package migrations brings a store, and its cloud, to what this binary works with: tables, and changes of data that earlier
// versions have written. What that is comes from the applications.
package migrations

import (
	"context"
	"slices"

	"github.com/touchline/touchline/store"
)

// Schema is what an application, or the node itself, keeps in a store.
type Schema struct {
	Tables []store.TableSpec
	Steps  []Step // in the order in which they are taken; a new one comes last
}

// tableSteps is the node's own: which steps this store has behind it.
const tableSteps = "touchline-migrations"

// TableKeys is the node's own: the keys of the issuers whose tokens users sign in with, by issuer, as they were fetched.
const TableKeys = "touchline-keys"

// WithNode is everything in a node's store: the schemas of its applications, and the node's own tables.
func WithNode(apps ...Schema) Schema {
	var all Schema
	for _, a := range apps {
		all.Tables, all.Steps = slices.Concat(all.Tables, a.Tables), slices.Concat(all.Steps, a.Steps)
	}
	all.Tables = append(all.Tables,
		Private(tableSteps, "step", "tells of this file alone"),
		Private(TableKeys, "issuer", "fetched by every node for itself"))
	return all
}

// Private is a table that no other node sees.
func Private(name, key, why string) store.TableSpec {
	return store.TableSpec{
		Name: name, Internal: true, Policy: store.PolicyLocal, Why: why,
		Key: store.KeySpec{Partition: store.KeyAttr{Name: key, Type: store.KeyString}},
	}
}

// Apply defines the tables that are missing, protects the applications' against deletion, and takes the steps that the store
// does not have behind it. It is done before anything else uses the store, and doing it again changes nothing.
func (m Schema) Apply(ctx context.Context, s *store.Store) error {
	if err := s.Define(ctx, m.Tables...); err != nil {
		return err
	}
	if err := m.protect(ctx, s); err != nil {
		return err
	}
	for _, st := range m.Steps {
		if err := st.take(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// protect has the deletion of an application's table refused, as DynamoDB does where deletion protection is on: a node
// does not work without its tables, and a client of the DynamoDB API may not know that one is behind them.
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
