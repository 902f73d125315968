package threefc

import (
	"time"

	"github.com/touchline/touchline/store"
)

// Service is the application over a table. It is safe for concurrent use.
type Service struct {
	Table string
	// Skew is what the cloud's clock is ahead of this machine's; nil: nobody knows.
	Skew func() time.Duration
}

// Now is the time that facts are stamped with: the cloud's, as far as it is known.
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

// NowText is Now as rows have it.
func (s *Service) NowText(tx *store.Tx) string { return stampOf(s.Now(tx)) }
