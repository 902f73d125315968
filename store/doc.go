// Package store is an embedded database that behaves like DynamoDB: tables with a partition key and an optional sort key, conditional
// writes, secondary indexes, queries and scans, in one bbolt file. It adds what DynamoDB lacks: transactions as closures, indexes that
// are never stale, and a journal of every write that serves as outbox, change feed and event log at once.
//
// Open a Store, Define the tables, then use Update and View. DESIGN.md describes how it works and what a crash does.
package store
