package store

import (
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
)

// formatVersion is the version of everything in the file that has no version of its own: buckets, keys, rows. Since 3 rows
// and journal records have checksums; a file of format 2 is read as it is, and is of format 3 from its first commit on,
// which programs that know format 2 alone then refuse.
const (
	formatVersion = 3
	oldestFormat  = 2
)

// The buckets that are always there, and the keys of the first one. Those of tables and indexes are named by bucketName.
var (
	bucketMeta    = []byte("meta")
	bucketTables  = []byte("tables")
	bucketJournal = []byte("journal")
	bucketCursors = []byte("cursors")
	bucketTokens  = []byte("tokens") // absent in a file from before there were tokens, until its first one

	metaMagic       = []byte("magic")
	metaFormat      = []byte("format")
	metaNode        = []byte("node")
	metaIncarnation = []byte("incarnation")
	metaNextID      = []byte("next-id")
	metaJournal     = []byte("journal")

	magic = []byte("touchline store")
)

// incarnationBits is how many bits of a sequence count within one incarnation of the node.
const incarnationBits = 40

// journalState is where the journal stands; it lies in the meta bucket because a journal that was trimmed to the
// end cannot tell.
type journalState struct {
	first uint64 // sequence of the first record that is not trimmed; last+1 when there is none
	last  uint64 // sequence of the last record written
	bytes uint64 // of the records from first to last, as stored

	firstAt int64 // when first was written, 0: not looked up; not stored
}

func (j journalState) encode() []byte {
	b := make([]byte, 0, 24)
	b = binary.BigEndian.AppendUint64(b, j.first)
	b = binary.BigEndian.AppendUint64(b, j.last)
	return binary.BigEndian.AppendUint64(b, j.bytes)
}

// same compares what is stored.
func (j journalState) same(o journalState) bool {
	return j.first == o.first && j.last == o.last && j.bytes == o.bytes
}

func decodeJournalState(b []byte) (journalState, bool) {
	if len(b) != 24 {
		return journalState{}, false
	}
	return journalState{
		first: binary.BigEndian.Uint64(b),
		last:  binary.BigEndian.Uint64(b[8:]),
		bytes: binary.BigEndian.Uint64(b[16:]),
	}, true
}

func encodeFormat() []byte { return binary.BigEndian.AppendUint32(nil, formatVersion) }

// identity is who wrote the file.
type identity struct {
	node        string
	incarnation uint64
}

// writeMeta fills a new file.
func writeMeta(btx *bolt.Tx, id identity) error {
	for _, name := range [][]byte{bucketMeta, bucketTables, bucketJournal, bucketCursors, bucketTokens} {
		if _, err := btx.CreateBucket(name); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.CreateMeta)
	start := id.incarnation << incarnationBits
	m := btx.Bucket(bucketMeta)
	return errors.Join(
		m.Put(metaMagic, magic),
		m.Put(metaFormat, encodeFormat()),
		m.Put(metaNode, []byte(id.node)),
		m.Put(metaIncarnation, binary.BigEndian.AppendUint64(nil, id.incarnation)),
		m.Put(metaJournal, journalState{first: start + 1, last: start}.encode()),
	)
}

// fileState is what Open reads from the meta bucket.
type fileState struct {
	identity
	format  uint32
	journal journalState
	cat     *catalogue
}

var errForeign = errors.New("it is not a touchline store")

// readMeta reads what writeMeta and the commits since have written. It refuses a foreign file with errForeign.
func readMeta(btx *bolt.Tx) (fileState, error) {
	m := btx.Bucket(bucketMeta)
	if m == nil || string(m.Get(metaMagic)) != string(magic) {
		return fileState{}, errForeign
	}
	format := m.Get(metaFormat)
	if len(format) != 4 {
		return fileState{}, errors.New("its format version cannot be read")
	}
	version := binary.BigEndian.Uint32(format)
	if version < oldestFormat || version > formatVersion {
		return fileState{}, formatError(version)
	}
	for _, name := range [][]byte{bucketTables, bucketJournal, bucketCursors} {
		if btx.Bucket(name) == nil {
			return fileState{}, errors.New("bucket " + string(name) + " is missing")
		}
	}
	st := fileState{identity: identity{node: string(m.Get(metaNode))}, format: version}
	inc := m.Get(metaIncarnation)
	j, ok := decodeJournalState(m.Get(metaJournal))
	if len(inc) != 8 || !ok {
		return fileState{}, errors.New("its incarnation or journal position cannot be read")
	}
	st.incarnation, st.journal = binary.BigEndian.Uint64(inc), j
	cat, err := loadCatalogue(btx)
	st.cat = cat
	return st, err
}
