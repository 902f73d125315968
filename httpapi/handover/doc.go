// Package handover has what lets entries of a browser count once, whoever brings them to a node: the id of a device.
package handover
