package main

import "github.com/touchline/touchline/internal/tools/measure"

// many is the number of clients in measurements with more than one.
const many = 16

// targets has the rows in the order of the table. In groups about operations, the id of a row ends with the operation's.
var targets = []measure.Target{
	measure.AtLeast("peers/put", "PutItem, 16 clients", best, 1.3),
	measure.AtLeast("peers/put-if", "PutItem with a condition, 16 clients", best, 1.3),
	measure.AtLeast("peers/get", "GetItem, 16 clients", best, 1.3),
	measure.AtLeast("peers/query", "Query of 20, 16 clients", best, 1.3),
	measure.AtLeast("peers/update", "UpdateItem, 16 clients", best, 1.3),
	measure.AtLeast("peers/transact", "TransactWriteItems of 2, 16 clients", best, 1.3),
	measure.AtLeast("peers/batch", "BatchWriteItem of 25, 16 clients", best, 1.3),
	measure.AtLeast("canned/get", "GetItem, 16 clients", cannedBytes, 0.75),
	measure.AtLeast("canned/query", "Query of 20, 16 clients", cannedBytes, 0.75),
	measure.AtLeast("alone/put", "PutItem, one client", localDisk, 3),
	measure.AtLeast("alone/put-if", "PutItem with a condition, one client", localDisk, 3),
	measure.AtLeast("alone/update", "UpdateItem, one client", localDisk, 3),
	measure.AtLeast("memory/put", "PutItem, one client, --memory", dynalite, 1),
	measure.AtLeast("memory/put-if", "PutItem with a condition, one client, --memory", dynalite, 1),
	measure.AtLeast("memory/get", "GetItem, one client, --memory", dynalite, 1),
	measure.AtLeast("memory/query", "Query of 20, one client, --memory", dynalite, 1),
	measure.AtLeast("memory/update", "UpdateItem, one client, --memory", dynalite, 1),
	measure.AtLeast("memory/batch", "BatchWriteItem of 25, one client, --memory", dynalite, 1),
	measure.AtLeast("http/get", "GetItem, 16 clients, in a second of its processor time", "gin hello", 0.55),
	measure.AtLeast("http/crowd", "PutItem, 64 bare clients", "one client", 6),
	measure.AtLeast("local/put", "PutItem, one bare client", localDisk, 2),
	measure.AtLeast("local/put-64", "PutItem, 64 bare clients", localDisk, 10),
	measure.AtLeast("local/get", "GetItem, one bare client", localDisk, 3.5),
	measure.AtLeast("local/query", "Query of 20, one bare client", localDisk, 8),
	measure.AtMost("local/memory", "peak resident memory of the run", localDisk, 1.0/15),
	measure.AtMost("resident/file", "resident memory after the run, with a file", "", 64),
	measure.AtMost("resident/memory", "resident memory after the run, --memory", "", 64),
	measure.AtMost("start/file", "first answer after exec, with a file", "", 50),
	measure.AtMost("start/memory", "first answer after exec, --memory", "", 50),
}

// Names of the servers, as in the tables.
const (
	ours        = "touchline"
	oursMemory  = "touchline --memory"
	cannedBytes = "canned bytes"
	dynalite    = "dynalite, in memory"
	localMemory = "DynamoDB Local, in memory"
	localDisk   = "DynamoDB Local, on disk"

	best = "the best peer"
)

// peers has the servers that ours is compared with for many clients.
var peers = []string{dynalite, localMemory, localDisk}
