package simcloud

import (
	"slices"
	"strings"
)

// Fault is a fault between a node and the cloud.
type Fault uint8

// Faults that affect one request.
const (
	None          Fault = iota
	DropRequest         // the request never arrives
	DropAnswer          // the request is done; the answer never arrives
	Delay               // takes seconds, perhaps longer than anybody waits
	LateCopy            // done and answered, and done again up to a signature's lifetime later; for writes that can create an item: LateLost
	LateLost            // no answer, and the request arrives that late
	Reorder             // later requests overtake it
	Duplicate           // the request arrives twice at once
	SlowBody            // done; the answer arrives too slowly to wait for
	ResetMidBody        // done; the connection ends in the middle of the answer
	Throttle            // refused for its rate
	ErrorApplied        // 500, although it was done
	ErrorDropped        // 500, and it was not done
	TxnConflict         // refused because of a transaction on the same item
	TxnInProgress       // the same transaction is in progress
)

// Faults that last.
const (
	Partition     Fault = iota + 64 // nothing passes
	OneWayOut                       // requests do not arrive, as if only answers passed
	OneWayIn                        // requests arrive, answers do not
	Flapping                        // on and off every second or so
	HalfOpen                        // connections look alive but nothing passes
	NoDNS                           // no name resolution, no route: refused at once
	Portal                          // a captive portal answers 200 with its own page
	Storm                           // 503 for nearly everything
	NoCredentials                   // the credentials have expired
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

// String returns the name of the fault in logs.
func (f Fault) String() string { return faultNames[f] }

// Moments returns the faults that affect one request.
func Moments() []Fault { return list(func(f Fault) bool { return f < Partition }) }

// Modes returns the faults that last.
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
