// Package session keeps what a node remembers of its people: who has signed in here, their sessions, and the one-time codes by
// which they sign in without the internet. All of it is the node's own and never leaves it.
//
// A session is a cookie "<id>.<secret>". The id is public: it is how a session is listed and ended. Of the secret the store has
// the SHA-256. Once an hour of use the answer to a request brings the next secret, and the old one stays good until the browser
// shows the next one: an answer that is lost on the way signs nobody out.
//
//	store has          request shows   then
//	current c          c, due          a next n is made, sent with the answer; c stays current
//	current c, next n  c               c is good: the answer with n may be on its way, or lost (after a minute: another next)
//	current c, next n  n               n is current, c is old
//	current n, old c   c               good for a minute more (requests that were on their way), then it is a copy: the session ends
package session
