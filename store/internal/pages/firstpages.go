package pages

import (
	"errors"
	"fmt"
	"os"
)

// Which says which of the two meta pages is damaged. bbolt writes them in turn, one a commit: a commit writes its data pages, syncs them,
// writes the meta page that the commit before the last one had used, and syncs it. So the file is as of the readable one of the two.
type Which string

// The meta pages that can be damaged.
const (
	Older   Which = "older"   // that of an earlier commit: nothing is lost
	Newest  Which = "newest"  // that of the last commit
	Unknown Which = "unknown" // one of these two
)

// BadMeta describes a meta page that cannot be read.
type BadMeta struct {
	Page  int // 0 or 1
	Which Which
	// OneBit means that a single bit of the page is wrong: it was written whole, and changed afterwards. Otherwise the page may also have
	// been torn by a power cut, which ended a commit that nobody was told about.
	OneBit bool
	// NoData means that the page has the same root as the readable one: between these commits nothing changed but the list of free pages,
	// which is written when a node stops.
	NoData bool

	at   int64
	bit  int // wrong, if OneBit
	read []byte
}

// examineOther returns what is wrong with the meta page that is not the best one; nil: nothing.
func examineOther(f *os.File, best Meta) (*BadMeta, error) {
	bad := &BadMeta{Page: int(1 - best.txid%2), Which: Unknown}
	bad.at = int64(bad.Page) * int64(best.PageSize)
	bad.read = make([]byte, pageHeader+metaSize)
	if _, err := f.ReadAt(bad.read, bad.at); err != nil {
		return nil, err
	}
	body := bad.read[pageHeader:]
	if m, err := parseMeta(body); err == nil && m.PageSize == best.PageSize {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	was := fieldsOf(body)
	if m, bit := correctBit(body); bit >= 0 && m.PageSize == best.PageSize {
		bad.OneBit, bad.bit, was = true, bit, m
	}
	bad.NoData = was.root == best.root
	switch was.txid {
	case best.txid + 1:
		bad.Which = Newest
	case best.txid - 1:
		bad.Which = Older
	}
	return bad, nil
}

// correctBit returns the meta page that a body was before one of its bits changed, and that bit; -1: no bit of it makes it right.
func correctBit(body []byte) (m Meta, bit int) {
	changed := append([]byte(nil), body...)
	for bit := range 8 * metaSize {
		changed[bit/8] ^= 1 << (bit % 8)
		if m, err := parseMeta(changed); err == nil {
			return m, bit
		}
		changed[bit/8] ^= 1 << (bit % 8)
	}
	return m, -1
}

// Correct writes the meta page of the last commit as it was before one of its bits changed, so that the file is as of that commit again,
// and verifies every page of the file as of then. If that is not possible, the file is left as it was.
func (b *BadMeta) Correct(f *os.File) (is Verified, corrected bool, err error) {
	if b.Which != Newest || !b.OneBit {
		return is, false, nil
	}
	right := append([]byte(nil), b.read...)
	right[pageHeader+b.bit/8] ^= 1 << (b.bit % 8)
	if err := writeSynced(f, right, b.at); err != nil {
		return is, false, errors.Join(err, writeSynced(f, b.read, b.at))
	}
	if is, err = Verify(f, true); err == nil {
		return is, true, nil
	}
	return is, false, writeSynced(f, b.read, b.at)
}

func writeSynced(f *os.File, b []byte, at int64) error {
	if _, err := f.WriteAt(b, at); err != nil {
		return fmt.Errorf("correcting its first pages: %w", err)
	}
	return f.Sync()
}
