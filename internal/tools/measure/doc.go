// Package measure is the harness of the programs that measure touchline: bench (the store), benchapi (the DynamoDB endpoint)
// and benchsync (the replicator). It has the command line and the life of a run, the rows that are held against a target and
// printed as a table, samples of things that are compared in turns, processes with their processor time and memory, and the
// items that all of them write, for our store and for the SDK.
package measure
