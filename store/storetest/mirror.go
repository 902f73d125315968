package storetest

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/touchline/touchline/store"
	"github.com/touchline/touchline/store/attr"
)

// CheckMirror compares the rows of a table with what a Mirror recorded, both ways.
func CheckMirror(t testing.TB, s *store.Store, table string) {
	t.Helper()
	View(t, s, func(tx *store.Tx) error {
		tx.ShowExpired()
		var rows, kept []string
		for it, err := range tx.ScanAll(store.Scan{Table: table}) {
			if err != nil {
				return err
			}
			rows = append(rows, Show(it))
		}
		err := tx.Side("mirror").Each(mirrorKey(table, nil), nil, func(_, v []byte) (bool, error) {
			it, err := attr.Encoded(v[8:]).Decode()
			kept = append(kept, Show(it))
			return true, err
		})
		if !slices.Equal(rows, kept) {
			t.Errorf("table %s: %d rows, %d beside it, or other ones:\n%.2000s\n%.2000s", table, len(rows), len(kept), rows, kept)
		}
		return err
	})
}

// Mirror is a replicator that records what it is given in a side space: for each row of a table that sends, the sequence of its record
// and its image.
type Mirror struct{}

// Compile implements store.Replicator.
func (Mirror) Compile(tx *store.Tx, writes []store.Write) error {
	side := tx.Side("mirror")
	for _, w := range writes {
		key := mirrorKey(w.Spec.Name, w.RawKey)
		switch {
		case w.Seq == 0 || !w.Sends:
			continue
		case w.New == nil:
			if err := side.Delete(key); err != nil {
				return err
			}
		default:
			if err := side.Set(key, append(binary.BigEndian.AppendUint64(nil, w.Seq), w.New...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Expire implements store.Replicator.
func (Mirror) Expire(tx *store.Tx, spec *store.TableSpec, key attr.Item) (bool, error) {
	raw, err := tx.RawKey(spec.Name, key)
	if err != nil {
		return false, err
	}
	return true, tx.Side("mirror").Delete(mirrorKey(spec.Name, raw))
}

func mirrorKey(table string, raw []byte) []byte { return append([]byte(table+"\x00"), raw...) }
