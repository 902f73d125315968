// Package operator holds what a node tells its operator: how it is doing, how far it and its cloud are in sync, the conflicts
// between them, and what a person should look at, in plain words. It asks nobody: httpapi does.
package operator
