package inject

import (
	"cmp"
	"math"
	"math/rand/v2"
	"net/http"
	"time"
)

// Fault is what is injected into a request. The zero value is nothing. The fields are in the order in which they apply: first the wait,
// then at most one replacement of the request, then effects on its processing.
type Fault struct {
	Rules []string // names of the rules that applied, for the log; nil: no fault

	Wait        time.Duration // wait before processing or refusing
	DropRequest bool          // close the connection, do nothing
	Refusal     *Refusal      // answer with this, do nothing
	Conflict    *Choice       // cancel the transaction with ConflictCode for the chosen item

	Unprocessed *Choice       // return the chosen items of the batch unprocessed, by their order in it
	IndexDelay  time.Duration // read global indexes as they were that long ago; 0: as they are
	DropAnswer  bool          // process the request, then close the connection
}

// Cancellation reason of an injected conflict.
const (
	ConflictCode    = "TransactionConflict"
	ConflictMessage = "Transaction is ongoing for the item"
)

// Refusal is an error in the service's words.
type Refusal struct {
	Status  int    // HTTP status
	Type    string // with namespace
	Message string
}

const ofModel = "com.amazonaws.dynamodb.v20120810#"

// throttles are the service's errors for too many requests.
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

// Choice chooses some of a request's items, the same ones at each call.
type Choice struct {
	share float64 // share of the items; 0: exactly one item
	seed  uint64
}

// ChooseOf returns which of n items are chosen: at least one, unless n is 0.
func (c *Choice) ChooseOf(n int) []bool {
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
