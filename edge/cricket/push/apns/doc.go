// Package apns sends pushes to Apple through sideshow/apns2 and classifies every answer by what it requires.
//
// It adds what the library lacks: one provider token for the whole process, renewed every 45 minutes or when Apple asks,
// and kept across restarts; one connection to each host, with pings and time limits; and the status of an answer even if its
// body is not JSON. Device tokens and bearers never appear in an error or a log.
package apns
