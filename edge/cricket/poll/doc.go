// Package poll decides who polls what and when: the orchestrator finds the matches that are about to start or under
// way and holds their leases, the poller reads the feed for all of them at once and takes each reading into its
// match.
//
// A tick: one feed call -> for each match whose lease is held one cricket.Service.Tick, under the lease's fence ->
// the readers of the journal do the rest. Without the lease the node is an observer of that match.
package poll
