// Package measure is the harness of the measurement programs: bench (the store), benchapi (the DynamoDB endpoint) and benchsync (the
// replicator). It has the command line and lifecycle of a run, rows with targets that are printed as a table, interleaved samples,
// processor time and memory of processes, and the common test items, for our store and for the SDK.
package measure
