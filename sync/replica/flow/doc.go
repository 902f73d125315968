// Package flow decides how much may be on its way: Link knows whether the cloud can be reached and how many workers may send, Paces how
// fast each table is sent to and which are stopped, Levels how full the node is and which writes are refused. All of it is in memory
// and knows neither the outbox nor the cloud: the sender reports the answers.
//
//	the cloud was away      -> 1 request on its way, then 2, 4, 8, 16, as answers come
//	a table is throttled    -> seven tenths of what it had; a twentieth more each second that it is not
//	the outbox is 90 % full -> state is refused; at 95 % all but deletes and what makes items smaller; at 98 % everything
package flow
