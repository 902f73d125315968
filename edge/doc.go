// Package edge is the composition root: it builds a node of the packages below it and runs it, with one file for
// each thing the binary can do. Nothing but cmd/touchline imports it.
//
// A node: the store in the middle; the feed poller and the HTTP handlers write to it; the push coordinator, the
// event streams and the pages read its journal.
package edge
