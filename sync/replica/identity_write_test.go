package replica

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
)

// Where names cannot be exchanged the file is replaced as a whole all the same; a text of any length takes the place of one
// of any other.
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

// A text that cannot be written leaves the one before.
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

// The spare is nobody's identity, whatever is in it: what a crash has left of a text, an older one, another node's, none.
func TestSpareIsNoIdentity(t *testing.T) {
	for name, spare := range map[string]func(file []byte) []byte{
		"torn":  func(file []byte) []byte { return append(bytes.Clone(file[:40]), bytes.Repeat([]byte{0}, 100)...) },
		"none":  func([]byte) []byte { return nil },
		"other": func(file []byte) []byte { return bytes.ReplaceAll(file, []byte(`"a"`), []byte(`"b"`)) },
		"older": func([]byte) []byte {
			return wholePages([]byte(`{"version":1,"node":"a","incarnation":77,"nonces":["x"]}`))
		},
		"long": func(file []byte) []byte { return bytes.Repeat(file, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, n := opened(t, nil)
				n.put(t, "teams", team("x", 0))
				n.drained(t)
				n.close(t)
				path := filepath.Join(n.dir, identityName)
				file, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(path + spareSuffix)
				if text := spare(file); text != nil {
					if err := os.WriteFile(path+spareSuffix, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				r := n.again(t)
				r.bump(t, "x")
				r.drained(t)
				r.cloudHas(t, teams{"x": 1})
				r.recorded(t, 0)
				if got := r.st.Incarnation(); got != 1 {
					t.Errorf("incarnation %d", got)
				}
				var f identityFile
				if file, err = os.ReadFile(path); err == nil {
					err = json.Unmarshal(file, &f)
				}
				if err != nil || f.Boot != r.bootID() || !f.Clean {
					t.Errorf("the file has %+v, %v", f, err)
				}
			})
		})
	}
}
