// Package node is a running edge node: one store, and everything that reads and writes it. It opens the store, joins it to its
// cloud, takes leases, opens the applications that it is given (app.App) and serves them at one address, beside DynamoDB's
// protocol and the operator's socket. It knows no application by its name.
package node
