// Package apns sends pushes to Apple through sideshow/apns2 and classifies every answer by what it requires.
//
// It adds what the library lacks: one provider token for the whole process, renewed every 45 minutes or when Apple asks,
// and kept across restarts; a connection pool with pings and time limits; the status of an answer even if its body is not
// JSON; and a circuit breaker after a run of failures. Device tokens and bearers never appear in an error or a log.
package apns
