// Command bench measures touchline's targets: each beside a floor that is measured in the same run, because the figures
// of a machine drift by up to two times within hours while ratios stay. It prints one table: what was measured, ours,
// the floor, their ratio, the target, and whether it is met. docs/PERFORMANCE.md says how to read it.
//
//	bench [-quick] [-rows regexp] [-o text|json] [-dir folder] [-cpuprofile file]
//
// # Method
//
// What is compared runs in turns in one process, and the order of a turn changes from round to round. A slice of a turn
// begins behind a garbage collection, and is long enough to pay for the garbage that it makes itself. What a slice needs
// (its items, its keys, its requests) is made before its time begins, for both sides alike. The first round warms up and
// is not counted. Figures are medians of the slices, with the least and the most of them beside them: where these lie far
// apart the machine was busy, and the run says little. Every write is synced to a real disk.
//
// Items have 13 attributes and about 1 KB; the codec is measured with one of 17 attributes, some of them nested.
//
// # The floors
//
//   - The raw loop is bbolt with the options that the store has, and with the changes that a put makes, byte for byte:
//     the row, the journal record with its image or the reference to it, the index entries that go and come, the
//     trimming of the journal, and the journal's position once a commit. A test holds the two files against each other. It knows
//     all of these bytes beforehand: it looks up nothing, checks nothing and encodes nothing.
//   - The sync is one page of 4 KB, overwritten in place, and fdatasync: no durable write can be faster.
//   - Of a lone writer's put, the time that its function and its commit take is the floor: the rest is what it costs
//     that others could share the commit.
//   - Raw View and Get is bbolt's View with the Get of one key that is encoded already, and nothing done with the value.
//     For a query and a scan it is a cursor over the same rows.
//   - encoding/json reads and writes the same item as DynamoDB JSON by Go types that hold it as it is.
//   - The gin hello is a route of the same server that answers a few bytes. The server has one processor, the client
//     another, and the client writes requests that are made beforehand.
//   - DynamoDB Local keeps its tables on disk, on the same disk, and answers the same client over loopback. Ours is a
//     minimal gin handler with the store behind it; both have all processors.
//   - Floors that are our own with less to do (one writer, no index, the raw loop without the journal) are named in
//     their rows.
package main
