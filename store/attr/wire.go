package attr

// The binary form of an item. The first byte is the version, then comes the body of a map:
//
//	body    = count, then count times (length, name, value), names strictly ascending
//	value   = tag, then by tag
//	S N B   = length, bytes (N in canonical text)
//	BOOL    = nothing, the tag says it; NULL alike
//	L M sets = size of what follows as four bytes little endian, count, then the elements
//	element = of a list a value, of a map (length, name, value), of a set (length, bytes) strictly ascending
//
// Lengths and counts are uvarints in their shortest form. So an item has exactly one encoding, and a reader steps
// over a value without looking into it.
const wireVersion = 1

// The tags on disk. They are not the Kinds, whose numbers may change.
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

// sizeBytes is the width of the size in front of what holds other values. It is fixed so that it can be filled in
// when the elements are written.
const sizeBytes = 4
