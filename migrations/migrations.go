// Package migrations brings a store to what this binary works with. It collects the tables of all applications, and the
// changes of data that earlier versions have written.
package migrations

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
)

// tableSteps is the node's own: which steps this store has behind it.
const tableSteps = "touchline-migrations"

// TableKeys is the node's own: the keys of the issuers whose tokens users sign in with, by issuer, as they were fetched.
const TableKeys = "touchline-keys"

// TableReplays is the node's own: the recorded matches that it plays in the place of its feed.
const TableReplays = "touchline-replays"

// Tables are the tables of all applications and the node's own.
func Tables() []store.TableSpec {
	return append(cricket.Tables(),
		own(tableSteps, "step", "tells of this file alone"),
		own(TableKeys, "issuer", "fetched by every node for itself"),
		own(TableReplays, "deck", "played by this node alone"),
	)
}

// own is a table that no application has, and no other node sees.
func own(name, key, why string) store.TableSpec {
	return store.TableSpec{
		Name: name, Internal: true, Policy: store.PolicyLocal, Why: why,
		Key: store.KeySpec{Partition: store.KeyAttr{Name: key, Type: store.KeyString}},
	}
}

// Apply defines the tables that are missing, protects the applications' against deletion, and takes the steps that the store does not have behind it. It is done before
// anything else uses the store, and doing it again changes nothing.
func Apply(ctx context.Context, s *store.Store) error {
	if err := s.Define(ctx, Tables()...); err != nil {
		return err
	}
	if err := protect(ctx, s); err != nil {
		return err
	}
	for _, st := range steps() {
		if err := st.take(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// protect has the deletion of an application's table refused, as DynamoDB does where deletion protection is on: a node
// does not work without its tables, and a client of the DynamoDB API may not know that one is behind them.
func protect(ctx context.Context, s *store.Store) error {
	for _, spec := range Tables() {
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
