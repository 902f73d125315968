//go:build unix

package check_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/touchline/touchline/store/storetest"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/store"
)

// Anything but a file is refused before it is opened: opening a pipe blocks, and a device never ends.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		problems, err := store.CheckFile(t.Context(), path, nil)
		if err != nil || len(problems) != 1 || problems[0].String() != "file: it is not a file" {
			t.Errorf("%s: %v, %v", path, problems, err)
		}
		_, err = store.Restore(t.Context(), path, filepath.Join(dir, "s.db"), store.RestoreOptions{Unchecked: true})
		storetest.WantFault(t, err, fault.Damaged, "store_damaged")
		_, err = store.Compact(t.Context(), path, nil)
		storetest.WantFault(t, err, fault.Damaged, "store_damaged")
	}
	storetest.WantFiles(t, dir, "pipe")
}
