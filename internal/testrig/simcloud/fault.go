package simcloud

import (
	"slices"
	"strings"
)

// Fault is something that goes wrong between a node and the cloud.
type Fault uint8

// The faults that hit one request.
const (
	None          Fault = iota
	DropRequest         // it never arrives
	DropAnswer          // it is done, and nobody is told
	Delay               // it takes seconds, perhaps longer than anybody waits
	LateCopy            // it is done and answered, and done again up to a signature's lifetime later; what makes an item: LateLost
	LateLost            // no answer, and it arrives that late
	Reorder             // later requests overtake it
	Duplicate           // it arrives twice at once
	SlowBody            // done; the answer drips in until nobody waits any more
	ResetMidBody        // done; the connection ends in the middle of the answer
	Throttle            // refused for its rate
	ErrorApplied        // 500, and it was done
	ErrorDropped        // 500, and it was not
	TxnConflict         // refused for a transaction on the same item
	TxnInProgress       // the same transaction is under way
)

// The faults that last.
const (
	Partition     Fault = iota + 64 // nothing passes
	OneWayOut                       // requests do not arrive, as if only answers passed
	OneWayIn                        // requests arrive, answers do not
	Flapping                        // on and off every second or so
	HalfOpen                        // connections look alive and nothing passes
	NoDNS                           // no name, no route: refused at once
	Portal                          // a captive portal answers 200 with its own page
	Storm                           // 503 for nearly everything
	NoCredentials                   // they have expired
	Crawl                           // everything takes seconds
)

var faultNames = map[Fault]string{
	DropRequest: "drop request", DropAnswer: "drop answer", Delay: "delay", LateCopy: "late copy", LateLost: "late, no answer",
	Reorder: "reorder", Duplicate: "duplicate", SlowBody: "slow body", ResetMidBody: "reset mid-body", Throttle: "throttle",
	ErrorApplied: "500 applied", ErrorDropped: "500 not applied", TxnConflict: "TransactionConflict",
	TxnInProgress: "TransactionInProgress", Partition: "partition", OneWayOut: "one-way partition out",
	OneWayIn: "one-way partition in", Flapping: "flapping", HalfOpen: "half-open", NoDNS: "DNS gone",
	Portal: "captive portal", Storm: "503 storm", NoCredentials: "credentials expire", Crawl: "slow",
}

// String names the fault as the protocol does.
func (f Fault) String() string { return faultNames[f] }

// Moments lists the faults that hit one request, Modes those that last.
func Moments() []Fault { return list(func(f Fault) bool { return f < Partition }) }

// Modes lists the faults that last.
func Modes() []Fault { return list(func(f Fault) bool { return f >= Partition }) }

func list(which func(Fault) bool) (out []Fault) {
	for f := range faultNames {
		if which(f) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Fault) int { return strings.Compare(a.String(), b.String()) })
	return out
}
