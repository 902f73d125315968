// Command benchapi measures the DynamoDB endpoint as its clients see it: aws-sdk-go-v2 asks over loopback, with one
// client and with 16, and the same is asked of others in the same run. It prints one table of targets, and one of all
// figures. docs/PERFORMANCE.md says how to read them.
//
//	benchapi [-quick] [-rows regexp] [-o text|json] [-dir folder] [-binary file]
//
// # Who is asked
//
//   - ours: the program touchline with its command dynamodb, once with a file, where every write is synced, and once
//     with --memory.
//   - canned: a server of net/http that reads each request and answers bytes that are ready, as many as a true answer
//     has. It is the limit of the client, which does most of the work.
//   - dynalite, of npm, in memory. It has no transactions.
//   - DynamoDB Local, in memory and on the same disk as ours, as Java runs it by default.
//
// Each is a process of its own and has all processors, as the client has. A peer that this machine cannot run is left
// out, and the report says why.
//
// # Method
//
// What is compared runs in turns, and the order of a turn changes from round to round; figures are medians of the
// slices. The first round is not counted, and before it Java is given time to compile what it is asked. Requests
// are made before the time begins, and are the same for all; the client does not repeat any.
//
// The table has 10,000 items of 13 attributes and about 1 KB, in partitions of a hundred. Writes replace items, so that
// the table keeps its size. No two clients write the same item at once. Every condition holds.
//
// Memory is what a server has resident after the run; what of it is no page of a file stands behind it. The time to
// start is from exec to the answer of the first request; ours opens the file that the run has left.
package main
