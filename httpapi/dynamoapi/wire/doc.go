// Package wire reads and writes the JSON of DynamoDB's protocol: a Decoder that hands the members of a request to whoever
// knows them, and an Encoder that appends an answer. Neither makes maps or trees of what passes through. What is of a
// wrong type is refused as the service does it, with a SerializationException before anything else is looked at; a null is
// a member that is not there.
package wire
