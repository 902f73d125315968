// Package migrations brings a store to what this binary works with. It collects the tables of all applications;
// later format changes of their data belong here too, ordered and recorded.
package migrations

import (
	"context"

	"github.com/touchline/touchline/edge/cricket"
	"github.com/touchline/touchline/store"
)

// Tables are the tables of all applications.
func Tables() []store.TableSpec { return cricket.Tables() }

// Apply defines the tables that are missing. It is done before anything else uses the store, and doing it again
// changes nothing.
func Apply(ctx context.Context, s *store.Store) error { return s.Define(ctx, Tables()...) }
