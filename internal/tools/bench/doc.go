// Command bench measures touchline against its targets. Each row is compared with a floor measured in the same run, because the figures
// of a machine drift by a factor of up to two within hours while ratios stay. It prints one table: what was measured, our figure, the
// floor, their ratio, the target, and whether it is met. docs/PERFORMANCE.md explains how to read it.
//
//	bench [-quick] [-rows regexp] [-o text|json] [-dir folder]
//
// # Method
//
// The sides of a comparison run in turns in one process, and the order of the turns changes from round to round. A slice starts after a
// garbage collection and is long enough to pay for its own garbage. What it needs (items, keys) is prepared before its time
// starts, for all sides alike. The first round is a warm-up and not counted. Figures are medians of the slices, with their minimum and
// maximum: if these are far apart, the machine was busy and the run says little. Every write is synced to a real disk.
//
// Items have 13 attributes and about 1 KB; the codec is measured with an item of 17 attributes, some of them nested.
//
// # The floors
//
//   - The raw loop is bbolt with the store's options, on a file that the store has filled. Its puts change as much as the store's: the row,
//     the journal record, and the position of the journal once per commit. A test compares the two files. The bytes are those of a put
//     that the store has made, so the loop looks up, checks and encodes nothing.
//   - The sync is one page of 4 KB, overwritten in place, and fdatasync: no durable write can be faster.
//   - For a put of a single writer, the floor is the time of its function and its commit: the rest is the price of being able to share
//     commits.
//   - Raw View and Get is bbolt's View with the Get of one encoded key, ignoring the value.
//   - encoding/json reads and writes the same item as DynamoDB JSON, with Go types of the same shape.
//   - Floors that are our own code with less to do (one writer, no index, the raw loop without the journal) are named in their rows.
package main
