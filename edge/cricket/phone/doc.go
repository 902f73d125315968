// Package phone keeps what users have asked for and what their phones may be sent: follows, registered devices, whose each
// token is, and the Live Activity of each device and match.
package phone
