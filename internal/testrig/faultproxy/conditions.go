package faultproxy

import (
	"math/rand/v2"
	"time"
)

// Fault is what is done to a request.
type Fault uint8

// The faults.
const (
	None         Fault = iota
	Refuse             // nobody listens: connections are refused, those that were open are reset
	Reset              // the connection is reset when the request has come, which goes no further
	Partition          // nothing passes, and nobody is told. What was held when it ends arrives then, every other time
	HalfOpen           // the request vanishes, and its connection stays open for ever
	LoseAnswers        // the request is carried out; its answer vanishes, and its connection stays open
	DropAnswer         // the request is carried out; its connection is closed instead of an answer
	ResetMidBody       // the request is carried out; its connection is reset within the answer
	Slow               // Delay each way, and Rate
	Duplicate          // the request is carried out and answered, and a copy of it is carried out after Late
	numFaults
)

// String names the fault for logs.
func (f Fault) String() string {
	names := [numFaults]string{"none", "refuse", "reset", "partition", "half-open", "lose answers", "drop answer",
		"reset mid-body", "slow", "duplicate"}
	return names[f]
}

// Faults are all of them.
func Faults() []Fault {
	out := make([]Fault, 0, numFaults-1)
	for f := Refuse; f < numFaults; f++ {
		out = append(out, f)
	}
	return out
}

// Conditions are which requests meet which fault.
type Conditions struct {
	Fault  Fault
	Chance float64       // of each request to meet it; 0: all do. Refuse and Partition meet all
	Delay  time.Duration // with Slow: of request and of answer
	Rate   int           // with Slow: bytes of the answer a second; 0: as fast as it goes
	Late   time.Duration // with Duplicate
	Flap   time.Duration // the fault is there this long, then as long not; 0: it stays
}

// Draw makes conditions of a fault by a seed's generator: mild enough that some requests get through where the fault has it
// so, and bad enough that requests with a deadline of some seconds meet it.
func Draw(rng *rand.Rand, f Fault) Conditions {
	c := Conditions{Fault: f, Chance: 0.2 + 0.6*rng.Float64()}
	switch f {
	case Slow:
		c.Delay, c.Rate = time.Duration(rng.IntN(400))*time.Millisecond, 500+rng.IntN(20_000)
	case Duplicate:
		c.Late = time.Duration(rng.IntN(3000)) * time.Millisecond
	case Refuse, Partition, Reset:
		if rng.IntN(3) == 0 {
			c.Flap = time.Duration(50+rng.IntN(500)) * time.Millisecond
		}
	}
	return c
}
