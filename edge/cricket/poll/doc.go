// Package poll decides what is requested from the feed and when, and applies the answers to the matches and the
// reference tables. Its jobs, each in a file of its own:
//
//	seat             5 s   takes a slot among the polling nodes, and hands over matches assigned to others
//	orchestrator    30 s   reads the registered matches; the leader registers new ones 45 min before their start
//	score            5 s   all live matches, without balls
//	marquee        2.5 s   the closely watched matches, with balls; its answer has all live ones, and score uses it
//	stand-in        10 s   single matches in play, while the live list is resting: their budget is separate
//	prematch        60 s   toss and line-ups of registered matches, which are not in the live list yet
//	reconcile              matches that left the live list: their own record decides, at 0, 1, 5 and 15 min
//	cache                  puts the last replies of live matches into the fixture cache, after their ticks
//	cleanup                matches that are over for good: follows, fixture, row
//	fixtures        60 s   the matches from yesterday to the next days
//	teams, leagues   6 h   reference data
//
// A tick: one feed request for all matches -> for each match with a held lease one matches.Service.Tick, under
// the lease's fence -> the readers of the journal do the rest.
//
// Nodes that share a cloud each hold a slot (a lock); the holder of the first one leads. The matches are spread over the
// slots. Each node requests the live list for its own matches, at a pace that leaves the others their part of the feed's
// budget. A node without a slot stands by. While the locks cannot be reached, nothing is written that other nodes read: the
// node stops, or observes for its own readers.
//
// Everything is driven by one clock: jobs run by its time of loops, and times of rows and of the feed are compared with its
// wall clock. The tick of another node's match counts by how long it has stood still here: that node's clock may be wrong.
// All state can be restored from the store, so the poller may be stopped
// at any tick. The jobs that tick matches run one at a time in one loop. Reference data has a loop of its own,
// because it may take long and nothing waits for it.
package poll
