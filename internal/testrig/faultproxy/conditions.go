package faultproxy

import (
	"math/rand/v2"
	"time"
)

// Fault is something that happens to a request.
type Fault uint8

// The faults.
const (
	None        Fault = iota
	Refuse            // connections are refused, open ones are reset
	Reset             // the connection is reset when the request arrives, which goes no further
	Partition         // nothing passes, without any error; every other held request arrives at the end
	HalfOpen          // the request vanishes, and its connection stays open
	LoseAnswers       // the request is carried out; the answer vanishes, and the connection stays open
	DropAnswer        // the request is carried out; the connection is closed instead of an answer
	Slow              // Delay in each direction
	Throttle          // the answer is DynamoDB's that the table's throughput is used up; the request goes no further
	numFaults
)

// String returns the fault's name for logs.
func (f Fault) String() string {
	return [numFaults]string{"none", "refuse", "reset", "partition", "half-open", "lose answers", "drop answer", "slow", "throttle"}[f]
}

// Faults returns all faults.
func Faults() []Fault {
	out := make([]Fault, 0, numFaults-1)
	for f := Refuse; f < numFaults; f++ {
		out = append(out, f)
	}
	return out
}

// Conditions say which requests meet which fault.
type Conditions struct {
	Fault  Fault
	Chance float64       // for each request to meet the fault; 0: all do. Refuse and Partition always meet all
	Delay  time.Duration // for Slow: of request and answer

	Latency time.Duration // of every request and every answer, whatever fault it meets
}

// Draw draws the conditions of a fault: mild enough that some requests get through, if the fault allows that, and bad enough that
// requests with a deadline of some seconds meet it.
func Draw(rng *rand.Rand, f Fault) Conditions {
	c := Conditions{Fault: f, Chance: 0.2 + 0.6*rng.Float64()}
	if f == Slow {
		c.Delay = time.Duration(rng.IntN(400)) * time.Millisecond
	}
	return c
}
