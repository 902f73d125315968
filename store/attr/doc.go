// Package attr holds DynamoDB's values: the ten types with their rules, equality, order and size, and the forms of an item: Go structs
// (Marshal, Unmarshal), DynamoDB JSON (AppendJSON, ParseJSON), the binary form on disk (Encode, Encoded) and the order-preserving bytes
// of a key (AppendKey, ReadKey).
//
// A Value is immutable: what List, Map and Strs return is shared and must not be written to. To change an item, copy the path to the
// change.
package attr
