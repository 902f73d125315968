// Package sandbox is an APNs on this machine: an HTTP/2 server that refuses what Apple refuses, in the same order
// and words, and simulated phones behind it that show, ignore and drop what real ones would.
//
// It serves the demo and the tests. Rates, budgets and lifetimes follow the injected clock; provider tokens are
// checked by the real one, as their senders make them. Nothing touches the disk: the certificate authority, the
// provider key and the device tokens are made at start.
package sandbox
