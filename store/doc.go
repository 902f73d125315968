// Package store is an embedded database that behaves like DynamoDB: tables with a partition key and an optional sort
// key, conditional writes, secondary indexes, queries and scans, over one bbolt file. It adds what DynamoDB lacks:
// transactions that are closures, indexes that are never stale, and a journal of every write that is the outbox, the
// change feed and the event log at once.
//
// Open a Store, Define the tables, then Update and View. DESIGN.md says how it works and what a crash does.
package store
