package migrations

import (
	"context"

	"github.com/touchline/touchline/store"
)

// RunWith is a run that calls batch after each batch that was written.
func RunWith(ctx context.Context, s *store.Store, o LAv2Options, batch func(n int) error) (LAv2Report, error) {
	m := NewLAv2(s, LAv2Names{})
	m.batch = batch
	return m.Run(ctx, o)
}
