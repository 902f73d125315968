package format

import (
	"encoding/binary"
)

// The kinds of BucketName.
const (
	KindTable = 't'
	KindIndex = 'i'

	BucketNameSize = 5
)

// BucketName is short and made of an id, so that a table that is dropped and made again starts in a new bucket.
func BucketName(kind byte, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, id)
}

// FormatVersion is the version of everything in the file that has no version of its own: buckets, keys, rows. Since 3 rows
// and journal records have checksums; a file of format 2 is read as it is, and is of format 3 from its first commit on,
// which programs that know format 2 alone then refuse.
const (
	FormatVersion = 3
	OldestFormat  = 2
)

// The buckets that are always there, and the keys of the first one. Those of tables and indexes are named by BucketName.
var (
	BucketMeta    = []byte("meta")
	BucketTables  = []byte("tables")
	BucketJournal = []byte("journal")
	BucketCursors = []byte("cursors")
	BucketTokens  = []byte("tokens") // absent in a file from before there were tokens, until its first one

	MetaMagic       = []byte("magic")
	MetaFormat      = []byte("format")
	MetaNode        = []byte("node")
	MetaIncarnation = []byte("incarnation")
	MetaNextID      = []byte("next-id")
	MetaJournal     = []byte("journal")

	Magic = []byte("touchline store")
)

// EncodeFormat is FormatVersion as it lies in the file.
func EncodeFormat() []byte { return binary.BigEndian.AppendUint32(nil, FormatVersion) }

// Limits of a Side, in bytes. A key is never empty.
const (
	MaxSideName = 64
	MaxSideKey  = 8 << 10
	MaxSide     = 32 << 20 // of a value
)

// SidePrefix begins the names of their buckets. It is longer than those of tables and indexes.
const SidePrefix = "side/"

// SideBucket is the name of the bucket of a space.
func SideBucket(name string) []byte { return append([]byte(SidePrefix), name...) }
