// Package sandbox is a local APNs: an HTTP/2 server that refuses what Apple refuses, in the same order and with
// the same reasons, and simulated phones that show, ignore and drop what real ones would.
//
// It is used by the demo and by tests. Rates, budgets and lifetimes follow the injected clock; provider tokens
// are checked by the real clock, like those of real senders. Nothing is stored on disk: certificate authority,
// provider key and device tokens are created at startup.
package sandbox
