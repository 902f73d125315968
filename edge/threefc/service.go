package threefc

import (
	"sync"
	"time"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/derived"
	"github.com/touchline/touchline/store/table"
)

// Service implements the rules of 3FC on one table. It is safe for concurrent use.
type Service struct {
	table.Handle
	// Skew returns how far the cloud's clock is ahead of this machine's; nil if unknown.
	Skew func() time.Duration

	once sync.Once
	rule *derived.Rule

	leagues directory
	games   gameDirectory
}

// Now returns the time for stamping facts: the cloud's clock if the skew is known, else this machine's.
func (s *Service) Now(tx *store.Tx) time.Time {
	if s.Skew == nil {
		return tx.Now()
	}
	return tx.Now().Add(s.Skew())
}

func (s *Service) stamp(tx *store.Tx) Stamps {
	at := stampOf(s.Now(tx))
	return Stamps{CreatedAt: at, UpdatedAt: at}
}

// NowText returns Now in the format of the rows.
func (s *Service) NowText(tx *store.Tx) string { return stampOf(s.Now(tx)) }
