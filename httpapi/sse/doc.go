// Package sse sends server-sent events to many readers. One Broadcaster reads the store's journal for all of them; what a
// record means is told by the applications (Change). A reader is a Subscriber, a bounded inbox that never holds the broadcaster
// up, and a Conn, which writes frames. A frame is encoded and compressed once, however many readers get it.
//
// A slow reader misses states, never events: frames of one slot replace each other in its inbox, and a reader that is more than
// 128 events behind starts over with a snapshot.
package sse
