// Package edge is the composition root: it builds a node from the packages below it and runs it, with one file per task of the binary.
// Only cmd/touchline imports it.
//
// The store is in the middle of a node. The feed poller and the HTTP handlers write to it; the push coordinator, the event streams and
// the pages read its journal.
package edge
