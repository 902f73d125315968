// Package matches stores what a node knows about each match: fixture, state, events, display, cards, and cached replies of the feed.
//
// Service.Tick is the transaction around the rules: it reads the state, passes a snapshot to cricket.Step, and
// writes the outcome under the fence of the match's lease. Everything else only reads.
package matches
