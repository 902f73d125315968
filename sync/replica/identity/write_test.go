package identity

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Where names cannot be swapped the file is still replaced as a whole; a text of any length replaces one of any other.
func TestReplaceFile(t *testing.T) {
	cannot := func(err error) func(string, string) error { return func(string, string) error { return err } }
	for _, tt := range []struct {
		name     string
		exchange func(one, other string) error
	}{
		{"as this system can", exchange},
		{"unsupported", cannot(errors.ErrUnsupported)},
		{"a file system that cannot", cannot(&os.LinkError{Err: syscall.EINVAL})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), identityName)
			for _, text := range []string{"one", "", strings.Repeat("two", 3000), "three", "four", strings.Repeat("x", pageSize)} {
				data := wholePages([]byte(text))
				if len(data)%pageSize != 0 || len(data) == 0 || strings.TrimSpace(string(data)) != text {
					t.Fatalf("%q became %d bytes", text, len(data))
				}
				if err := replaceFile(path, data, tt.exchange); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
					t.Fatalf("%d bytes are there, %v; want %d", len(got), err, len(data))
				}
			}
		})
	}
}

// A text that cannot be written leaves the previous one.
func TestReplaceFileFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), identityName)
	old := wholePages([]byte("old"))
	if err := replaceFile(path, old, exchange); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.RemoveAll(path+spareSuffix), os.Mkdir(path+spareSuffix, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, wholePages([]byte("new")), exchange); err == nil {
		t.Error("a directory was written to")
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, old) {
		t.Errorf("%q, %v", got, err)
	}
}
