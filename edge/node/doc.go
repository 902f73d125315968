// Package node runs an edge node: one store, and everything that reads and writes it. It opens the store, connects it to its cloud,
// acquires leases, opens the given applications (app.App) and serves them at one address, beside DynamoDB's protocol and the operator's
// socket. It knows no application by name.
package node
