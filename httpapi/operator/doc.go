// Package operator holds what a node tells its operator: how it is doing, how far it and its cloud are one, the conflicts between
// them, and what of all that a person should look at, in plain words. It asks nobody: httpapi does.
package operator
