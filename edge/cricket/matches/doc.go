// Package matches keeps what a node knows of each match, in the tables: its fixture, its state, its events, its display and
// cards, and the cached replies of the feed.
//
// Service.Tick is the transaction around the rules: it reads the state, has cricket.Step judge a snapshot, and writes what
// came of it under the fence of the match's lease. Everybody else reads.
package matches
