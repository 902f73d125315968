package replica

import (
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// Limits are thresholds that parts of the protocol depend on. Tests set them low, so that a history of minutes and three nodes prunes
// marks, forgets holds and reads page by page.
type Limits struct {
	Marks    int           // marks on an item above which a send removes settled ones
	Signed   time.Duration // how long a signed request can arrive
	Tell     time.Duration // how often a node reports how far it has settled
	Page     int           // items per page of the feed: one transaction must not hold the writers up
	Aside    int           // batches that a worker keeps in hand; the rest is read again later
	Scan     int           // batches of the outbox read in one View
	InFlight int           // batches marked in one commit
	Folds    int           // entries folded into one
	Heads    int           // batches of an item announced as leading; with more, the workers read the outbox again
}

// UsualLimits returns the limits used in production.
func UsualLimits() Limits {
	return Limits{Marks: intent.ManyMarks, Signed: intent.SignedFor, Tell: time.Minute, Page: 200, Aside: 1024, Scan: 128, InFlight: 64, Folds: 64, Heads: 64}
}
