// Command benchapi measures the DynamoDB endpoint as its clients see it: aws-sdk-go-v2 calls it over loopback, with one client and with
// 16, and makes the same calls to other servers in the same run. It prints a table of targets and a table of all figures.
// docs/PERFORMANCE.md explains how to read them.
//
//	benchapi [-quick] [-rows regexp] [-o text|json] [-dir folder] [-binary file]
//
// # Servers
//
//   - ours: the program touchline with its command dynamodb, once with a file, where every write is synced, and once with --memory.
//   - canned: a gin server that reads each request and answers with prepared bytes, as many as a real answer has. It shows the
//     limit of the client, which does most of the work.
//   - dynalite, from npm, in memory. It has no transactions.
//   - DynamoDB Local, in memory and on the same disk as ours, with Java's default settings.
//
// Each is a process of its own and has all processors, as the client does. A peer that this machine cannot run is left out, and the
// report says why.
//
// # Method
//
// The rows of http/ and local/ have bare clients instead of the SDK, up to 64: each sends prepared requests, byte for byte the SDK's, on a
// connection of its own. With one such client at a time the server decides the rate. The gin hello is a route of the canned server that
// answers a few bytes; the processor time of the two servers is compared.
//
// The servers are measured in turns, and the order of the turns changes from round to round; figures are medians of the slices. The first
// round is not counted, and before it Java gets time to compile the code it needs. Requests are prepared in advance and are the same for
// all; the client does not retry.
//
// The table has 10,000 items of 13 attributes and about 1 KB, in partitions of a hundred. Writes replace items, so the table keeps its
// size. No two clients write the same item at once. Every condition holds.
//
// Memory is the resident memory of a server after the run, followed by the part that is not file pages. The time to start is from exec to
// the answer of the first request; ours opens the file that the run has left.
package main
