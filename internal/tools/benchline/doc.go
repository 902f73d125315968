// Command benchline measures how far a node lags behind its cloud over poor lines: lines that lose answers, are slow, are cut, or throttle.
//
//	benchline [-lines name,...] [-for 60s] [-rate 10] [-seed n] [-dir folder]
//
// # Method
//
// Every line has its own cloud (the endpoint of touchline dynamodb, in memory), its own proxy, which injects the faults into HTTP over
// loopback, and its own replicator with a store on disk. All lines are measured at once, since they are idle for most of the time. The store
// has ten tables that it sends, all of them polled: one every five seconds, the others every thirty. At a steady rate, half of the writes
// create items in one of forty partitions, the others add to one of ten counters. All go to one table.
//
// The status is read every 50 ms: "offline" is the share of the time in which it says so, "waiting" the most writes that waited at once,
// "lag" the greatest age of the oldest of them. They are measured while the writes are made and until the last one has arrived.
// The latency is that of each direction. Once the line is good again, every write must be in the cloud, and each counter must have the sum
// of its writes; otherwise the program fails.
package main
