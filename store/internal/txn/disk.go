package txn

// UsedBytes is how much of the file holds data: what bbolt counts as free it will use again, as soon as nobody reads it.
// 0: the store is closed, or cannot be read.
func (s *DB) UsedBytes() int64 {
	var r Reader
	if s.Readers.begin(&r, s.Bolt) != nil {
		return 0
	}
	defer s.Readers.end(&r)
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.gone { // the deadline has taken the snapshot away already
		return 0
	}
	free := s.Bolt.Stats()
	return max(r.Btx.Size()-int64(free.FreePageN+free.PendingPageN)*s.Room.Page, 0)
}
