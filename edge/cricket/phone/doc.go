// Package phone keeps what users follow and what their phones may be sent: follows, registered devices, the
// owner of each token, and the Live Activity of each device and match.
package phone
