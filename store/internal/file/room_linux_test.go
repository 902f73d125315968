package file_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/touchline/touchline/store"
)

// An open store has blocks for all of its file: for a new one, which bbolt makes longer than it writes it, and for a copy without the
// zeros.
func TestFileHasNoHoles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for _, sparse := range []int64{0, 1 << 20} {
		if info, err := os.Stat(path); sparse > 0 && (err != nil || os.Truncate(path, info.Size()+sparse) != nil) {
			t.Fatal(err)
		}
		s, err := store.Open(path, store.Options{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Blocks*512 < st.Size {
			t.Errorf("%d bytes have %d blocks, %v", st.Size, st.Blocks, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
