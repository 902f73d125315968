package file

import (
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"

	"github.com/touchline/touchline/internal/failpoint"
	"github.com/touchline/touchline/store/internal/catalogue"
	"github.com/touchline/touchline/store/internal/format"
	"github.com/touchline/touchline/store/internal/pages"
)

// identity identifies the writer of the file.
type identity struct {
	Node        string
	Incarnation uint64
}

// writeMeta fills a new file.
func writeMeta(btx *bolt.Tx, id identity) error {
	for _, name := range [][]byte{format.BucketMeta, format.BucketTables, format.BucketJournal, format.BucketCursors, format.BucketTokens} {
		if _, err := btx.CreateBucket(name); err != nil {
			return err
		}
	}
	failpoint.Hit(failpoint.CreateMeta)
	start := id.Incarnation << format.IncarnationBits
	m := btx.Bucket(format.BucketMeta)
	return errors.Join(
		m.Put(format.MetaMagic, format.Magic),
		m.Put(format.MetaFormat, format.EncodeFormat()),
		m.Put(format.MetaNode, []byte(id.Node)),
		m.Put(format.MetaIncarnation, binary.BigEndian.AppendUint64(nil, id.Incarnation)),
		m.Put(format.MetaJournal, format.JournalState{First: start + 1, Last: start}.Encode()),
	)
}

// State is what Open reads from the meta bucket.
type State struct {
	identity
	Format  uint32
	Journal format.JournalState
	Cat     *catalogue.Tables
	Damages []Damage // of which nobody has read yet, the oldest first
}

// ReadMeta reads the meta bucket. It refuses a foreign file with ErrForeign.
func ReadMeta(btx *bolt.Tx) (State, error) {
	m := btx.Bucket(format.BucketMeta)
	if m == nil || string(m.Get(format.MetaMagic)) != string(format.Magic) {
		return State{}, pages.ErrForeign
	}
	stored := m.Get(format.MetaFormat)
	if len(stored) != 4 {
		return State{}, errors.New("its format version cannot be read")
	}
	version := binary.BigEndian.Uint32(stored)
	if version < format.OldestFormat || version > format.FormatVersion {
		return State{}, formatError(version)
	}
	for _, name := range [][]byte{format.BucketTables, format.BucketJournal, format.BucketCursors} {
		if btx.Bucket(name) == nil {
			return State{}, errors.New("bucket " + string(name) + " is missing")
		}
	}
	st := State{identity: identity{Node: string(m.Get(format.MetaNode))}, Format: version}
	inc := m.Get(format.MetaIncarnation)
	j, ok := format.DecodeJournalState(m.Get(format.MetaJournal))
	if len(inc) != 8 || !ok {
		return State{}, errors.New("its incarnation or journal position cannot be read")
	}
	st.Incarnation, st.Journal = binary.BigEndian.Uint64(inc), j
	var err error
	if st.Damages, err = DecodeDamages(m.Get(format.MetaDamages)); err != nil {
		return State{}, err
	}
	cat, err := catalogue.Load(btx)
	st.Cat = cat
	return st, err
}
