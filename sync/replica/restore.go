package replica

import (
	"context"
	"time"
)

// Catalogue is what a Cloud may tell of its tables beside their items. A Cloud that has it is asked at each connect, now
// and then, and before what is absent there is deleted here: a table that was made again or restored has lost writes.
type Catalogue interface {
	Table(ctx context.Context, name string) (TableState, error)
}

// TableState is which table a name stands for.
type TableState struct {
	ID         string    // another one when the table is made again, or restored
	RestoredAt time.Time // the instant that it was restored to; zero: it was not
}
