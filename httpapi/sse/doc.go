// Package sse sends server-sent events to many readers. One Broadcaster reads the store's journal for all of them; the applications
// translate records into changes (Change). A reader is a Subscriber, a bounded inbox that never blocks the broadcaster, and a Conn,
// which writes frames. A frame is encoded and compressed once for all of its readers.
//
// A slow reader misses states, never events: frames of the same slot replace each other in its inbox, and a reader more than 128 events
// behind gets a full snapshot.
package sse
