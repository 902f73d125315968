// Command hold measures whether one client can hold a node: whether other people still get their answers, and how soon, while an input is
// played against it.
//
// Each input of the table has a node of its own: the program touchline, started on loopback with an empty database and the limit of open
// files that the input names. The input may prepare the node. Then other people are probed: a request over a new connection every 25 ms,
// each from an address of its own, at fixed times, so that a slow answer delays no later probe. First the node is at rest, which gives the
// baseline, then under the input. Each input fills three rows:
//
//	failed   the probes that got no answer, or an error
//	p99      the 99th percentile of the probes under the input, less that of the baseline
//	memory   the most resident memory that the process had (VmHWM)
//
// A new input is an element of inputs.
package main
