package main

import "github.com/touchline/touchline/internal/tools/measure"

// targets has the rows in the order of the table. Sizes are those of a full run.
var targets = []measure.Target{
	measure.AtMost("lone/raw", "lone put", "raw bbolt Update, same changes", 1.10),
	measure.AtMost("lone/sync", "lone put, with journal", "4 KB overwrite and fdatasync", 3.5),
	measure.AtMost("lone/coalesce", "lone put", "its function and its commit alone", 1.05),
	measure.AtLeast("commit/16", "items a commit, 16 writers", "16", 0.95),
	measure.AtLeast("commit/64", "items a commit, 64 writers", "64", 0.95),
	measure.AtLeast("commit/256", "items a commit, 256 writers", "256", 0.85),
	measure.AtLeast("crowd/10k", "64 writers, 10 k items", "one writer", 9),
	measure.AtLeast("crowd/100k", "64 writers, 100 k items", "one writer", 6),
	measure.AtLeast("crowd/1m", "64 writers, 1 M items", "one writer", 4),
	measure.AtLeast("crowd/3gsi", "64 writers, 10 k items, 3 GSIs", "one writer", 4),
	measure.AtLeast("index/1", "64 writers, 1 GSI, entry changes", "no GSI", 0.52),
	measure.AtLeast("index/3", "64 writers, 3 GSIs, entries change", "no GSI", 0.28),
	measure.AtLeast("index/5", "64 writers, 5 GSIs, entries change", "no GSI", 0.18),
	measure.AtLeast("index/unchanged", "64 writers, 3 GSIs, entries unchanged", "no GSI", 0.90),
	measure.AtLeast("loop/journal", "raw loop, 64 puts a commit, journal", "raw loop without journal", 0.93),
	measure.AtLeast("loop/rate", "64 writers", "raw loop, 64 puts a commit", 0.85),
	measure.AtMost("loop/cpu", "64 writers, CPU time a put", "raw loop, 64 puts a commit", 1.25),
	measure.AtMost("get/raw", "View and Get, encoded item", "raw View and Get", 1.15),
	measure.AtMost("get/json", "View and Get to JSON", "raw View and Get", 2.5),
	measure.AtLeast("codec/decode", "decode an item", "encoding/json", 6),
	measure.AtLeast("codec/json-out", "JSON out", "encoding/json", 12),
	measure.AtMost("codec/json-out-allocs", "JSON out, allocations", "", 0),
	measure.AtLeast("codec/json-in", "JSON in, to the encoded item", "encoding/json", 4),
	measure.AtLeast("codec/filter", "filter on the encoded item", "decode, then filter", 6),
	measure.AtMost("query/100", "Query of 100 items to JSON, an item", "", 1.0),
	measure.AtLeast("query/scan", "filtered Scan", "", 2e6),
	measure.AtMost("start/memory", "anonymous memory, 1.3 GB file open", "", 16),
	measure.AtMost("start/load", "anonymous memory, under load", "", 64),
	measure.AtMost("start/clean", "open, closed in order, cold", "", 20),
	measure.AtMost("start/crash", "open after a kill, cold, a GB", "", 1.5),
}
