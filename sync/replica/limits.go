package replica

import (
	"time"

	"github.com/touchline/touchline/sync/replica/intent"
)

// Limits are thresholds that a history must pass before parts of the protocol come into play. Tests make them small, so that a
// history of minutes and three nodes prunes marks, forgets holds and reads page by page.
type Limits struct {
	Marks  int           // on an item, above which a send takes settled ones away
	Signed time.Duration // for how long a signed request can arrive
	Tell   time.Duration // how often a node tells how far it has settled
	Page   int           // items of a page of the feed: what one transaction takes in must not hold the writers up
	Aside  int           // batches that a lane has in hand; what does not fit is read again later
	Scan   int           // batches of the outbox read in one View
	Window int           // batches marked in one commit
	Folds  int           // entries folded into one
	Heads  int           // batches of an item that are told that they lead: with more the lanes read the outbox anew
}

// UsualLimits returns the limits that are used in production.
func UsualLimits() Limits {
	return Limits{Marks: intent.ManyMarks, Signed: intent.SignedFor, Tell: time.Minute, Page: 200, Aside: 1024, Scan: 128, Window: 64, Folds: 64, Heads: 64}
}
