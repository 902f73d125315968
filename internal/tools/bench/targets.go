package main

// target is one row of the table: what is compared with what, and what the ratio must be.
type target struct {
	id    string // group, slash, row
	what  string
	floor string // what the ratio is to; empty: the limit is about ours alone
	limit float64
	bound bound
}

// bound says on which side of its limit a ratio is good.
type bound bool

const (
	atLeast bound = false
	atMost  bound = true
)

func (b bound) String() string {
	if b == atMost {
		return "<="
	}
	return ">="
}

// met tells whether a measured value meets the target.
func (t target) met(v float64) bool {
	if t.bound == atMost {
		return v <= t.limit
	}
	return v >= t.limit
}

// targets lists the rows in the order of the table. Sizes are those of a full run.
var targets = []target{
	{"lone/raw", "lone put", "raw bbolt Update, same changes", 1.10, atMost},
	{"lone/sync", "lone put, with journal", "4 KB overwrite and fdatasync", 3.5, atMost},
	{"lone/coalesce", "lone put", "its function and its commit alone", 1.05, atMost},
	{"commit/16", "items a commit, 16 writers", "16", 0.95, atLeast},
	{"commit/64", "items a commit, 64 writers", "64", 0.95, atLeast},
	{"commit/256", "items a commit, 256 writers", "256", 0.85, atLeast},
	{"crowd/10k", "64 writers, 10 k items", "one writer", 9, atLeast},
	{"crowd/100k", "64 writers, 100 k items", "one writer", 6, atLeast},
	{"crowd/1m", "64 writers, 1 M items", "one writer", 4, atLeast},
	{"crowd/3gsi", "64 writers, 10 k items, 3 GSIs", "one writer", 4, atLeast},
	{"index/1", "64 writers, 1 GSI, entry changes", "no GSI", 0.52, atLeast},
	{"index/3", "64 writers, 3 GSIs, entries change", "no GSI", 0.28, atLeast},
	{"index/5", "64 writers, 5 GSIs, entries change", "no GSI", 0.18, atLeast},
	{"index/unchanged", "64 writers, 3 GSIs, entries unchanged", "no GSI", 0.90, atLeast},
	{"loop/journal", "raw loop, 64 puts a commit, journal", "raw loop without journal", 0.93, atLeast},
	{"loop/rate", "64 writers", "raw loop, 64 puts a commit", 0.85, atLeast},
	{"loop/cpu", "64 writers, CPU time a put", "raw loop, 64 puts a commit", 1.25, atMost},
	{"get/raw", "View and Get, encoded item", "raw View and Get", 1.15, atMost},
	{"get/json", "View and Get to JSON", "raw View and Get", 2.5, atMost},
	{"codec/decode", "decode an item", "encoding/json", 6, atLeast},
	{"codec/json-out", "JSON out", "encoding/json", 12, atLeast},
	{"codec/json-out-allocs", "JSON out, allocations", "", 0, atMost},
	{"codec/json-in", "JSON in, to the encoded item", "encoding/json", 4, atLeast},
	{"codec/filter", "filter on the encoded item", "decode, then filter", 6, atLeast},
	{"query/100", "Query of 100 items to JSON, an item", "", 1.0, atMost},
	{"query/scan", "filtered Scan", "", 2e6, atLeast},
	{"http/get", "GET of an item, one processor", "gin hello", 0.55, atLeast},
	{"http/crowd", "PUT, 64 clients", "one client", 6, atLeast},
	{"local/put", "PUT, one client", "DynamoDB Local on disk", 2, atLeast},
	{"local/put-64", "PUT, 64 clients", "DynamoDB Local on disk", 10, atLeast},
	{"local/get", "GET, one client", "DynamoDB Local on disk", 3.5, atLeast},
	{"local/query", "Query of 20 items, one client", "DynamoDB Local on disk", 8, atLeast},
	{"local/memory", "peak resident memory after that", "DynamoDB Local on disk", 1.0 / 15, atMost},
	{"start/memory", "anonymous memory, 1.3 GB file open", "", 16, atMost},
	{"start/load", "anonymous memory, under load", "", 64, atMost},
	{"start/clean", "open, closed in order, cold", "", 20, atMost},
	{"start/crash", "open after a kill, cold, a GB", "", 1.5, atMost},
}
