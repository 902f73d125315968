// Package session stores what a node remembers about its people: who has signed in here, their sessions, and one-time codes for signing
// in without the internet. All of it is private to the node and never leaves it.
//
// A session is a cookie "<id>.<secret>". The id is public: it identifies the session in lists and when it is ended. The store has only
// the SHA-256 of the secret. Once per hour of use, the answer to a request contains the next secret. The old one stays valid until the
// browser sends the next one, so a lost answer signs nobody out.
//
//	store has          request has     then
//	current c          c, due          a next secret n is created and sent with the answer; c stays current
//	current c, next n  c               c is valid: the answer with n may be on its way, or lost (after a minute: another n)
//	current c, next n  n               n becomes current, c old
//	current n, old c   c               valid for another minute (requests on their way), then c is a copy: the session ends
package session
