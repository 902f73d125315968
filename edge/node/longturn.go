package node

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/touchline/touchline/httpapi/dynamoapi"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// notReadyFrom is how long one transaction may hold the writer before the node is not ready.
const notReadyFrom = time.Second

// NameLongTurns logs each transaction that kept other writers waiting, with its caller.
func NameLongTurns(s *store.Store, log *slog.Logger) {
	s.OnLongTurn(func(t store.LongTurn) {
		by := []any{"by", "the node itself"}
		if who, ok := dynamoapi.CallerOf(t.Context); ok {
			by = []any{"key", who.Key, "operation", who.Operation, "tables", who.Tables}
		}
		what := "a transaction held the writer"
		if !t.Over {
			what = "a transaction holds the writer; waiting writes are refused"
		}
		log.Warn(what, append(by, "ms", t.Held.Milliseconds())...)
	})
}

// heldWriter returns an error if one transaction has held the writer for too long.
func heldWriter(st *store.Stats) error {
	if st.Held < notReadyFrom {
		return nil
	}
	return fault.New(fault.Unavailable, "writer_held", "%s", fmt.Sprintf("one transaction has held the writer for %v, and %d are waiting",
		st.Held.Round(time.Millisecond), st.Waiting))
}
