// Command benchsync measures how fast queued writes drain into a DynamoDB, and what they cost there: beside the bare SDK
// client making the application's own calls with the same concurrency in the same run. The server is DynamoDB Local, in
// memory.
//
//	benchsync [-writes n] [-mixes name,...] [-lanes n] [-dir folder]
//
// # Method
//
// For each mix the items that are updated or deleted are made first, through the replicator, and not counted. Then the
// writes are queued while the replicator does not run, on items of 500 bytes; the clock runs from its start until the
// outbox is empty, with all that belongs to it: settling, the replay log, and syncs of a store on disk. Each write has an
// item of its own, but of the updates outside of transactions a fifth goes to items that get ten each, sixteen items in
// turn. Such an update appends its number to a list of the item, which nothing folds: it is sent as the others are.
// The follows of one match are creates of items of one partition, 2,000 at most, and each request of theirs takes 80 ms beside
// what the server does: what is measured is how many are on their way at once.
// The bare client makes the same calls on a table of its own: UpdateItem, PutItem under attribute_not_exists and
// DeleteItem, as many at once as there are lanes. Which of the two goes first changes from mix to mix.
//
// Write units are counted from the calls that were sent, by DynamoDB's rule: a unit for each begun kilobyte of the larger
// of both images, two within a transaction; beside them stands what the server says it has consumed.
package main
