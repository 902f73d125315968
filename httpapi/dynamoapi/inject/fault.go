package inject

import (
	"cmp"
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// Fault is what is to happen to a request. The zero value is nothing. Its parts are in the order in which they are due:
// first the wait, then at most one of what is instead of the request, then what is at the end.
type Fault struct {
	Rules []string // the names of the rules that it comes from, for the log; nil: no fault

	Wait        time.Duration // before the request is done, or refused
	DropRequest bool          // the connection is to be closed, and nothing to be done
	Refusal     *Refusal      // the answer, and nothing is to be done
	Conflict    *Choice       // a transaction is to be cancelled with ConflictCode for the one of its items that is chosen

	Unprocessed *Choice       // the items of a batch that are to be left, and given back, by the order in which it has them
	IndexDelay  time.Duration // global indexes are to be read as they were that long ago; 0: as they are
	DropAnswer  bool          // the connection is to be closed when the request is done
}

// What the reason says for which a transaction is cancelled.
const (
	ConflictCode    = "TransactionConflict"
	ConflictMessage = "Transaction is ongoing for the item"
)

// Refusal is an error of the service, in its words.
type Refusal struct {
	Status  int    // of HTTP
	Type    string // with its namespace
	Message string
}

const ofModel = "com.amazonaws.dynamodb.v20120810#"

// throttles are the ways in which the service says that there are too many requests.
var throttles = map[string]Refusal{
	"ProvisionedThroughputExceededException": {
		http.StatusBadRequest, ofModel + "ProvisionedThroughputExceededException",
		"The level of configured provisioned throughput for the table was exceeded. " +
			"Consider increasing your provisioning level with the UpdateTable API.",
	},
	"ThrottlingException": {
		http.StatusBadRequest, "com.amazon.coral.availability#ThrottlingException",
		"Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index " +
			"so please try again shortly. If exceptions persist, check if you have a hot key: " +
			"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
	},
	"RequestLimitExceeded": {
		http.StatusBadRequest, ofModel + "RequestLimitExceeded",
		"Throughput exceeds the current throughput limit for your account. Please contact AWS Support at " +
			"https://aws.amazon.com/support to request a limit increase",
	},
}

func throttle(name string) *Refusal {
	r := throttles[cmp.Or(name, "ProvisionedThroughputExceededException")]
	return &r
}

// Choice chooses some of a request's items. It chooses the same ones whenever it is asked.
type Choice struct {
	share float64 // of the items; 0: one of them
	seed  uint64
}

// Of returns which of n items are chosen: at least one, if there is any.
func (c *Choice) Of(n int) []bool {
	out := make([]bool, n)
	if n == 0 {
		return out
	}
	some := max(1, min(n, int(math.Ceil(c.share*float64(n)))))
	for _, i := range rand.New(rand.NewPCG(c.seed, uint64(n))).Perm(n)[:some] {
		out[i] = true
	}
	return out
}
