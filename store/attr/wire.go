package attr

// The binary form of an item is a version byte and the body of a map:
//
//	body    = count, then count times (length, name, value), names strictly ascending
//	value   = tag, then by tag
//	S N B   = length, bytes (N in canonical text)
//	BOOL    = nothing: the tag is the value; likewise NULL
//	L M sets = size of what follows in four bytes, little endian, count, then the elements
//	element = of a list: value; of a map: (length, name, value); of a set: (length, bytes), strictly ascending
//
// Lengths and counts are uvarints in their shortest form, so an item has exactly one encoding. Sizes let a reader skip a value without
// examining it. The item {"a": "xy"} is 01 01 01 61 01 02 78 79: version, one attribute, the name "a", a string of length 2.
const wireVersion = 1

// The tags on disk. They differ from the Kinds, whose numbers may change.
const (
	tagS     = 0x01
	tagN     = 0x02
	tagB     = 0x03
	tagFalse = 0x04
	tagTrue  = 0x05
	tagNull  = 0x06
	tagL     = 0x07
	tagM     = 0x08
	tagSS    = 0x09
	tagNS    = 0x0a
	tagBS    = 0x0b
)

// sizeBytes is the width of the size in front of a collection. It is fixed so that the size can be filled in after the elements.
const sizeBytes = 4
