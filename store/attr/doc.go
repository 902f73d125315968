// Package attr holds DynamoDB's values: the ten types with their rules, equality, order and size, and the forms an
// item takes: Go structs (Marshal, Unmarshal), DynamoDB JSON (AppendJSON, ParseJSON), the binary form on disk
// (Encode, Encoded) and the order-preserving bytes of a key (AppendKey, ReadKey).
//
// A Value is immutable once made: what List, Map and Strs give is shared and is read, never written. Whoever changes
// an item copies the path to the change.
package attr
