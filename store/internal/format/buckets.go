package format

import (
	"encoding/binary"
)

// The kinds of buckets named by BucketName.
const (
	KindTable = 't'
	KindIndex = 'i'

	BucketNameSize = 5
)

// BucketName returns a short name made of an id, so that a table dropped and created again starts with a new bucket.
func BucketName(kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, id)
}

// FormatVersion is the version of everything in the file that has no version of its own: buckets, keys, rows. Version 3 added checksums
// to rows and journal records. A file of version 2 is read as it is and becomes version 3 with its first commit; programs that only know
// version 2 then refuse it.
const (
	FormatVersion = 3
	OldestFormat  = 2
)

// The buckets that always exist, and the keys in the first one. Buckets of tables and indexes are named by BucketName.
var (
	BucketMeta    = []byte("meta")
	BucketTables  = []byte("tables")
	BucketJournal = []byte("journal")
	BucketCursors = []byte("cursors")
	BucketTokens  = []byte("tokens") // in files from before there were tokens, missing until the first one

	MetaMagic       = []byte("magic")
	MetaFormat      = []byte("format")
	MetaNode        = []byte("node")
	MetaIncarnation = []byte("incarnation")
	MetaNextID      = []byte("next-id")
	MetaJournal     = []byte("journal")
	MetaDamages     = []byte("damages") // of the file's first pages, as JSON, until somebody has read of them
	MetaWritten     = []byte("written") // in files since they note it: see NoteWritten

	Magic = []byte("touchline store")
)

// EncodeFormat returns FormatVersion as stored in the file.
func EncodeFormat() []byte { return binary.BigEndian.AppendUint32(nil, FormatVersion) }

// The limits of a Side, in bytes. A key is never empty.
const (
	MaxSideName = 64
	MaxSideKey  = 8 << 10
	MaxSide     = 32 << 20 // of a value
)

// SidePrefix is the prefix of side buckets. With a name behind it, it is longer than BucketNameSize, so no table or index has such a name.
const SidePrefix = "side/"

// SideBucket returns the name of a space's bucket.
func SideBucket(name string) []byte { return append([]byte(SidePrefix), name...) }
