package secretfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for _, tt := range []struct {
		mode fs.FileMode
		want string // in the error
	}{
		{0o600, ""}, {0o400, ""}, {0o640, ""}, {0o440, ""},
		{0o644, "other users can read it (chmod 600 "}, {0o444, "other users can read it"}, {0o604, "other users can read it"},
		{0o660, "other users can change it"}, {0o602, "other users can change it"}, {0o666, "other users can change it"},
	} {
		name := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, tt.mode); err != nil {
			t.Fatal(err)
		}
		raw, err := Read(name, 5)
		if tt.want == "" && (err != nil || string(raw) != "12345") {
			t.Errorf("%v: %q, %v", tt.mode, raw, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || raw != nil) {
			t.Errorf("%v: %q, %v, want %q", tt.mode, raw, err, tt.want)
		}
		if err := Check(name); (err == nil) != (tt.want == "") {
			t.Errorf("check %v: %v", tt.mode, err)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte("123456"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name, 5); err == nil || !strings.Contains(err.Error(), "longer than 5 bytes") {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 5); !os.IsNotExist(err) {
		t.Error(err)
	}
	if err := os.Chmod(name, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadAny(name, 5); err == nil || !strings.Contains(err.Error(), "longer than 5 bytes") {
		t.Error(err)
	}
	if raw, err := ReadAny(name, 6); err != nil || string(raw) != "123456" {
		t.Errorf("%q, %v", raw, err)
	}
}
