package secretfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe as a key file is refused at once: without a writer nobody would ever open it.
func TestReadRefusesANamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := Read(name, 100); !errors.Is(err, ErrNotAFile) || raw != nil {
		t.Errorf("%q, %v", raw, err)
	}
}
