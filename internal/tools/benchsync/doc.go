// Command benchsync measures how fast queued writes drain into DynamoDB, and what they cost there, compared with the bare SDK client
// making the application's own calls with the same concurrency in the same run. The server is DynamoDB Local, in memory.
//
//	benchsync [-writes n] [-mixes name,...] [-dir folder]
//
// # Method
//
// For each mix, the items to be updated or deleted are first created through the replicator, which is not counted. Then writes to items
// of 500 bytes are queued while the replicator is stopped. The clock runs from its start until the outbox is empty, including all that
// belongs to that: settling, the replay log, and syncs of a store on disk. Each write has an item of its own, except for a fifth of the
// updates outside of transactions: they go to items with ten updates each, sixteen such items in turn. Such an update appends its number
// to a list in the item, which prevents folding, so it is sent like the others. The follows of one match are creates of items in one
// partition, 2,000 at most, and each of their requests takes 80 ms in addition to the server's time: this measures how many are in flight
// at once. The bare client makes the same calls on a table of its own: UpdateItem, PutItem with attribute_not_exists and DeleteItem, with
// as many at once. Which of the two goes first alternates from mix to mix.
//
// Write units are computed from the calls sent, by DynamoDB's rule: one unit for each kilobyte or part of it of the larger image, two
// within a transaction.
package main
