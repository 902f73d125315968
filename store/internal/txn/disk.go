package txn

// UsedBytes returns how many bytes of the file hold data. Pages that bbolt counts as free are not included: it reuses them as soon as nobody
// reads them. It returns 0 if the store is closed or cannot be read.
func (s *DB) UsedBytes() int64 {
	var r Reader
	if s.Readers.begin(&r, s.Bolt) != nil {
		return 0
	}
	defer s.Readers.end(&r)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.gone { // the deadline has already ended the snapshot
		return 0
	}
	free := s.Bolt.Stats()
	return max(r.Btx.Size()-int64(free.FreePageN+free.PendingPageN)*s.Room.Page, 0)
}
