package httpapi

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/internal/fault"
)

// Sync is what the routes need of whoever keeps the node and the cloud one. A node without a cloud has none.
type Sync interface {
	// Status reports how far they are.
	Status(ctx context.Context) (SyncStatus, error)
	// Conflicts lists records, the newest first.
	Conflicts(ctx context.Context, ask ConflictAsk) (found []Conflict, next uint64, err error)
	// Conflict returns one in whole; an unknown one is fault.NotFound.
	Conflict(ctx context.Context, id uint64) (Conflict, error)
	// Decide does with one what an operator wants: "retry" writes anew what it holds, "discard" notes that it is not
	// wanted. One that has been decided already is fault.Conflict. The record as it is afterwards.
	Decide(ctx context.Context, id uint64, verb string) (Conflict, error)
	// Wait returns when the cloud has all that the transaction of a journal record has written; refused is the
	// conflict, if one of its writes became one. An end of ctx is its error.
	Wait(ctx context.Context, seq uint64) (refused uint64, err error)
}

// syncStatus is the node's account of itself and the cloud; without a cloud it says so.
func (s *Server) syncStatus(ctx context.Context) (SyncStatus, error) {
	if s.cfg.Sync == nil {
		return SyncStatus{At: s.cfg.Clock.Now()}.whole(), nil
	}
	st, err := s.cfg.Sync.Status(ctx)
	return st.whole(), err
}

func (s *Server) getSync(c *gin.Context) error {
	st, err := s.syncStatus(c.Request.Context())
	if err != nil {
		return err
	}
	return writeJSON(c, st)
}

func noCloud() error {
	return fault.New(fault.NotFound, "no_cloud", "This node has no cloud: nothing is sent, and nothing is refused.")
}
