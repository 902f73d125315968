// Package operator describes a node's state to its operator: how the node is doing, the replication with its cloud, conflicts, and what
// needs attention, in plain words. It only holds data; httpapi collects it.
package operator
