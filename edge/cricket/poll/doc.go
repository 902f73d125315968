// Package poll decides who asks the feed what and when, and takes the answers into the matches and the reference
// tables. Its jobs, each in a file of its own:
//
//	seat             5 s   takes a place among the nodes that poll, and gives away what is another's share
//	orchestrator    30 s   looks at what is registered; the leader registers matches 45 min before their start
//	score            5 s   all live matches, without balls
//	marquee        2.5 s   the matches that are watched closely, with balls; carries all live ones, score reads its answer
//	stand-in        10 s   matches in play by themselves, while the live list is left alone: its budget is another
//	prematch        60 s   toss and line-ups of registered matches, which the live list does not have yet
//	reconcile              matches that have left the live list: their own record decides, at 0, 1, 5 and 15 min
//	cleanup                what is over for good: follows, fixture, row
//	fixtures        60 s   the matches of yesterday to the next days
//	teams, leagues   6 h   reference data
//
// A tick: one feed call for all matches -> for each match whose lease is held one matches.Service.Tick, under the
// lease's fence -> the readers of the journal do the rest.
//
// Nodes that share a cloud each hold a seat (a lock), the first of which leads. The matches are spread over the seats; each node
// reads the live list for its own, at a pace that leaves the others their part of the feed's budget. Without a seat a node
// stands by. While the locks cannot be reached nothing is written that others read: the node stops, or observes for its own
// readers.
//
// Everything is driven by one clock and keeps nothing that it could not find again in the store, so that it may be
// stopped at any tick. The jobs that tick matches run one after the other in one loop; reference data and the fixture
// cache have loops of their own, for they may take long and nobody waits for them.
package poll
