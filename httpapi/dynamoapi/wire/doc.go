// Package wire decodes and encodes the JSON of DynamoDB's protocol: a Decoder that passes each member of a request to the code that
// knows it, and an Encoder that appends an answer. Neither builds maps or trees. As in the service, a value of a wrong type is a
// SerializationException before any other check, and a null counts as an absent member.
package wire
