// Package apns sends pushes to Apple through sideshow/apns2 and says of every answer what is to be done.
//
// What the library leaves open is closed here: the provider token is made once in 40 to 50 minutes for the whole
// process, kept over restarts and renewed on Apple's word; the connection is one, kept open, pinged and bounded in
// time; the status of an answer survives a body that is not JSON; a run of failures opens a circuit breaker. Device
// tokens and bearers never appear in an error or a log.
package apns
