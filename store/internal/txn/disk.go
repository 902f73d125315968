package txn

// UsedBytes is how much of the file holds data: what bbolt counts as free it will use again, as soon as nobody reads it.
func (s *DB) UsedBytes() int64 {
	var st Stats
	s.FillFromFile(&st)
	free := s.Bolt.Stats()
	return max(st.UsedBytes-int64(free.FreePageN+free.PendingPageN)*s.Room.Page, 0)
}
