package store

import "hash/crc32"

// mine reports whether a key belongs to the walk's segment.
func (w *walk) mine(k []byte) (bool, error) {
	if w.segments <= 1 {
		return true, nil
	}
	n, err := w.key().partitionLen(k)
	if err != nil {
		return false, damaged(err, "a key cannot be decoded")
	}
	return crc32.ChecksumIEEE(k[:n])%w.segments == w.segment, nil
}

// passWork is what it costs to step over an entry of another segment, in units of expr.Work.
const passWork = 64

// passOver steps over an entry of another segment. It is none to go on after: a page that has cost enough ends with the last
// one of its own, and where there is none the walk goes on until the budget of the request is spent.
func (w *walk) passOver() (full bool, err error) {
	if err := w.tx.work.Spend(passWork); err != nil {
		return false, err
	}
	if w.own == nil || w.tx.work.Spent()-w.before < pageWork {
		return false, nil
	}
	w.page.LastKey, err = w.lastKey(w.own)
	return true, err
}
